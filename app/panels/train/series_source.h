// SeriesSource: what a series over the steps of a run is of; another one begins it anew. Plain
// data.
#pragma once
#include <cstdint>
#include <string>

#include "app/state/ui.h"

namespace aft::app {

struct SeriesSource {
    uint64_t opened = 0;  // which session
    int64_t rewinds = 0;  // after one a step may come a second time
    std::string data;
    [[nodiscard]] bool operator==(const SeriesSource&) const = default;
};

[[nodiscard]] inline SeriesSource series_source(const ModelView& ui) {
    return {ui.opened, ui.status.rewinds, ui.status.config.data.source};
}

}  // namespace aft::app
