#include "model/ops/cpu/c_api/aft_ops.h"

#include <omp.h>

#include <algorithm>
#include <string>

#include "core/caught.h"
#include "model/ops/cpu/band/band.h"
#include "model/ops/cpu/conv/conv.h"
#include "model/ops/cpu/scan/scan.h"
#include "model/ops/cpu/simd/instruction_set.h"

#define AFT_EXPORT __attribute__((visibility("default")))

namespace aft::ops::cpu {
namespace {

// LibTorch's convention: the calling thread's number of threads, put back afterwards.
class ThreadCount {
  public:
    explicit ThreadCount(int threads) : before_(omp_get_max_threads()) {
        omp_set_num_threads(threads);
    }
    ~ThreadCount() { omp_set_num_threads(before_); }
    ThreadCount(const ThreadCount&) = delete;
    ThreadCount& operator=(const ThreadCount&) = delete;

  private:
    int before_;
};

bool is_conv(const AftShape& s) {
    return s.kind == AFT_CONV1D || s.kind == AFT_CONV2D;
}

std::string conv_problem(const AftShape& s) {
    if (s.heads < 1 || s.channels % s.heads != 0)
        return fmt::format("heads is {}: it must divide the {} channels", s.heads, s.channels);
    if (s.window < 1) return fmt::format("the kernel has {} taps, at least 1", s.window);
    if (s.kind == AFT_CONV1D && (s.causal != 0 || s.window % 2 == 1)) return "";
    if (s.window % 2 == 0) return fmt::format("the kernel has {} taps; odd ones only", s.window);
    if (s.kind == AFT_CONV2D && s.grid_height * s.grid_width != s.length)
        return fmt::format("the grid {} x {} does not have the {} positions", s.grid_height,
                           s.grid_width, s.length);
    return "";
}

std::string problem_of(const AftShape& s) {
    if (s.kind < AFT_SIMPLE || s.kind > AFT_CONV2D) return fmt::format("kind is {}", s.kind);
    if (s.batch < 1 || s.length < 1 || s.channels < 1)
        return fmt::format("B, T and d are {}, {} and {}; at least 1", s.batch, s.length,
                           s.channels);
    if (s.threads < 1) return fmt::format("threads is {}; at least 1", s.threads);
    if (is_conv(s)) return conv_problem(s);
    if (s.factors < 0) return fmt::format("factors is {}; at least 0", s.factors);
    if (s.kind == AFT_LOCAL && s.window < 1)
        return fmt::format("the window is {}; at least 1 (without a bias: aft_simple)", s.window);
    return "";
}

BandShape band_of(const AftShape& s, const AftTensors& in) {
    BandBias bias{
        .window = s.kind == AFT_FULL ? s.length : std::min(s.window, s.length),
        .hidden = s.kind == AFT_LOCAL && s.outside_hidden != 0,
        .w = s.factors > 0 ? nullptr : in.w,
        .w_row = s.length,
        .u = s.factors > 0 ? in.u : nullptr,
        .r = s.factors > 0 ? in.r : nullptr,
        .factors = s.factors,
    };
    return {.batch = s.batch,
            .length = s.length,
            .channels = s.channels,
            .causal = s.causal != 0,
            .bias = bias};
}

ConvShape conv_of(const AftShape& s) {
    const bool is_flat = s.kind == AFT_CONV1D;
    return {.batch = s.batch,
            .length = s.length,
            .channels = s.channels,
            .heads = s.heads,
            .kernel = s.window,
            .grid_height = is_flat ? 1 : s.grid_height,
            .grid_width = is_flat ? s.length : s.grid_width,
            .flat = is_flat,
            .causal = s.causal != 0};
}

ScanShape scan_of(const AftShape& s) {
    return {.batch = s.batch, .length = s.length, .channels = s.channels, .causal = s.causal != 0};
}

template <class T>
const T* of(const void* data) {
    return static_cast<const T*>(data);
}

template <class T>
bool forward(const AftShape& s, const AftTensors& in, T* y, const AftKept& kept) {
    if (s.kind == AFT_SIMPLE)
        return scan_forward<T>(
            scan_of(s),
            {.q = of<T>(in.q), .k = of<T>(in.k), .v = of<T>(in.v), .y = y, .states = kept.states});
    if (is_conv(s))
        return conv_forward<T>(conv_of(s), {.q = of<T>(in.q),
                                            .k = of<T>(in.k),
                                            .v = of<T>(in.v),
                                            .w = in.w,
                                            .y = y,
                                            .average = kept.average,
                                            .denominator = kept.denominator});
    return band_forward<T>(band_of(s, in), {.q = of<T>(in.q),
                                            .k = of<T>(in.k),
                                            .v = of<T>(in.v),
                                            .y = y,
                                            .average = kept.average,
                                            .denominator = kept.denominator});
}

template <class T>
Norms backward(const AftShape& s, const AftTensors& in, const AftKept& kept,
               const AftGradients& out) {
    T *const dq = static_cast<T*>(out.dq), *const dk = static_cast<T*>(out.dk),
             *const dv = static_cast<T*>(out.dv);
    if (s.kind == AFT_SIMPLE)
        return scan_gradient<T>(scan_of(s), {.forward = {.q = of<T>(in.q),
                                                         .k = of<T>(in.k),
                                                         .v = of<T>(in.v),
                                                         .states = kept.states},
                                             .dy = of<T>(out.dy),
                                             .dq = dq,
                                             .dk = dk,
                                             .dv = dv});
    if (is_conv(s))
        return conv_gradient<T>(conv_of(s), {.q = of<T>(in.q),
                                             .k = of<T>(in.k),
                                             .v = of<T>(in.v),
                                             .dy = of<T>(out.dy),
                                             .w = in.w,
                                             .average = kept.average,
                                             .denominator = kept.denominator,
                                             .mean = out.mean,
                                             .scale = out.scale,
                                             .dq = dq,
                                             .dk = dk,
                                             .dv = dv,
                                             .dw = out.dw});
    return band_gradient<T>(band_of(s, in), {.q = of<T>(in.q),
                                             .k = of<T>(in.k),
                                             .v = of<T>(in.v),
                                             .dy = of<T>(out.dy),
                                             .average = kept.average,
                                             .denominator = kept.denominator,
                                             .mean = out.mean,
                                             .scale = out.scale,
                                             .dq = dq,
                                             .dk = dk,
                                             .dv = dv,
                                             .bias = {.dw = out.dw, .du = out.du, .dr = out.dr}});
}

}  // namespace
}  // namespace aft::ops::cpu

