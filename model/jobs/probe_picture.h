// The labelled figure of a probe's field: a map, maps side by side, or a curve. Plain types. No
// LibTorch. Pure, any thread.
#pragma once
#include <string>
#include <vector>

#include "core/field.h"
#include "core/figure/scene.h"

namespace aft {

struct ProbePicture {
    const Field& field;
    const Field* marked = nullptr;  // the same with NaN where a target cannot see
    // The token grid that rows over sources are folded to; 0: they stay rows.
    int64_t fold_height = 0, fold_width = 0, stretch = 1;
    int64_t sources_before = 0;      // that have no place: start, class and distillation token
    std::string before_words = {};   // which of them
    bool rows_over_sources = false;  // shown up to their largest value
    std::string title = {};
    std::vector<std::string> notes = {};  // model and input; what is drawn is added
};
[[nodiscard]] FigureScene probe_figure(const ProbePicture& picture);

}  // namespace aft
