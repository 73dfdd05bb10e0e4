#include "model/jobs/complete_grid.h"

#include <algorithm>
#include <cmath>

#include "model/decode/picture.h"

namespace aft {

int64_t columns_for(int64_t tiles) {
    const auto side = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(tiles))));
    const auto empty = [tiles](int64_t columns) { return (columns - tiles % columns) % columns; };
    int64_t best = side;
    for (int64_t columns = side; columns <= std::min(tiles, 2 * side); ++columns)
        if (empty(columns) < empty(best)) best = columns;
    return best;
}

Image masked_tile(const CompletionRequest& request, const ModelConfig& model) {
    Image tile = tokens_picture(request.tokens, model);
    for (size_t i = 0; i < request.unknown.size(); ++i)
        if (request.unknown[i]) tile.pixels[i] = 96;
    return tile;
}

Image tile_grid(const std::vector<Image>& tiles, int64_t columns) {
    constexpr int64_t kGap = 2, kTile = 64;
    const Image& first = tiles.front();
    const auto count = static_cast<int64_t>(tiles.size());
    const int64_t down = (count + columns - 1) / columns;
    const int64_t zoom = std::max<int64_t>(1, kTile / std::max(first.width, first.height));
    const int64_t wide = first.width * zoom + kGap, high = first.height * zoom + kGap;
    Image grid{columns * wide + kGap, down * high + kGap, first.channels, {}};
    grid.pixels.assign(static_cast<size_t>(grid.width * grid.height * grid.channels), 21);
    for (int64_t i = 0; i < count; ++i)
        for (int64_t y = 0; y < first.height * zoom; ++y)
            for (int64_t x = 0; x < first.width * zoom; ++x)
                for (int64_t c = 0; c < first.channels; ++c) {
                    const int64_t to_y = kGap + i / columns * high + y;
                    const int64_t to_x = kGap + i % columns * wide + x;
                    const int64_t from = ((y / zoom) * first.width + x / zoom) * first.channels + c;
                    grid.pixels[static_cast<size_t>((to_y * grid.width + to_x) * grid.channels +
                                                    c)] =
                        tiles[static_cast<size_t>(i)].pixels[static_cast<size_t>(from)];
                }
    return grid;
}

}  // namespace aft
