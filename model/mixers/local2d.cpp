// local2d: attention inside blocks of a picture, a baseline (Parmar et al. 2018, "Image
// Transformer", section 4.2, 2D local attention).
//   Y[t] = sum_j softmax_j(Q[t] K[j] / sqrt(d/h)) V[j] over j <= t in the memory block of t, per
//   head
// Targets are cut into query blocks of a x b places of the token grid (rows x columns, sub-pixels
// of a row side by side). The memory block of a query block is itself, a rows more above it and b/2
// columns more at either side: 2 a x 2 b places, 256 with the usual 4 x 16. Targets keep the raster
// order of the other models; the Image Transformer goes block by block. Time O(T 4ab d), memory 4 T
// d for K and V. Streaming: the cache of K and V.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "model/mixers/attention_layer.h"
#include "model/mixers/cost.h"

namespace aft {

namespace {

struct Local2dSettings : MixerSettings {
    int64_t block_height = 4, block_width = 16;  // of a query block, in tokens of the grid
    void visit(SettingRows& rows) {
        MixerSettings::visit(rows);
        constexpr double kMost = 16384;
        rows.push_back(number_row("model.block_height", &block_height,
                                  "local2d: rows of a query block; it sees as many above it.",
                                  {1, kMost, "tokens"}));
        rows.push_back(number_row("model.block_width", &block_width,
                                  "local2d: columns of a query block; it sees half as many at "
                                  "either side.",
                                  {1, kMost, "tokens"}));
    }
};

class Local2d final : public SparseAttention {
  public:
    Local2d(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix)
        : SparseAttention(config, maker, prefix),
          settings_(config.own.read<Local2dSettings>()),
          width_(config.grid_width()) {}

  protected:
    [[nodiscard]] BlockPlan plan(int64_t T) const override {
        const int64_t a = settings_.block_height, b = settings_.block_width, side = b / 2;
        const int64_t down = ((T + width_ - 1) / width_ + a - 1) / a, across = (width_ + b - 1) / b;
        const auto range = [](int64_t first, int64_t end) {
            return at::arange(first, end, at::kLong);
        };
        const at::Tensor block = range(0, down * across).view({-1, 1});
        const at::Tensor top = block.div(across, "floor") * a, left = block.remainder(across) * b;
        // rows x columns around (top, left) -> [n, rows columns]
        const auto places = [&](const at::Tensor& dy, const at::Tensor& dx) {
            const int64_t size = dy.numel() * dx.numel();
            const at::Tensor y = (top + dy.repeat_interleave(dx.numel())).reshape({-1, size});
            const at::Tensor x = (left + dx.repeat({dy.numel()})).reshape({-1, size});
            const at::Tensor inside = (y >= 0).logical_and(x >= 0).logical_and(x < width_);
            return (y * width_ + x).masked_fill(inside.logical_not(), T);
        };
        const at::Tensor t = places(range(0, a), range(0, b));
        const at::Tensor j = places(range(-a, a), range(-side, b + side));
        const at::Tensor seen = j.unsqueeze(1) <= t.unsqueeze(2);
        return {.targets = t.clamp_max(T - 1),
                .sources = j.clamp_max(T - 1),
                .visible = seen.logical_and(t.unsqueeze(2) < T).logical_and(j.unsqueeze(1) < T)};
    }
    [[nodiscard]] at::Tensor hidden(int64_t t, int64_t T) const override {
        const int64_t a = settings_.block_height, b = settings_.block_width, side = b / 2;
        const int64_t top = t / width_ / a * a, left = t % width_ / b * b;
        const at::Tensor j = at::arange(T, at::kLong);
        const at::Tensor y = j.div(width_, "floor"), x = j.remainder(width_);
        return (y < top - a)
            .logical_or(y >= top + a)
            .logical_or(x < left - side)
            .logical_or(x >= left + b + side);
    }

  private:
    Local2dSettings settings_;
    int64_t width_;
};

void check(const ModelConfig& config) {
    check_attention(config);
    if (task_traits(config).is_text())
        fail_usage("model.mixer={} needs a picture, found model.task={}; use local-softmax",
                   config.mixer, config.task);
}

MixerTraits traits(const ModelConfig& config) {
    MixerTraits traits = attention_traits(config);
    const auto settings = config.own.read<Local2dSettings>();
    traits.words += fmt::format(", blocks of {} x {}", settings.block_height, settings.block_width);
    traits.on_grid = true;
    traits.non_causal = false;
    return traits;
}

std::unique_ptr<Mixer> make(const ModelConfig& config, ParameterMaker& maker,
                            const std::string& prefix) {
    return std::make_unique<Local2d>(config, maker, prefix);
}

// Query blocks with their memory blocks, masked: plan().
MixerCost cost(const ModelConfig& config, const CostShape& shape) {
    const auto settings = config.own.read<Local2dSettings>();
    LayerCount count(config, shape);
    const auto a = static_cast<double>(settings.block_height);
    const auto b = static_cast<double>(settings.block_width);
    const auto height = static_cast<double>(shape.grid_height);
    const auto width = static_cast<double>(shape.grid_width);
    const double sources = 2 * a * (b + 2 * std::floor(b / 2));
    count_block_attention(count, config,
                          {.blocks = std::ceil(height / a) * std::ceil(width / b),
                           .targets = a * b,
                           .sources = sources,
                           .seen = std::min(sources, count.T)});
    return {count.cost, "T s d", "T s + T d"};
}

}  // namespace

MixerRoom local2d_mixer() {
    return {.info = {"local2d", "Attention inside blocks of the picture (Image Transformer)."},
            .traits = traits,
            .visit = visit_settings<Local2dSettings>,
            .check = check,
            .make = make,
            .cost = cost};
}

}  // namespace aft
