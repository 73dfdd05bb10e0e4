#include "model/ops/common/checks.h"

#include <ATen/ATen.h>

#include "core/check.h"
#include "model/ops/common/groups.h"

namespace aft::ops {

namespace {

std::string shape_text(const at::Tensor& x) {
    return fmt::format("[{}]", fmt::join(x.sizes().vec(), ", "));
}
std::string shape_text(const std::vector<int64_t>& sizes) {
    return fmt::format("[{}]", fmt::join(sizes, ", "));
}

struct NamedInput {
    const char* name;
    const at::Tensor& tensor;
};

void check_tensor(const NamedInput& x, const NamedInput& like, const std::vector<int64_t>& sizes) {
    AFT_CHECK(x.tensor.defined(), "{} is missing; expected shape {}", x.name, shape_text(sizes));
    AFT_CHECK(x.tensor.sizes().vec() == sizes, "{} has shape {}, expected {} to fit {} {}", x.name,
              shape_text(x.tensor), shape_text(sizes), like.name, shape_text(like.tensor));
    // Q, K and V in bfloat16 (apply_bf16 has seen to it that they are alike) have parameters in
    // float32.
    const bool is_parameter =
        x.tensor.scalar_type() == at::kFloat && like.tensor.scalar_type() == at::kBFloat16;
    AFT_CHECK(is_parameter || x.tensor.scalar_type() == like.tensor.scalar_type(),
              "{} {} is {}, but {} {} is {}; all must be alike: float32, float64 or bfloat16 (w, u "
              "and r beside bfloat16 may be float32)",
              x.name, shape_text(x.tensor), c10::toString(x.tensor.scalar_type()), like.name,
              shape_text(like.tensor), c10::toString(like.tensor.scalar_type()));
    AFT_CHECK(x.tensor.device() == like.tensor.device(), "{} {} is on {}, but {} {} is on {}",
              x.name, shape_text(x.tensor), x.tensor.device().str(), like.name,
              shape_text(like.tensor), like.tensor.device().str());
}

void check_kernel(OperatorKind kind, const Inputs& in, const Options& options) {
    const at::Tensor& w = in.w;
    const int64_t dims = kind == OperatorKind::conv1d ? 2 : 3;
    AFT_CHECK(w.defined() && w.dim() == dims, "w has shape {}, expected a kernel {}",
              w.defined() ? shape_text(w) : "none", dims == 2 ? "[h, s]" : "[h, s, s]");
    const int64_t h = w.size(0), s = w.size(1), d = in.v.size(2);
    std::vector<int64_t> sizes(static_cast<size_t>(dims), s);
    sizes[0] = h;
    check_tensor({"w", w}, {"v", in.v}, sizes);
    AFT_CHECK(h > 0 && d % h == 0, "w {} has {} heads, but v {} has {} channels: not a multiple",
              shape_text(w), h, shape_text(in.v), d);
    const bool even_allowed = kind == OperatorKind::conv1d && options.causal;
    AFT_CHECK(s > 0 && (s % 2 == 1 || even_allowed), "w {} has kernel width {}; it must be odd{}",
              shape_text(w), s, kind == OperatorKind::conv1d ? " unless causal" : "");
    if (kind == OperatorKind::conv2d)
        AFT_CHECK(options.grid_height > 0 && options.grid_width > 0 &&
                      options.grid_height * options.grid_width == in.v.size(1),
                  "grid {}x{} does not fit v {}: it must have {} positions", options.grid_height,
                  options.grid_width, shape_text(in.v), in.v.size(1));
}

void check_bias(OperatorKind kind, const Inputs& in, const Options& options) {
    const int64_t T = in.v.size(1);
    if (kind == OperatorKind::local) {
        AFT_CHECK(options.window >= 0, "window is {}; it must be 0 or more", options.window);
        AFT_CHECK(options.window > 0 || !options.outside_hidden,
                  "window is 0 and sources outside it are hidden: no source would be left; "
                  "use a window of at least 1");
        if (options.window == 0 && !in.w.defined() && !in.u.defined() && !in.r.defined()) return;
    }
    AFT_CHECK(!(in.w.defined() && (in.u.defined() || in.r.defined())),
              "both w and its factors u, r are given; give one of them");
    if (in.w.defined()) return check_tensor({"w", in.w}, {"v", in.v}, {T, T});
    AFT_CHECK(in.u.defined() && in.r.defined(),
              "no position bias: give w [{}, {}], or both u and r [{}, d']", T, T, T);
    AFT_CHECK(in.u.dim() == 2, "u has shape {}, expected [{}, d']", shape_text(in.u), T);
    check_tensor({"u", in.u}, {"v", in.v}, {T, in.u.size(1)});
    check_tensor({"r", in.r}, {"u", in.u}, {T, in.u.size(1)});
}

}  // namespace

bool has_gate(OperatorKind kind) {
    return kind != OperatorKind::softmax && kind != OperatorKind::linear;
}

void check_call(OperatorKind kind, const Inputs& in, const Options& options) {
    AFT_CHECK(in.v.defined() && in.v.dim() == 3, "v has shape {}, expected [B, T, d]",
              in.v.defined() ? shape_text(in.v) : "none");
    const auto type = in.v.scalar_type();
    AFT_CHECK(type == at::kFloat || type == at::kDouble || type == at::kBFloat16,
              "v is {}; operators take float32, float64 or bfloat16", c10::toString(type));
    const int64_t B = in.v.size(0), T = in.v.size(1), d = in.v.size(2);
    AFT_CHECK(T > 0 && d > 0, "v has shape {}; T and d must be at least 1", shape_text(in.v));
    const NamedInput v{"v", in.v};
    if (is_convolution(kind)) check_kernel(kind, in, options);
    check_tensor({"k", in.k}, v, {B, T, is_convolution(kind) ? in.w.size(0) : d});
    if (in.q.defined() || !has_gate(kind)) check_tensor({"q", in.q}, v, {B, T, d});
    if (kind == OperatorKind::full || kind == OperatorKind::local) check_bias(kind, in, options);
}

}  // namespace aft::ops
