// mirror: the lower half of every picture is the upper half mirrored top to bottom (row H-1-y
// copies row y). The upper half is a causal random field, p(v | left, up) proportional to
// exp(-|v - m| / b) with m the mean of the left and the upper neighbour (the one there is at the
// edges), b = 0.8, the first pixel uniform, drawn round a few flat shapes that were placed before.
// The floor is the exact entropy of the field given the shapes, E[sum of H(p)] over field pixels:
// the entropy of a picture lies between it and it + log2(configurations of the shapes).
#include <cmath>

#include "model/data/generator.h"
#include "model/data/pixels.h"

namespace aft {
namespace {

constexpr double kWidth = 0.8;             // b
constexpr int64_t kKinds = 3, kSizes = 3;  // of a shape; its place and level are drawn too

class Mirror : public DataSource {
  public:
    Mirror(const Spec& spec, uint64_t seed) : seed_(seed) {
        PixelOptions options = pixel_options(spec, {16, 16, true});
        options.gray = true;
        shapes_ = spec.integer("shapes", 2, 0, 8);
        describe_pixels(info_, options, 1);
        if (options.size % 2 != 0)
            fail_usage("data '{}': size is {}; allowed: even numbers", spec.text, options.size);
        fill_tables();
        measure_floor();
    }
    [[nodiscard]] const DataInfo& info() const override { return info_; }
    [[nodiscard]] int64_t size(Split split) const override { return generated_size(split); }

    [[nodiscard]] Example example(Split split, int64_t index) const override {
        CounterRng rng = example_rng(seed_, split, index);
        std::vector<int64_t> upper = draw_shapes(rng);
        draw_field(rng, upper);
        Example out;
        out.values.resize(static_cast<size_t>(info_.height * info_.width));
        for (int64_t y = 0; y < info_.height; ++y)
            for (int64_t x = 0; x < info_.width; ++x) {
                const int64_t source = std::min(y, info_.height - 1 - y);
                out.values[static_cast<size_t>(y * info_.width + x)] =
                    static_cast<uint8_t>(upper[static_cast<size_t>(source * info_.width + x)]);
            }
        return out;
    }

  private:
    // For each 2m in [0, 2(L-1)]: the cumulative distribution over levels, and its entropy in bits.
    void fill_tables() {
        const int64_t levels = info_.levels;
        cumulative_.resize(static_cast<size_t>((2 * levels - 1) * levels));
        entropy_.resize(static_cast<size_t>(2 * levels - 1));
        for (int64_t twice = 0; twice < 2 * levels - 1; ++twice) {
            double total = 0, energy = 0;
            for (int64_t v = 0; v < levels; ++v) {
                const double distance = std::abs(static_cast<double>(v) - 0.5 * twice) / kWidth;
                total += std::exp(-distance);
                energy += distance * std::exp(-distance);
                cumulative_[static_cast<size_t>(twice * levels + v)] = total;
            }
            for (int64_t v = 0; v < levels; ++v)
                cumulative_[static_cast<size_t>(twice * levels + v)] /= total;
            entropy_[static_cast<size_t>(twice)] = (energy / total + std::log(total)) / M_LN2;
        }
    }

    // -1 where the field is to be drawn, else the level of a shape.
    [[nodiscard]] std::vector<int64_t> draw_shapes(CounterRng& rng) const {
        const int64_t w = info_.width, h = info_.height / 2;
        std::vector<int64_t> upper(static_cast<size_t>(w * h), -1);
        for (int64_t n = 0; n < shapes_; ++n) {
            const int64_t kind = rng.below(kKinds), radius = 1 + rng.below(kSizes);
            const int64_t cx = rng.below(w), cy = rng.below(h), level = rng.below(info_.levels);
            for (int64_t y = 0; y < h; ++y)
                for (int64_t x = 0; x < w; ++x) {
                    const int64_t dx = std::abs(x - cx), dy = std::abs(y - cy);
                    const bool inside = kind == 0   ? dx * dx + dy * dy <= radius * radius
                                        : kind == 1 ? dx <= radius && dy <= radius
                                                    : dx <= 2 * radius && dy <= radius / 2;
                    if (inside) upper[static_cast<size_t>(y * w + x)] = level;
                }
        }
        return upper;
    }

    // Twice the mean of the neighbours that are there, -1 for the first pixel.
    [[nodiscard]] int64_t twice_mean(const std::vector<int64_t>& upper, int64_t y,
                                     int64_t x) const {
        const auto at = static_cast<size_t>(y * info_.width + x);
        const int64_t left = x > 0 ? upper[at - 1] : -1;
        const int64_t up = y > 0 ? upper[at - static_cast<size_t>(info_.width)] : -1;
        if (left < 0 && up < 0) return -1;
        return left < 0 ? 2 * up : up < 0 ? 2 * left : left + up;
    }

    // Fills the rest of the upper half; returns the entropy of what was drawn, in bits.
    double draw_field(CounterRng& rng, std::vector<int64_t>& upper) const {
        double bits = 0;
        const int64_t levels = info_.levels;
        for (int64_t y = 0; y < info_.height / 2; ++y)
            for (int64_t x = 0; x < info_.width; ++x) {
                int64_t& value = upper[static_cast<size_t>(y * info_.width + x)];
                if (value >= 0) continue;
                const int64_t twice = twice_mean(upper, y, x);
                if (twice < 0) {
                    value = rng.below(levels);
                    bits += std::log2(static_cast<double>(levels));
                    continue;
                }
                const double* row = cumulative_.data() + twice * levels;
                const double place = rng.uniform();
                value = 0;
                while (value + 1 < levels && row[value] <= place) ++value;
                bits += entropy_[static_cast<size_t>(twice)];
            }
        return bits;
    }

    void measure_floor() {
        const auto dims = static_cast<double>(info_.height * info_.width);
        const int64_t pictures = std::max<int64_t>(64, (1 << 20) / info_.height / info_.width);
        double bits = 0;
        for (int64_t i = 0; i < pictures; ++i) {
            CounterRng rng(0x6d6972726f72, static_cast<uint64_t>(i));
            std::vector<int64_t> upper = draw_shapes(rng);
            bits += draw_field(rng, upper);
        }
        info_.floor_bits = bits / static_cast<double>(pictures) / dims;
        const double configurations =
            static_cast<double>(kKinds * kSizes * info_.levels) * dims / 2;
        const double shape_bits = static_cast<double>(shapes_) * std::log2(configurations);
        info_.floor_note = fmt::format(
            "entropy of the field given the {} shapes, mean over {} pictures; the shapes add at "
            "most {:.3f} bits per dimension; the lower half costs 0",
            shapes_, pictures, shape_bits / dims);
    }

    uint64_t seed_;
    int64_t shapes_ = 2;
    DataInfo info_;
    std::vector<double> cumulative_, entropy_;
};

}  // namespace

SourceRoom mirror_source() {
    return {{"mirror", "Random fields whose lower half mirrors the upper half, pixel by pixel."},
            {"size=N side in pixels, even (16)", "levels=N values of a pixel (16)",
             "shapes=N flat shapes in the upper half (2)"},
            "",
            [](const Spec& spec, uint64_t seed) -> std::unique_ptr<DataSource> {
                spec.allow({"size", "levels", "shapes"});
                return std::make_unique<Mirror>(spec, seed);
            }};
}

}  // namespace aft
