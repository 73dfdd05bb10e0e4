#include "viz/damage.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace aft::viz {
namespace {

constexpr float kTileWidth = 64, kTileHeight = 16;  // pixels; lines of text are that high
constexpr size_t kMostBoxes = 24;                   // each repeats the commands that meet it

uint64_t mix(uint64_t seed, const void* data, size_t bytes) {  // bytes: a multiple of 4
    const auto* const words = static_cast<const char*>(data);
    for (size_t i = 0; i < bytes; i += 4) {
        uint32_t word = 0;
        std::memcpy(&word, words + i, 4);
        seed = (seed ^ word) * 0x9E3779B97F4A7C15ULL;
        seed ^= seed >> 29;
    }
    return seed;
}

// Of numbers that are hashes already.
class HashSet {
  public:
    explicit HashSet(size_t most) : slots_(std::bit_ceil(2 * most + 2)) {}
    void add(uint64_t hash) { slots_[place(hash)] = hash | 1; }
    [[nodiscard]] bool has(uint64_t hash) const { return slots_[place(hash)] != 0; }

  private:
    [[nodiscard]] size_t place(uint64_t hash) const {  // where it is, or would be
        size_t at = (hash >> 8) & (slots_.size() - 1);
        while (slots_[at] != 0 && slots_[at] != (hash | 1)) at = (at + 1) & (slots_.size() - 1);
        return at;
    }
    std::vector<uint64_t> slots_;  // 0 = empty; their lowest bit is always 1
};

Box common(const Box& a, const Box& b) {
    return {{std::max(a.low.x, b.low.x), std::max(a.low.y, b.low.y)},
            {std::min(a.high.x, b.high.x), std::min(a.high.y, b.high.y)}};
}

bool is_empty(const Box& box) {
    return box.low.x >= box.high.x || box.low.y >= box.high.y;
}

Box clip_of(const ImDrawCmd& command) {
    return {{command.ClipRect.x, command.ClipRect.y}, {command.ClipRect.z, command.ClipRect.w}};
}

// In whole pixels, as the renderer of Dear ImGui rounds it: from the left and from the bottom.
Box pixels_of(const ImDrawCmd& command, float height) {
    const Box clip = clip_of(command);
    const float left = std::trunc(clip.low.x), bottom = height - std::trunc(height - clip.high.y);
    return {{left, bottom - std::trunc(clip.high.y - clip.low.y)},
            {left + std::trunc(clip.high.x - clip.low.x), bottom}};
}

}  // namespace

void Damage::read(const ImDrawData& data, std::span<const ImTextureID> repainted) {
    now_.clear();
    lists_.clear();
    has_callback_ = false;
    for (const ImDrawList* list : data.CmdLists) {
        lists_.push_back(list);
        for (const ImDrawCmd& command : list->CmdBuffer) {
            has_callback_ |= command.UserCallback != nullptr;
            const ImTextureID texture = command.GetTexID();
            uint64_t seed = mix(1, &command.ClipRect, sizeof command.ClipRect) ^ uint64_t(texture);
            const bool is_repainted =
                std::find(repainted.begin(), repainted.end(), texture) != repainted.end();
            const Box clip = clip_of(command);
            const ImDrawIdx* const corners = list->IdxBuffer.Data + command.IdxOffset;
            for (unsigned i = 0; i + 2 < command.ElemCount; i += 3) {
                Triangle one{seed, {{1e9F, 1e9F}, {-1e9F, -1e9F}}, is_repainted};
                for (unsigned k = 0; k < 3; ++k) {
                    const ImDrawVert& corner =
                        list->VtxBuffer.Data[command.VtxOffset + corners[i + k]];
                    one.hash = mix(one.hash, &corner, sizeof corner);
                    one.box.low = {std::min(one.box.low.x, corner.pos.x),
                                   std::min(one.box.low.y, corner.pos.y)};
                    one.box.high = {std::max(one.box.high.x, corner.pos.x),
                                    std::max(one.box.high.y, corner.pos.y)};
                }
                one.box = common(one.box, clip);
                if (!is_empty(one.box)) now_.push_back(one);
            }
        }
    }
}

void Damage::mark(const Box& box) {
    const auto tile = [](float at, float size, int count) {
        return std::clamp(int(std::floor(at / size)), 0, count - 1);
    };
    const int right = tile(box.high.x + 1, kTileWidth, grid_.across);
    const int bottom = tile(box.high.y + 1, kTileHeight, grid_.down);
    for (int y = tile(box.low.y - 1, kTileHeight, grid_.down); y <= bottom; ++y)
        for (int x = tile(box.low.x - 1, kTileWidth, grid_.across); x <= right; ++x)
            grid_.differs[size_t(y * grid_.across + x)] = 1;
}

