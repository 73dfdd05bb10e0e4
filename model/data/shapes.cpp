// shapes: one disc, box or bar of a random colour, place and size on a gradient with a little
// noise; the label is the shape. For classification.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "model/data/generator.h"
#include "model/data/pixels.h"

namespace aft {
namespace {

using Colour = std::array<double, 3>;

struct DrawnShape {
    int64_t kind;  // 0 disc, 1 box, 2 bar
    double x, y, half, thickness, sine, cosine;

    [[nodiscard]] bool covers(double px, double py) const {
        const double dx = px - x, dy = py - y;
        if (kind == 0) return dx * dx + dy * dy <= half * half;
        const double along = std::abs(dx * cosine + dy * sine);
        const double across = std::abs(dy * cosine - dx * sine);
        return along <= half && across <= thickness;
    }
};

Colour random_colour(CounterRng& rng) {
    Colour colour{};
    for (double& part : colour) part = 255 * rng.uniform();
    return colour;
}

double brightness(const Colour& c) {
    return 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2];
}

DrawnShape random_figure(CounterRng& rng, int64_t kind, double size) {
    DrawnShape figure{kind, 0, 0, 0, 0, 0, 1};
    const double unit = size / 32;
    figure.half = unit * (kind == 2 ? 7 + 4 * rng.uniform() : 4 + 4 * rng.uniform());
    figure.thickness = kind == 2 ? unit * (1.2 + 1.2 * rng.uniform()) : figure.half;
    // Bars lie at any angle, boxes stand upright.
    const double angle = kind == 2 ? std::numbers::pi * rng.uniform() : 0;
    figure.sine = std::sin(angle);
    figure.cosine = std::cos(angle);
    const double margin = kind == 2 ? 0.3 * size : figure.half;
    figure.x = margin + (size - 2 * margin) * rng.uniform();
    figure.y = margin + (size - 2 * margin) * rng.uniform();
    return figure;
}

class Shapes : public DataSource {
  public:
    Shapes(const Spec& spec, uint64_t seed)
        : seed_(seed), options_(pixel_options(spec, {32, 256, false})) {
        describe_pixels(info_, options_, 3);
        info_.class_names = {"disc", "box", "bar"};
        info_.classes = 3;
    }
    [[nodiscard]] const DataInfo& info() const override { return info_; }
    [[nodiscard]] int64_t size(Split split) const override { return generated_size(split); }

    [[nodiscard]] Example example(Split split, int64_t index) const override {
        CounterRng rng = example_rng(seed_, split, index);
        const auto size = static_cast<double>(options_.size);
        Example out;
        out.label = rng.below(3);
        const DrawnShape figure = random_figure(rng, out.label, size);
        const Colour from = random_colour(rng), to = random_colour(rng);
        Colour ink = random_colour(rng);
        const double ground = 0.5 * (brightness(from) + brightness(to));
        while (std::abs(brightness(ink) - ground) < 70) ink = random_colour(rng);
        const double angle = 2 * std::numbers::pi * rng.uniform();
        const double sine = std::sin(angle), cosine = std::cos(angle);
        Image image{options_.size, options_.size, 3, {}};
        for (int64_t y = 0; y < options_.size; ++y)
            for (int64_t x = 0; x < options_.size; ++x) {
                const double px = static_cast<double>(x) + 0.5, py = static_cast<double>(y) + 0.5;
                const double place =
                    0.5 + 0.7 * ((px / size - 0.5) * cosine + (py / size - 0.5) * sine);
                const double noise = 12 * (rng.uniform() - 0.5);
                for (size_t c = 0; c < 3; ++c) {
                    const double back = from[c] + (to[c] - from[c]) * place;
                    const double value = (figure.covers(px, py) ? ink[c] : back) + noise;
                    image.pixels.push_back(
                        static_cast<uint8_t>(std::clamp(std::lround(value), 0L, 255L)));
                }
            }
        out.values = to_levels(image, options_);
        return out;
    }

  private:
    uint64_t seed_;
    PixelOptions options_;
    DataInfo info_;
};

}  // namespace

SourceRoom shapes_source() {
    return {{"shapes", "Discs, boxes and bars on a gradient, labelled by shape."},
            {"size=N side in pixels (32)", "levels=N values of a sub-pixel (256)",
             "gray=0|1 one channel (0)"},
            "",
            [](const Spec& spec, uint64_t seed) -> std::unique_ptr<DataSource> {
                spec.allow({"size", "levels", "gray"});
                return std::make_unique<Shapes>(spec, seed);
            }};
}

}  // namespace aft
