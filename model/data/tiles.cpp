// tiles: a random tile of period x period pixels, repeated over the picture. Every pixel of the
// tile is uniform, so the entropy is exactly period^2 log2(levels) bits a picture: 4 p^2 / 256 bits
// per dimension at 16 x 16 pixels and 16 levels.
#include <cmath>

#include "model/data/generator.h"
#include "model/data/pixels.h"

namespace aft {
namespace {

class TilesSource : public DataSource {
  public:
    TilesSource(const Spec& spec, uint64_t seed) : seed_(seed) {
        PixelOptions options = pixel_options(spec, {16, 16, true});
        options.gray = true;
        describe_pixels(info_, options, 1);
        period_ = spec.integer("period", 8, 1, options.size);
        const auto cells = static_cast<double>(period_ * period_);
        info_.floor_bits = cells * std::log2(static_cast<double>(options.levels)) /
                           static_cast<double>(options.size * options.size);
        info_.floor_note = fmt::format("exact: {} x {} uniform pixels of {} levels, then copies",
                                       period_, period_, options.levels);
    }
    [[nodiscard]] const DataInfo& info() const override { return info_; }
    [[nodiscard]] int64_t size(Split split) const override { return generated_size(split); }

    [[nodiscard]] Example example(Split split, int64_t index) const override {
        CounterRng rng = example_rng(seed_, split, index);
        std::vector<uint8_t> tile(static_cast<size_t>(period_ * period_));
        for (uint8_t& v : tile) v = static_cast<uint8_t>(rng.below(info_.levels));
        Example out;
        out.values.reserve(static_cast<size_t>(info_.height * info_.width));
        for (int64_t y = 0; y < info_.height; ++y)
            for (int64_t x = 0; x < info_.width; ++x)
                out.values.push_back(
                    tile[static_cast<size_t>(y % period_ * period_ + x % period_)]);
        return out;
    }

  private:
    uint64_t seed_;
    int64_t period_ = 8;
    DataInfo info_;
};

}  // namespace

SourceRoom tiles_source() {
    return {{"tiles", "A random tile repeated over the picture; its entropy is known exactly."},
            {"size=N side in pixels (16)", "levels=N values of a pixel (16)",
             "period=N side of the tile (8)"},
            "",
            [](const Spec& spec, uint64_t seed) -> std::unique_ptr<DataSource> {
                spec.allow({"size", "levels", "period"});
                return std::make_unique<TilesSource>(spec, seed);
            }};
}

}  // namespace aft