// What one frame has and the other has not. The rest must stand in the same order: then a pixel
// that no difference touches is covered by the same triangles in the same order.
bool Damage::mark_differences() {
    const size_t most = std::min(now_.size(), before_.size());
    size_t head = 0, tail = 0;
    while (head < most && now_[head].hash == before_[head].hash) ++head;
    const auto from_end = [](const std::vector<Triangle>& list, size_t i) {
        return list[list.size() - 1 - i].hash;
    };
    while (tail < most - head && from_end(now_, tail) == from_end(before_, tail)) ++tail;
    const auto hashes_of = [&](const std::vector<Triangle>& list) {
        HashSet out(list.size() - head - tail);
        for (size_t i = head; i + tail < list.size(); ++i) out.add(list[i].hash);
        return out;
    };
    const HashSet hashes = hashes_of(now_), hashes_before = hashes_of(before_);
    const auto kept = [&](const std::vector<Triangle>& list, const HashSet& other) {
        std::vector<uint64_t> out;
        for (size_t i = head; i + tail < list.size(); ++i) {
            if (other.has(list[i].hash))
                out.push_back(list[i].hash);
            else
                mark(list[i].box);
        }
        return out;
    };
    return kept(now_, hashes_before) == kept(before_, hashes);
}

// Runs of tiles that differ, `rows` rows of tiles at a time, those that continue the one above
// joined with it; ends early when there are too many.
void Damage::collect(int rows) {
    boxes_.clear();
    const auto differs = [&](int x, int y) {
        for (int i = y; i < std::min(y + rows, grid_.down); ++i)
            if (grid_.differs[size_t(i * grid_.across + x)] != 0) return true;
        return false;
    };
    for (int y = 0; y < grid_.down && boxes_.size() <= kMostBoxes; y += rows) {
        for (int x = 0; x < grid_.across;) {
            int end = x;
            while (end < grid_.across && differs(end, y)) ++end;
            if (end > x) {
                const Box run{{float(x) * kTileWidth, float(y) * kTileHeight},
                              {std::min(float(end) * kTileWidth, size_.x),
                               std::min(float(y + rows) * kTileHeight, size_.y)}};
                const auto above = std::find_if(boxes_.begin(), boxes_.end(), [&](const Box& box) {
                    return box.low.x == run.low.x && box.high.x == run.high.x &&
                           box.high.y == run.low.y;
                });
                if (above != boxes_.end())
                    above->high.y = run.high.y;
                else
                    boxes_.push_back(run);
            }
            x = std::max(end, x + 1);
        }
    }
}

void Damage::update(const ImDrawData& data, std::span<const ImTextureID> repainted) {
    std::swap(now_, before_);
    std::swap(lists_, lists_before_);
    read(data, repainted);
    const ImVec2 scale = data.FramebufferScale, size = data.DisplaySize;
    const bool is_comparable = size.x == size_.x && size.y == size_.y && scale.x == 1 &&
                               scale.y == 1 && lists_ == lists_before_ && !has_callback_;
    size_ = size;
    grid_.across = std::max(1, int(std::ceil(size.x / kTileWidth)));
    grid_.down = std::max(1, int(std::ceil(size.y / kTileHeight)));
    grid_.differs.assign(size_t(grid_.across) * size_t(grid_.down), 0);
    for (const Triangle& one : now_)
        if (one.is_repainted) mark(one.box);
    is_whole_ = !is_comparable || !mark_differences();
    // Too many boxes: coarser ones, which draw a little more.
    for (int rows = 1; !is_whole_; rows *= 2) {
        collect(rows);
        if (boxes_.size() <= kMostBoxes) return;
        is_whole_ = rows >= grid_.down;
    }
    boxes_ = {{{0, 0}, {size.x * scale.x, size.y * scale.y}}};
}

void Damage::cut(ImDrawData& data) const {
    if (has_callback_ || is_whole_) return;
    for (ImDrawList* list : data.CmdLists) {
        ImVector<ImDrawCmd> commands;
        for (const ImDrawCmd& command : list->CmdBuffer) {
            for (const Box& box : boxes_) {
                const Box clip = common(pixels_of(command, data.DisplaySize.y), box);
                if (is_empty(clip)) continue;
                commands.push_back(command);
                commands.back().ClipRect = {clip.low.x, clip.low.y, clip.high.x, clip.high.y};
            }
        }
        list->CmdBuffer.swap(commands);
    }
}

}  // namespace aft::viz
