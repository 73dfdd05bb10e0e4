#include "viz/tiles.h"

#include <algorithm>

#include "core/check.h"

namespace aft::viz {

namespace {

Box clipped(const Box& box) {
    const ImDrawList* const list = ImGui::GetWindowDrawList();
    const ImVec2 low = list->GetClipRectMin(), high = list->GetClipRectMax();
    const auto in = [](float at, float least, float most) {
        return std::max(least, std::min(at, most));
    };
    return {{in(box.low.x, low.x, high.x), in(box.low.y, low.y, high.y)},
            {in(box.high.x, low.x, high.x), in(box.high.y, low.y, high.y)}};
}

// Calls `draw` with the box of every run of marked cells of a row that the clip rectangle shows.
// False, and none or a part is drawn, where there are more of them than a frame has time for.
template <typename Draw>
bool each_run(const MapData& data, std::span<const uint8_t> marks, const Box& map,
              const Draw& draw) {
    constexpr int kMostRuns = 8192;
    if (marks.empty() || data.rows * data.columns != int64_t(marks.size())) return true;
    int runs = 0;
    const ImDrawList* const list = ImGui::GetWindowDrawList();
    const float wide = map.width() / float(data.columns), tall = map.height() / float(data.rows);
    const ImVec2 low = list->GetClipRectMin(), high = list->GetClipRectMax();
    const auto row_at = [&](float y) {
        return std::clamp<int64_t>(int64_t((y - map.low.y) / tall), 0, data.rows);
    };
    const auto column_at = [&](float x) {
        return std::clamp<int64_t>(int64_t((x - map.low.x) / wide), 0, data.columns);
    };
    const int64_t first = column_at(low.x), end = std::min(data.rows, row_at(high.y) + 1);
    const int64_t count = std::min(data.columns, column_at(high.x) + 1) - first;
    const float x = map.low.x + wide * float(first);
    for (int64_t row = row_at(low.y); row < end; ++row) {
        const auto line = marks.subspan(size_t(row * data.columns + first), size_t(count));
        const float y = map.low.y + tall * float(row);
        for (auto from = std::find(line.begin(), line.end(), 1); from != line.end();) {
            const auto to = std::find(from, line.end(), 0);
            if (++runs > kMostRuns) return false;
            draw(Box{{x + wide * float(from - line.begin()), y},
                     {x + wide * float(to - line.begin()), y + tall}});
            from = std::find(to, line.end(), 1);
        }
    }
    return true;
}

}  // namespace

void draw_hidden_ground(const Look& look, const MapData& data, const Box& map) {
    if (data.hidden.empty()) return;
    draw_hatch(look, clipped(map));
    const auto draw = [&](const Box& run) { draw_mask_hatch(look, clipped(run)); };
    if (!each_run(data, data.masked, map, draw)) draw_mask_hatch(look, clipped(map));
}

void draw_partly_hidden(const Look& look, const MapData& data, const Box& map) {
    ImDrawList* const list = ImGui::GetWindowDrawList();
    const ImU32 veil = with_alpha(mask_ground(look.theme), 0.5F);
    (void)each_run(data, data.partly, map,
                   [&](const Box& run) { list->AddRectFilled(run.low, run.high, veil); });
}

void Tiles::resize(int count, int64_t rows, int64_t columns) {
    AFT_ASSERT(count >= 0 && rows >= 0 && columns >= 0);
    if (static_cast<size_t>(count) == tiles_.size() && rows == rows_ && columns == columns_) return;
    tiles_.assign(static_cast<size_t>(count), {});
    rows_ = rows;
    columns_ = columns;
    values_ = {};
    colors_ = {};
}

gl::Pixels Tiles::place(int tile) const {
    return {int(columns_) * (tile % across_), int(rows_) * (tile / across_), int(columns_),
            int(rows_)};
}

void Tiles::make_textures() {
    const int count = static_cast<int>(tiles_.size());
    const auto fits = int64_t(gl::max_texture_size()) / std::max<int64_t>(1, columns_);
    // Near a square: neither side comes close to the limit of a texture too early.
    int across = 1;
    while (int64_t(across) * across * columns_ < int64_t(count) * rows_) ++across;
    across_ = std::clamp(across, 1, int(std::max<int64_t>(1, fits)));
    const int down = (count + across_ - 1) / across_;
    values_ = gl::Texture::floats(across_ * int(columns_), down * int(rows_));
    colors_ = gl::Framebuffer(across_ * int(columns_), down * int(rows_));
}

void Tiles::upload(int tile, const MapData& data) {
    const gl::Pixels at = place(tile);
    if (data.hidden.empty()) {
        values_.upload({at.x, at.y, int(data.columns), int(data.rows)}, data.values);
        return;
    }
    std::vector<float> shown(data.values.begin(), data.values.end());
    for (size_t i = 0; i < shown.size(); ++i)
        if (data.hidden[i] != 0) shown[i] = kHidden;
    values_.upload({at.x, at.y, int(data.columns), int(data.rows)}, shown);
}

void Tiles::set(int tile, const MapData& data, const Coloring& coloring, const Look& look) {
    if (look.painter == nullptr || data.values.empty() || rows_ * columns_ == 0) return;
    AFT_ASSERT(tile >= 0 && size_t(tile) < tiles_.size());
    AFT_ASSERT(data.rows <= rows_ && data.columns <= columns_ &&
               data.rows * data.columns == int64_t(data.values.size()));
    if (values_.id() == 0) make_textures();
    Tile& known = tiles_[size_t(tile)];
    const bool same_values = known.is_set && known.version == data.version &&
                             known.rows == data.rows && known.columns == data.columns;
    const PaintColors colors{coloring, look.theme.nan};
    if (same_values && known.colors == colors) return;
    if (!same_values) upload(tile, data);
    gl::Pixels where = place(tile);
    where.width = int(data.columns);
    where.height = int(data.rows);
    look.painter->paint(values_, colors_, where, colors);
    known = {data.version, data.rows, data.columns, colors, true};
    ++painted_;
}

ImTextureID Tiles::texture() const {
    return static_cast<ImTextureID>(colors_.texture().id());
}

Box Tiles::uv(int tile, const Box& cells) const {
    const gl::Pixels at = place(tile);
    const auto width = float(std::max(1, colors_.width()));
    const auto height = float(std::max(1, colors_.height()));
    return {{(float(at.x) + cells.low.x) / width, (float(at.y) + cells.low.y) / height},
            {(float(at.x) + cells.high.x) / width, (float(at.y) + cells.high.y) / height}};
}

}  // namespace aft::viz
