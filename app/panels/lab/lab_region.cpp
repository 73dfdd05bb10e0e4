#include "app/panels/lab/lab_region.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace aft::app {

namespace {

struct RegionOption {
    const char* key;
    int64_t PairRegion::* end;
};
constexpr RegionOption kOptions[] = {
    {"target", &PairRegion::first_target},       {"source", &PairRegion::first_source},
    {"first_target", &PairRegion::first_target}, {"last_target", &PairRegion::last_target},
    {"first_source", &PairRegion::first_source}, {"last_source", &PairRegion::last_source}};

const RegionOption* find_option(const std::string& key) {
    const auto* const found = std::find_if(std::begin(kOptions), std::end(kOptions),
                                           [&](const RegionOption& it) { return key == it.key; });
    return found == std::end(kOptions) ? nullptr : found;
}

}  // namespace

bool takes_region(const InterventionInfo& info) {
    return std::any_of(info.options.begin(), info.options.end(),
                       [](const InterventionOption& it) { return find_option(it.key) != nullptr; });
}

PairRegion region_of(const Intervention& one, const InterventionInfo& info) {
    PairRegion region;
    for (const InterventionOption& option : info.options) {
        const RegionOption* const known = find_option(option.key);
        if (known == nullptr) continue;
        const auto given = one.options.find(option.key);
        region.*known->end = std::strtoll(
            (given == one.options.end() ? option.standard : given->second).c_str(), nullptr, 10);
    }
    if (region.last_target < 0) region.last_target = region.first_target;
    if (region.last_source < 0) region.last_source = region.first_source;
    return region;
}

void set_region(const PairRegion& region, const InterventionInfo& info, Intervention& one) {
    for (const InterventionOption& option : info.options)
        if (const RegionOption* const known = find_option(option.key))
            if (const int64_t end = region.*known->end; end >= 0)
                one.options[option.key] = std::to_string(end);
}

PairRegion region_of_cells(const BiasForm& form, Blocks block, const viz::MapRegion& cells) {
    const auto last = [](int64_t index, int64_t side, int64_t size) {
        return std::min((index + 1) * side, size) - 1;
    };
    const int64_t first_column = cells.first.column * block.columns;
    const int64_t last_column = last(cells.last.column, block.columns, form.columns);
    PairRegion out{.first_target = cells.first.row * block.rows,
                   .last_target = last(cells.last.row, block.rows, form.rows),
                   .first_source = first_column,
                   .last_source = last_column};
    if (form.layout == BiasLayout::kernel_1d) out.first_target = out.last_target = -1;  // heads
    if (form.layout != BiasLayout::band) return out;
    const auto source = [&](int64_t target, int64_t column) {
        return std::clamp<int64_t>(target - (form.first_offset + column), 0, form.tokens - 1);
    };
    out.first_source = source(out.first_target, last_column);
    out.last_source = source(out.last_target, first_column);
    return out;
}

viz::MapRegion cells_of_region(const BiasForm& form, Blocks block, const PairRegion& region) {
    if (form.layout == BiasLayout::band) return {};
    const bool has_targets = form.layout != BiasLayout::kernel_1d;
    const viz::MapRegion out{
        {has_targets ? region.first_target / block.rows : 0, region.first_source / block.columns},
        {has_targets ? region.last_target / block.rows : form.rows - 1,
         region.last_source / block.columns}};
    const bool is_inside =
        region.first_source >= 0 && region.last_source < form.columns &&
        region.first_source <= region.last_source &&
        (!has_targets || (region.first_target >= 0 && region.last_target < form.rows &&
                          region.first_target <= region.last_target));
    return is_inside ? out : viz::MapRegion{};
}

}  // namespace aft::app
