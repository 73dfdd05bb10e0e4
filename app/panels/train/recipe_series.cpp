#include "app/panels/train/recipe_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace aft::app {
namespace {

double mean_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

}  // namespace

bool RecipeSeries::is_of(const PaneContext& ui, const WatchedRecipe& watched) const {
    return source_ == series_source(ui) && watched_.measures_as(watched);
}

bool RecipeSeries::measure(PaneContext& ui, int64_t step) {
    losses_.update(ui,
                   {.path = ui.status.path,
                    .data = source_.data,
                    .split = watched_.split,
                    .step = step,
                    .first = watched_.first,
                    .examples = watched_.examples},
                   {{}, watched_.recipe});
    const RecipeLosses *const before = losses_.of({}), *const after = losses_.of(watched_.recipe);
    RecipePoint point;
    if (before != nullptr) point.error = before->error;
    if (after != nullptr && point.error.empty()) point.error = after->error;
    if (point.error.empty()) {
        const auto wanted = size_t(watched_.examples);
        if (before == nullptr || after == nullptr) return false;
        if (before->nats.size() < wanted || after->nats.size() < wanted) return false;
        if (losses_.step() == step) {
            point.untouched = mean_of(before->nats);
            point.changed = mean_of(after->nats);
            point.change = paired_change(before->nats, after->nats);
        } else {
            point.error = fmt::format("the weights of step {} are not there any more", step);
        }
    }
    points_[step] = std::move(point);
    return true;
}

bool RecipeSeries::update(PaneContext& ui, const WatchedRecipe& watched, bool may_ask) {
    if (!is_of(ui, watched)) {
        *this = RecipeSeries();
        source_ = series_source(ui);
        watched_ = watched;
    }
    if (ui.session == nullptr) return true;
    const std::vector<int64_t> saved = ui.session->saved_steps();
    std::erase_if(points_, [&](const auto& one) {
        return !std::binary_search(saved.begin(), saved.end(), one.first);
    });
    missing_ = saved.size() - points_.size();
    for (const int64_t step : saved) {
        if (points_.contains(step)) continue;
        if (!may_ask || !measure(ui, step)) return !item_error().empty();
        --missing_;
    }
    return true;
}

}  // namespace aft::app