using namespace aft::ops::cpu;

extern "C" {

AFT_EXPORT int32_t aft_ops_version(void) {
    return AFT_OPS_VERSION;
}

AFT_EXPORT const char* aft_ops_instruction_set(void) {
    return chosen_set().name.data();
}

AFT_EXPORT int32_t aft_ops_problem(const AftShape* shape, char* words, int64_t size) {
    const std::string problem = problem_of(*shape);
    if (size > 0) {
        const size_t length = std::min(problem.size(), static_cast<size_t>(size - 1));
        std::copy_n(problem.data(), length, words);
        words[length] = 0;
    }
    return problem.empty() ? 0 : 1;
}

AFT_EXPORT int64_t aft_ops_states(const AftShape* shape) {
    return shape->kind == AFT_SIMPLE ? scan_of(*shape).states() : 0;
}

AFT_EXPORT int32_t aft_ops_forward(const AftShape* shape, const AftTensors* in, void* y,
                                   const AftKept* kept) {
    if (!problem_of(*shape).empty()) return -1;
    const ThreadCount threads(shape->threads);
    bool is_safe = false;
    const auto failure = aft::caught([&] {
        is_safe = shape->bf16 != 0 ? forward(*shape, *in, static_cast<Bf16*>(y), *kept)
                                   : forward(*shape, *in, static_cast<float*>(y), *kept);
    });
    return failure ? -1 : is_safe ? 1 : 0;
}

AFT_EXPORT int32_t aft_ops_backward(const AftShape* shape, const AftTensors* in,
                                    const AftKept* kept, AftGradients* gradients) {
    if (!problem_of(*shape).empty()) return -1;
    const ThreadCount threads(shape->threads);
    Norms norms;
    const auto failure = aft::caught([&] {
        norms = shape->bf16 != 0 ? backward<Bf16>(*shape, *in, *kept, *gradients)
                                 : backward<float>(*shape, *in, *kept, *gradients);
    });
    gradients->left = norms.left;
    gradients->part = norms.part;
    return failure ? -1 : 0;
}

}  // extern "C"
