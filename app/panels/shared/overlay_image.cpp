#include "app/panels/shared/overlay_image.h"

#include <algorithm>
#include <cmath>

namespace aft::app {

const std::vector<float>& overlay_values(const Completion& completion, size_t sample,
                                         Overlay overlay) {
    return overlay == Overlay::bits ? completion.surprise[sample] : completion.entropy[sample];
}

std::vector<float> pixel_means(const std::vector<float>& values, int64_t channels) {
    const auto step = static_cast<size_t>(std::max<int64_t>(1, channels));
    std::vector<float> means(values.size() / step, std::nanf(""));
    for (size_t pixel = 0; pixel < means.size(); ++pixel) {
        float sum = 0;
        int count = 0;
        for (size_t c = 0; c < step; ++c) {
            const float value = values[pixel * step + c];
            if (!std::isfinite(value)) continue;
            sum += value;
            ++count;
        }
        if (count > 0) means[pixel] = sum / static_cast<float>(count);
    }
    return means;
}

Coloring overlay_coloring(int64_t levels) {
    return {{0, std::log2(static_cast<double>(std::max<int64_t>(2, levels)))},
            Scale::linear,
            Colormap::viridis};
}

Image overlay_image(const viz::TokenImage& image, const std::vector<float>& values) {
    return overlay_image(image, values, overlay_coloring(image.levels));
}

Image overlay_image(const viz::TokenImage& image, const std::vector<float>& values,
                    const Coloring& coloring) {
    Image picture = viz::token_pixels(image);
    const std::vector<float> means = pixel_means(values, image.channels);
    for (size_t pixel = 0; pixel < means.size(); ++pixel) {
        uint8_t* const rgba = &picture.pixels[pixel * 4];
        if (std::isfinite(means[pixel])) {
            const Rgb color = map_color(means[pixel], coloring.range, coloring.scale, coloring.map);
            std::copy(color.begin(), color.end(), rgba);
        } else {
            for (int c = 0; c < 3; ++c) rgba[c] = static_cast<uint8_t>(rgba[c] * 2 / 5);
        }
    }
    return picture;
}

}  // namespace aft::app
