// aft-conv2d: a bias that depends on the offset in the image only, one kernel per head.
//   Y as in aft-conv1d with w_i[a,b] for the offset (a - s/2, b - s/2) in (y, x), 0 outside s x s
// (paper Eq. 6, 8). Causal: sources after the target in raster order are invisible. Any image size
// where the net has no position table. Time O(T s^2 d), memory O(T d). Streaming: the last s/2 rows
// of sources and the running sum of all older ones. model.outside=-inf hides what is outside the
// kernel (section 5.3).
#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "core/check.h"
#include "model/mixers/aft_layer.h"
#include "model/mixers/cost.h"

namespace aft {

namespace {

class AftConv2d final : public AftLayer, public GivenBias {
  public:
    AftConv2d(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix)
        : AftLayer(config, maker, prefix, config.own.read<ConvSettings>().heads),
          settings_(config.own.read<ConvSettings>()),
          kernel_(make_kernel(config, maker, prefix,
                              {settings_.heads, settings_.window, settings_.window})) {}
    // A sequence that ends inside the picture is filled up to whole rows; the filling comes later
    // in raster order, so no token sees it.
    [[nodiscard]] at::Tensor forward(const at::Tensor& x,
                                     const MixContext& context) const override {
        if (is_whole(x, context)) return AftLayer::forward(x, context);
        const int64_t T = x.size(1), width = options(context).grid_width;
        MixContext part = context;
        part.grid_width = width;
        part.grid_height = (T + width - 1) / width;
        const int64_t missing = part.grid_height * width - T;
        return AftLayer::forward(at::constant_pad_nd(x, {0, 0, 0, missing}, 0), part)
            .narrow(1, 0, T);
    }
    [[nodiscard]] at::Tensor add_to(const at::Tensor& x, const Norm& norm,
                                    const MixContext& context,
                                    const BranchEnd& end) const override {
        return is_whole(x, context) ? AftLayer::add_to(x, norm, context, end)
                                    : Mixer::add_to(x, norm, context, end);
    }
    [[nodiscard]] std::optional<at::Tensor> bias(int64_t) const override {
        return kernel_.effective().detach();
    }
    void set_bias(const at::Tensor& w, ParameterMaker& maker, const std::string& prefix) override {
        kernel_ = given_kernel(w, maker, prefix);
    }
    [[nodiscard]] ops::OperatorKind kind() const override { return ops::OperatorKind::conv2d; }
    [[nodiscard]] ops::Inputs bias_inputs(int64_t T) const override {
        return bias_inputs_in(T, {});
    }
    [[nodiscard]] ops::Inputs bias_inputs_in(int64_t, const MixContext& context) const override {
        ops::Inputs in;
        in.w = kernel_.effective(context);
        return in;
    }
    [[nodiscard]] at::Tensor penalty() const override { return kernel_penalty(kernel_, settings_); }
    [[nodiscard]] ops::Options options(const MixContext& context) const override {
        ops::Options options = AftLayer::options(context);
        options.outside_hidden = settings_.hides_outside();
        const bool given = context.grid_height > 0;
        options.grid_height = given ? context.grid_height : config().grid_height();
        options.grid_width = given ? context.grid_width : config().grid_width();
        return options;
    }

  protected:
    [[nodiscard]] StreamShape stream() const override {
        const int64_t reach = settings_.window / 2;
        const int64_t history = reach * config().grid_width() + reach + 1;
        return {.groups = settings_.heads,
                .history = std::min(history, config().tokens()),
                .forget = settings_.hides_outside()};
    }

    // The kernel laid out along the sequence: source t - n + 1 + i, weight 0 (or hidden) where the
    // offset in the image is outside the kernel.
    [[nodiscard]] at::Tensor stream_row(int64_t t, int64_t n) const override {
        const int64_t s = settings_.window, reach = s / 2, width = config().grid_width();
        const int64_t zero = s * s;  // index of the appended value
        std::vector<int64_t> taps(static_cast<size_t>(n), zero);
        for (int64_t i = 0; i < n; ++i) {
            const int64_t j = t - n + 1 + i;
            const int64_t dy = j / width - t / width, dx = j % width - t % width;
            if (dy >= -reach && std::abs(dx) <= reach)
                taps[static_cast<size_t>(i)] = (dy + reach) * s + dx + reach;
        }
        const at::Tensor flat = at::constant_pad_nd(
            kernel_.effective().flatten(1), {0, 1},
            settings_.hides_outside() ? -std::numeric_limits<double>::infinity() : 0.0);
        return flat.index_select(1, at::tensor(taps).to(flat.device()));
    }

  private:
    // Not a sequence that ends inside the picture.
    [[nodiscard]] bool is_whole(const at::Tensor& x, const MixContext& context) const {
        const ops::Options grid = options(context);
        return !config().causal() || x.size(1) == grid.grid_height * grid.grid_width;
    }

    ConvSettings settings_;
    Kernel kernel_;
};

std::unique_ptr<Mixer> make(const ModelConfig& config, ParameterMaker& maker,
                            const std::string& prefix) {
    return std::make_unique<AftConv2d>(config, maker, prefix);
}

void check(const ModelConfig& config) {
    check_heads_divide(config);
    if (task_traits(config).is_text())
        fail_usage("model.mixer=aft-conv2d needs a picture, found model.task={}; use aft-conv1d",
                   config.task);
    const int64_t window = config.own.read<ConvSettings>().window;
    if (window < 1 || window % 2 == 0)
        fail_usage("model.window = {}: the kernel of aft-conv2d is odd and at least 1", window);
    if (config.prefix_tokens() > 0)
        fail_usage(
            "model.class_token=true: aft-conv2d has no place for a class token in its grid; "
            "use false (mean pool)");
}

MixerTraits traits(const ModelConfig& config) {
    MixerTraits traits = kernel_traits(config, BiasLayout::kernel_2d);
    traits.op = "conv2d";
    traits.on_grid = true;
    return traits;
}

// Taps times exp(K) V and exp(K) (ops/cpu/conv); with model.outside=-inf the blocks of ops/tiled
// compute more pairs than the taps that are counted here. s of the orders: all taps, s x s.
MixerCost cost(const ModelConfig& config, const CostShape& shape) {
    LayerCount count(config, shape);
    const auto taps = static_cast<double>(config.own.read<ConvSettings>().window);
    const auto height = static_cast<double>(shape.grid_height);
    const auto width = static_cast<double>(shape.grid_width);
    const double reach = (taps + 1) / 2;  // |offset| < reach
    const double across = visible_pairs(width, reach, false);
    double pairs = visible_pairs(height, reach, false) * across;
    if (count.causal)  // the rows above, and the token's own up to it
        pairs = (visible_pairs(height, reach, true) - height) * across +
                height * visible_pairs(width, reach, true);
    const double back = (reach - 1) * width + reach;
    count_kernel(count, config,
                 {.values = taps * taps, .pairs = pairs, .history = std::min(back, count.T)});
    return {count.cost, "T s d", "T d"};
}

}  // namespace

MixerRoom aft_conv2d_mixer() {
    return {.info = {"aft-conv2d", "AFT with one bias kernel per head over offsets in the image."},
            .traits = traits,
            .visit = visit_settings<ConvSettings>,
            .idle = idle_of_kernel,
            .check = check,
            .make = make,
            .cost = cost};
}

}  // namespace aft
