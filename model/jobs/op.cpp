#include "model/jobs/op.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "core/caught.h"
#include "core/check.h"
#include "core/clock.h"
#include "core/outside.h"
#include "model/checkpoints/format.h"
#include "model/device.h"
#include "model/jobs/op_compare.h"
#include "model/ops/aft.h"

namespace aft {

namespace {

struct OpTensors {
    ops::Inputs in;
    at::Tensor dy;
    std::vector<std::string> ignored;  // tensors of the file that the operator has no use for
};

const std::vector<std::string> kOutputs = {"y", "dq", "dk", "dv", "dw", "du", "dr"};

bool is_convolution(ops::OperatorKind kind) {
    return kind == ops::OperatorKind::conv1d || kind == ops::OperatorKind::conv2d;
}
bool is_baseline(ops::OperatorKind kind) {
    return kind == ops::OperatorKind::softmax || kind == ops::OperatorKind::linear;
}
bool has_bias(ops::OperatorKind kind) {
    return kind != ops::OperatorKind::simple && !is_baseline(kind);
}

ops::OperatorBackend parse_op_backend(const std::string& name) {
    const std::vector<std::string> names = ops::backend_names();
    if (std::ranges::count(names, name) > 0) return ops::parse_backend(name);
    const std::string allowed = fmt::format("{}", fmt::join(names, ", "));
    if (name == "cuda") fail_usage("--backend cuda is not in this build; allowed: {}", allowed);
    fail_usage("unknown --backend '{}'; allowed: {}", name, allowed);
}

at::ScalarType working_type(const std::string& precision) {
    if (precision == "fp32" || precision == "bf16") return at::kFloat;
    if (precision == "fp64") return at::kDouble;
    fail_usage("unknown --precision '{}'; allowed: fp32, bf16, fp64", precision);
}

void check_flags(ops::OperatorKind kind, const OpRequest& request) {
    if (request.out.empty() && !request.compare)
        fail_usage("OUT is missing: the file that the result is written to (or --compare)");
    if (kind == ops::OperatorKind::local && !request.window)
        fail_usage(
            "operator local needs --window N: the bias holds for |t - t'| < N (0: nowhere, T: "
            "everywhere)");
    const int64_t window = request.window.value_or(0);
    if (window < 0) fail_usage("--window {} must be 0 or more", window);
    if (window > 0 && kind != ops::OperatorKind::local && !is_convolution(kind))
        fail_usage("--window {} does not fit operator {}: only local has a window", window,
                   request.name);
    const bool grid = request.grid_height != 0 || request.grid_width != 0;
    if (kind == ops::OperatorKind::conv2d && (request.grid_height <= 0 || request.grid_width <= 0))
        fail_usage("operator conv2d needs --grid HxW with H*W = T (found {}x{})",
                   request.grid_height, request.grid_width);
    if (kind != ops::OperatorKind::conv2d && grid)
        fail_usage("--grid {}x{} does not fit operator {}: only conv2d has a grid",
                   request.grid_height, request.grid_width, request.name);
    if (request.outside_hidden && kind != ops::OperatorKind::local && !is_convolution(kind))
        fail_usage(
            "hiding what lies outside the window does not fit operator {}: only local, conv1d and "
            "conv2d have one",
            request.name);
}

// Takes a tensor of the file in the working type; undefined if it is not there.
at::Tensor take(const TensorFile& file, const OpRequest& request, const std::string& name) {
    const at::Tensor* found = file.find(name);
    if (found == nullptr) return {};
    AFT_CHECK(found->scalar_type() == at::kFloat || found->scalar_type() == at::kDouble,
              "{}: tensor '{}' is {}; allowed: float32, float64", request.in, name,
              c10::toString(found->scalar_type()));
    return found->to(parse_device(request.device), working_type(request.precision));
}

at::Tensor need(const TensorFile& file, const OpRequest& request, const std::string& name) {
    const at::Tensor x = take(file, request, name);
    if (x.defined()) return x;
    std::vector<std::string> present;
    for (const auto& [known, tensor] : file.tensors) present.push_back(known);
    fail("{}: tensor '{}' is missing, operator {} needs it; the file has: {}", request.in, name,
         request.name, present.empty() ? "nothing" : shown_names(present));
}

OpTensors take_tensors(const TensorFile& file, const OpRequest& request, ops::OperatorKind kind) {
    OpTensors out;
    out.in.q = need(file, request, "q");
    out.in.k = need(file, request, "k");
    out.in.v = need(file, request, "v");
    std::set<std::string> used{"q", "k", "v"};
    if (has_bias(kind)) {
        const bool factors = !is_convolution(kind) && file.find("w") == nullptr &&
                             (file.find("u") != nullptr || file.find("r") != nullptr);
        if (factors) {
            out.in.u = need(file, request, "u");
            out.in.r = need(file, request, "r");
        } else if (kind != ops::OperatorKind::local || request.window.value_or(0) > 0) {
            out.in.w = need(file, request, "w");
        } else {
            out.in.w = take(file, request, "w");
        }
        AFT_CHECK(factors || (file.find("u") == nullptr && file.find("r") == nullptr) ||
                      is_convolution(kind),
                  "{}: both w and its factors u, r are there; operator {} takes one of them",
                  request.in, request.name);
        used.insert({"w", "u", "r"});
    }
    if (request.grad) {
        out.dy = need(file, request, "dy");
        used.insert("dy");
        AFT_CHECK(out.dy.sizes() == out.in.v.sizes(),
                  "{}: tensor 'dy' has shape [{}], expected that of v [{}]", request.in,
                  fmt::join(out.dy.sizes().vec(), ", "), fmt::join(out.in.v.sizes().vec(), ", "));
    }
    if (request.compare) used.insert(kOutputs.begin(), kOutputs.end());
    for (const auto& [name, tensor] : file.tensors)
        if (used.count(name) == 0) out.ignored.push_back(name);
    return out;
}

// exp(x) = f 2^n with f in [1, 2): rounding f to bfloat16 rounds exp(x), for x of any size.
struct Mantissa {
    at::Tensor f, rounded, n;  // float64
};
Mantissa mantissa(const at::Tensor& x) {
    const at::Tensor wide = x.detach().to(at::kDouble);
    const at::Tensor n = (wide / M_LN2).floor();
    const at::Tensor f = (wide - n * M_LN2).exp();
    return {f, f.to(at::kFloat).to(at::kBFloat16).to(at::kDouble), n};
}

// x -> x', the gradient passing through unchanged.
at::Tensor replace(const at::Tensor& x, const at::Tensor& value) {
    return x + (value - x.detach().to(at::kDouble)).to(x.scalar_type());
}
at::Tensor round_exponential(const at::Tensor& x) {
    const Mantissa m = mantissa(x);
    return replace(x, at::where(x.detach().isfinite(), m.rounded.log() + m.n * M_LN2,
                                x.detach().to(at::kDouble)));
}

// Inputs for which exp(w), exp(K) and exp(K) V are exactly the bfloat16 operands (baselines: q, k,
// v themselves), so that any backend computes with them. In float64.
ops::Inputs round_operands(ops::OperatorKind kind, const ops::Inputs& in) {
    const auto rounded = [](const at::Tensor& x) {
        return replace(x, x.detach().to(at::kBFloat16).to(at::kDouble));
    };
    ops::Inputs out = in;
    if (is_baseline(kind)) {
        out.q = rounded(in.q);
        out.k = rounded(in.k);
        out.v = rounded(in.v);
        return out;
    }
    const Mantissa key = mantissa(in.k);
    const int64_t repeat = in.k.size(2) == 0 ? 1 : in.v.size(2) / in.k.size(2);
    const at::Tensor f = key.f.repeat_interleave(repeat, 2);
    const at::Tensor product = (f * in.v.detach()).to(at::kFloat).to(at::kBFloat16).to(at::kDouble);
    out.v = replace(in.v, product / key.rounded.repeat_interleave(repeat, 2));
    out.k = round_exponential(in.k);
    if (in.u.defined()) {
        const at::Tensor w = at::matmul(in.u.to(at::kDouble), in.r.to(at::kDouble).t());
        out.w = round_exponential(w.to(in.u.scalar_type()));
        out.u = at::Tensor();
        out.r = at::Tensor();
    } else if (in.w.defined()) {
        out.w = round_exponential(in.w);
    }
    return out;
}

using NamedTensor = std::pair<const char*, at::Tensor>;

void add_gradients(const OpTensors& x, TensorFile& out) {
    for (const NamedTensor& leaf :
         {NamedTensor{"dq", x.in.q}, NamedTensor{"dk", x.in.k}, NamedTensor{"dv", x.in.v},
          NamedTensor{"dw", x.in.w}, NamedTensor{"du", x.in.u}, NamedTensor{"dr", x.in.r}}) {
        if (!leaf.second.defined()) continue;
        const at::Tensor g = leaf.second.grad();
        out.tensors.emplace_back(
            leaf.first,
            (g.defined() ? g : at::zeros_like(leaf.second)).detach().to(at::kCPU).contiguous());
    }
}

ops::Inputs in_float(ops::Inputs in) {
    for (at::Tensor* x : {&in.q, &in.k, &in.v, &in.w, &in.u, &in.r})
        if (x->defined()) *x = x->to(at::kFloat);
    return in;
}

}  // namespace

std::vector<OpTraits> op_traits() {
    std::vector<OpTraits> all;
    for (const std::string& name : ops::kind_names()) {
        const ops::OperatorKind kind = ops::parse_kind(name);
        const bool is_local = kind == ops::OperatorKind::local;
        all.push_back({.name = name,
                       .has_window = is_local,
                       .has_grid = kind == ops::OperatorKind::conv2d,
                       .has_outside = is_local || is_convolution(kind)});
    }
    return all;
}

std::vector<std::string> op_backends() {
    std::vector<std::string> names = ops::backend_names();
    if (std::ranges::count(names, "cuda") == 0) names.emplace_back("cuda");
    return names;
}

bool OpResult::agrees() const {
    return !differences.empty() && std::ranges::all_of(differences, [&](const OpDifference& one) {
        return one.relative <= within;
    });
}

OpResult op_job(const OpRequest& request) {
    const ops::OperatorKind kind = ops::parse_kind(request.name);
    ops::Options options{.causal = request.causal,
                         .window = request.window.value_or(0),
                         .outside_hidden = request.outside_hidden,
                         .grid_height = request.grid_height,
                         .grid_width = request.grid_width,
                         .backend = parse_op_backend(request.backend)};
    (void)working_type(request.precision);
    check_flags(kind, request);
    const TensorFile file = read_tensors(request.in);
    const OpTensors x = take_tensors(file, request, kind);
    for (const at::Tensor& leaf : {x.in.q, x.in.k, x.in.v, x.in.w, x.in.u, x.in.r})
        if (leaf.defined() && request.grad) leaf.set_requires_grad(true);

    const int64_t exact_before = ops::exact_blocks();
    const auto start = std::chrono::steady_clock::now();
    TensorFile out;
    with_context(request.in, [&] {
        const bool rounds = request.precision == "bf16" && x.in.v.numel() > 0;
        ops::Inputs in = rounds ? round_operands(kind, x.in) : x.in;
        if (rounds && options.backend == ops::OperatorBackend::cpu) in = in_float(in);
        const at::Tensor y = ops::apply(kind, in, options);
        out.tensors.emplace_back("y", y.detach().to(at::kCPU).contiguous());
        if (request.grad) y.backward(x.dy);
    });
    if (request.grad) add_gradients(x, out);
    const double seconds = seconds_since(start);
    std::vector<OpDifference> differences;
    if (request.compare) differences = compare_outputs(file, out, request);
    if (!request.out.empty()) write_tensors(request.out, out);

    OpResult result{.name = request.name,
                    .backend = request.backend,
                    .precision = request.precision,
                    .out = request.out,
                    .outputs = {},
                    .ignored = x.ignored,
                    .seconds = seconds,
                    .exact_blocks = ops::exact_blocks() - exact_before,
                    .within = request.within,
                    .differences = std::move(differences)};
    for (const auto& [name, tensor] : out.tensors) result.outputs[name] = tensor.sizes().vec();
    return result;
}

}  // namespace aft
