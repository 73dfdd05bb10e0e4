// Jobs: what there is to choose from, without a model. Plain types. No LibTorch. Any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/images/image.h"
#include "core/rooms.h"

namespace aft {

struct NamedList {
    std::string name;
    std::vector<RoomInfo> rooms;
};
// mixers, tasks, sources, formats, probes, presets
[[nodiscard]] std::vector<NamedList> model_lists();

// A picture of the unseen part of a data source ("mirror?size=16"), grey or RGB. Error if there is
// none.
[[nodiscard]] Image data_picture(const std::string& source, int64_t index);

}  // namespace aft
