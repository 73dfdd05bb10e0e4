// Pictures of one size beside and below each other, as the complete job writes them. Pure; any
// thread.
#pragma once
#include <vector>

#include "core/images/image.h"
#include "model/config.h"
#include "model/requests.h"

namespace aft {

// Columns of a grid of so many tiles: as square as it can be with the fewest places left empty.
[[nodiscard]] int64_t columns_for(int64_t tiles);
// The picture that was asked about, what is to be filled in grey.
[[nodiscard]] Image masked_tile(const CompletionRequest& request, const ModelConfig& model);
// Row by row; small pictures are enlarged by whole pixels.
[[nodiscard]] Image tile_grid(const std::vector<Image>& tiles, int64_t columns);

}  // namespace aft
