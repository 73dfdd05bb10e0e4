#include "app/panels/attention/offset_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "app/panels/shared/positions.h"
#include "app/panels/shared/sample_input.h"
#include "core/text.h"

namespace aft::app {

namespace {

// As many targets as one answer may cost: exponentials of the worker, of large models evenly spread
// targets.
int64_t asked_targets(const Status& status) {
    constexpr double kBudget = 1e8;
    const double one = double(status.tokens) * double(status.config.model.inner_width());
    const int64_t cells = std::max<int64_t>(1, status.grid_height * status.grid_width);
    return std::clamp<int64_t>(int64_t(kBudget / std::max(1.0, one)), 1, cells);
}

// "64 of 1 024", from the note "64 of 1024".
std::string grouped_targets(const std::string& note) {
    std::string words;
    for (const std::string& one : split(note, ' '))
        words +=
            (words.empty() ? "" : " ") + (one == "of" ? one : group_thousands(std::stoll(one)));
    return words;
}

constexpr double kHold_s = 2;  // every target of a picture: much work beside a training

}  // namespace

const char* across_words(const ViewState& ui) {
    return Positions(ui.status).channels > 1 ? ", columns in sub-pixels" : "";
}

std::string why_no_examples(const ViewState& ui) {
    const ImageChoice& image = ui.selection.image;
    const bool is_none = image.item && image.item->split.empty();  // a completion, blank
    if (!image.path.empty() || image.split.empty() || is_none)
        return "This picture is none of the data: it is looked at alone.";
    if (ui.status.state == RunState::running && ui.selection.step < 0)
        return "The weights change while it trains: pause, or choose a step, for a mean.";
    return "";
}

int64_t examples_averaged(const ViewState& ui, int64_t asked) {
    return why_no_examples(ui).empty() && ui.selection.image.item ? asked : 1;
}

// The versions continue: what was painted of the model before is not taken for the next one's.
void OffsetMaps::clear() {
    const uint64_t version = version_;
    *this = OffsetMaps();
    version_ = version;
}

viz::MapData OffsetMaps::data(size_t map) const {
    const OffsetMap& of = maps_[map];
    return {of.values, rows_, columns_, of.hidden, version_ * 4096 + map};
}

void OffsetMaps::update(const PaneContext& ui, const OffsetRequest& request) {
    ProbeRequest probe;
    probe.probe = "relative-attention";
    probe.step = ui.selection.step;
    probe.layer = request.layer;
    probe.tokens = sample_tokens(ui);
    kPartOption.set(probe, request.part);
    kOffsetReduceOption.set(probe, request.reduce);
    kVisibleOption.set(probe, HiddenSources::nan);
    probe.options[kTargetsOption] = std::to_string(asked_targets(ui.status));
    if (examples_averaged(ui, request.examples) > 1)
        return update_mean(ui, probe, request.examples);
    mean_ = {};
    AskTurn turn;
    if (watch_.update(ui, probe, turn, kHold_s)) take(watch_.fields()->fields.front().values);
}

// One after the other: the next is asked for when the answer to the one before is there, none when
// another mean is wanted.
void OffsetMaps::update_mean(const PaneContext& ui, const ProbeRequest& probe, int64_t examples) {
    const ImageChoice& image = ui.selection.image;
    ProbeRequest bare = probe;
    bare.tokens.clear();
    const std::string of =
        fmt::format("{} {} {} {} {} {} {}", ui.opened, ui.status.rewinds, ui.shown_step(),
                    ui.status.config.data.source, image.split, image.index, examples);
    if (mean_.of != of || !(mean_.probe == bare))
        mean_ = {.of = of, .probe = std::move(bare), .asked = examples};
    const int64_t size = image.item->part_size;
    if (size > 0) mean_.asked = std::min(mean_.asked, std::max<int64_t>(1, size - image.index));
    while (mean_.next < mean_.asked) {
        const int64_t index = image.index + mean_.next;
        ItemError problem;
        const auto item = ui.session->items().example(image.split, index, &problem);
        if (!problem.words.empty()) {
            mean_.left_out += fmt::format("{}{} {}: {}", mean_.left_out.empty() ? "" : "; ",
                                          image.split, index, problem.words);
            ++mean_.next;
            continue;
        }
        if (!item) return;
        ProbeRequest one = probe;
        one.tokens = item->tokens;
        AskTurn turn;
        (void)watch_.update(ui, one, turn, kHold_s);
        if (!watch_.is_current()) return;
        add_answer();
    }
}

void OffsetMaps::add_answer() {
    const std::vector<float>& values = watch_.fields()->fields.front().values;
    if (mean_.used == 0) mean_.sum.assign(values.size(), 0);
    if (mean_.sum.size() != values.size()) return;
    for (size_t i = 0; i < values.size(); ++i) mean_.sum[i] += double(values[i]);
    ++mean_.used;
    ++mean_.next;
    std::vector<float> mean(values.size());
    for (size_t i = 0; i < mean.size(); ++i) mean[i] = float(mean_.sum[i] / double(mean_.used));
    take(mean);
}

OffsetState OffsetMaps::state() const {
    if (mean_.asked == 0)
        return {.targets = targets_,
                .is_current = watch_.is_current(),
                .is_pending = watch_.is_pending()};
    return {.targets = targets_,
            .used = mean_.used,
            .asked = mean_.asked,
            .left_out = mean_.left_out,
            .is_current = mean_.used > 0,
            .is_pending = mean_.next < mean_.asked && watch_.error().empty()};
}

void OffsetMaps::take(const std::vector<float>& values) {
    const Field& field = watch_.fields()->fields.front();
    maps_.clear();
    if (field.shape.size() != 3) return;
    rows_ = field.shape[1];
    columns_ = field.shape[2];
    is_by_channel_ = field.axes.front() == "channel";
    const auto targets = field.notes.find("targets");
    targets_ = targets == field.notes.end() ? "" : grouped_targets(targets->second);
    const auto cells = size_t(rows_ * columns_);
    float top = 0;
    for (size_t map = 0; map < size_t(field.shape[0]); ++map) {
        const auto first = values.begin() + ptrdiff_t(map * cells);
        OffsetMap out;
        out.values.assign(first, first + ptrdiff_t(cells));
        out.hidden.resize(cells);
        for (size_t i = 0; i < cells; ++i) {
            out.hidden[i] = std::isnan(out.values[i]) ? 1 : 0;
            if (out.hidden[i] != 0) out.values[i] = 0;
            top = std::max(top, out.values[i]);
        }
        maps_.push_back(std::move(out));
    }
    range_ = {0, std::max(1e-9, double(top))};
    ++version_;
}

float offset_share(const OffsetMaps& maps, size_t map, int64_t row, int64_t column) {
    const bool is_in = map < maps.maps().size() && row >= 0 && row < maps.rows() && column >= 0 &&
                       column < maps.columns();
    if (!is_in) return std::numeric_limits<float>::quiet_NaN();
    const auto i = size_t(row * maps.columns() + column);
    return maps.maps()[map].hidden[i] != 0 ? std::numeric_limits<float>::quiet_NaN()
                                           : maps.maps()[map].values[i];
}

OffsetReach offset_reach(const OffsetMaps& maps, size_t map, int64_t channels) {
    OffsetReach out;
    const std::vector<float>& shares = maps.maps()[map].values;
    for (size_t i = 0; i < shares.size(); ++i) {
        const double share = shares[i];
        const double dy = double(int64_t(i) / maps.columns() - maps.rows() / 2);
        const int64_t across = int64_t(i) % maps.columns() - maps.columns() / 2;
        const double dx = double(across) / double(channels);
        out.sum += share;
        out.distance += share * std::hypot(dy, dx);
        if (std::max(std::abs(dy), std::abs(dx)) <= 1) out.near += share;
    }
    out.distance /= out.sum;
    out.near /= out.sum;
    return out;
}

viz::AtlasShape offset_shape(const OffsetMaps& maps, int count, ImVec2 area, float scale) {
    viz::AtlasShape best;
    float most = -1;
    for (int columns = 1; columns <= count; ++columns) {
        const viz::AtlasShape shape = {.rows = (count + columns - 1) / columns,
                                       .columns = columns,
                                       .tile_rows = maps.rows(),
                                       .tile_columns = maps.columns(),
                                       .cell_label = std::floor(24 * scale)};
        const viz::AtlasLayout layout = layout_atlas(shape, area, scale);
        const bool fits = layout.size.x <= area.x + 1 && layout.size.y <= area.y;
        const float size = fits ? layout.tile.x : 0;
        if (size < most) continue;
        most = size;
        best = shape;
    }
    return best;
}

}  // namespace aft::app
