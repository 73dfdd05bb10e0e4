// aft-simple as its recurrence is written, one token after the other, in the plain form that suits
// a processor best: exp(K - max K) and the gate by LibTorch's own vector calls, then one pass with
// the running sums of 64 channels in registers and the first cache; samples and groups of channels
// are shared among the threads.
//   N' = N + e^(K - m) V;  D' = D + e^(K - m);  Y = sigmoid(Q) N' / D'     (Zhai et al. 2021, Eq.
//   5)
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "bench/peers/peer.h"

namespace aft::bench {
namespace {

constexpr int64_t kChannels = 64;

struct Strip {  // kChannels of one sample; rows are `stride` numbers apart
    const float *gate, *x, *v;
    float* y;
    int64_t length, stride, channels;
};

void scan(const Strip& strip) {
    float top[kChannels] = {}, bottom[kChannels] = {};
    for (int64_t t = 0; t < strip.length; ++t) {
        const int64_t row = t * strip.stride;
#pragma omp simd
        for (int64_t c = 0; c < strip.channels; ++c) {
            const float x = strip.x[row + c];
            top[c] += x * strip.v[row + c];
            bottom[c] += x;
            strip.y[row + c] = strip.gate[row + c] * top[c] / bottom[c];
        }
    }
}

at::Tensor scanned(const ops::Inputs& in) {
    const int64_t B = in.v.size(0), T = in.v.size(1), d = in.v.size(2);
    const at::Tensor x = (in.k - std::get<0>(in.k.max(1, true))).exp_(), gate = in.q.sigmoid();
    at::Tensor y = at::empty_like(in.v);
    const int64_t strips = (d + kChannels - 1) / kChannels;
    at::parallel_for(0, B * strips, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const int64_t first = i % strips * kChannels, at = i / strips * T * d + first;
            scan({.gate = gate.const_data_ptr<float>() + at,
                  .x = x.const_data_ptr<float>() + at,
                  .v = in.v.const_data_ptr<float>() + at,
                  .y = y.mutable_data_ptr<float>() + at,
                  .length = T,
                  .stride = d,
                  .channels = std::min(kChannels, d - first)});
        }
    });
    return y;
}

std::vector<Form> forms(const Problem& problem) {
    if (problem.kind != ops::OperatorKind::simple || !problem.options.causal || problem.backward)
        return {};
    return {{.name = "sequential scan fp32",
             .group = "scan",
             .type = at::kFloat,
             .table = {},
             .forward = [](const ops::Inputs& in, const at::Tensor&) { return scanned(in); },
             .exact = {}}};
}

}  // namespace

PeerRoom sequential_peer() {
    return {.info = {"sequential scan", "aft-simple token by token, vectorised over the channels"},
            .forms = forms};
}

}  // namespace aft::bench
