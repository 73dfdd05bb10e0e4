#include "viz/paint.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "core/check.h"
#include "core/rng.h"

namespace aft::viz {
namespace {

constexpr size_t kUndoSteps = 100;

}  // namespace

MaskCanvas::MaskCanvas(int64_t height, int64_t width)
    : height_(height), width_(width), mask_(static_cast<size_t>(height * width), 0) {
    AFT_ASSERT(height > 0 && width > 0);
}

MaskCanvas::MaskCanvas(int64_t height, int64_t width, std::vector<uint8_t> mask)
    : height_(height), width_(width), mask_(std::move(mask)) {
    AFT_ASSERT(height > 0 && width > 0 && int64_t(mask_.size()) == height * width);
}

void MaskCanvas::commit(std::vector<uint8_t> before) {
    if (before == mask_) return;
    undo_.push_back({std::move(before)});
    if (undo_.size() > kUndoSteps) undo_.erase(undo_.begin());
    redo_.clear();
}

void MaskCanvas::begin(PaintTool tool, int64_t radius, PaintPoint at) {
    end();
    stroke_ = {true, tool, std::max<int64_t>(0, radius), at, at, mask_};
    paint_to(at);
}

void MaskCanvas::drag(PaintPoint at) {
    if (stroke_.active) paint_to(at);
}

void MaskCanvas::end() {
    if (!stroke_.active) return;
    stroke_.active = false;
    commit(std::move(stroke_.before));
}

void MaskCanvas::paint_to(PaintPoint at) {
    const uint8_t value = stroke_.tool == PaintTool::eraser ? 0 : 1;
    const auto fill = [&](PaintPoint low, PaintPoint high, PaintPoint centre, int64_t radius) {
        for (int64_t r = std::max<int64_t>(0, low.row); r <= std::min(height_ - 1, high.row); ++r)
            for (int64_t c = std::max<int64_t>(0, low.column);
                 c <= std::min(width_ - 1, high.column); ++c) {
                const int64_t dy = r - centre.row, dx = c - centre.column;
                if (radius < 0 || dy * dy + dx * dx <= radius * radius + radius)
                    mask_[size_t(r * width_ + c)] = value;
            }
    };
    if (stroke_.tool == PaintTool::rectangle) {
        mask_ = stroke_.before;
        const PaintPoint& first = stroke_.first;
        fill({std::min(first.row, at.row), std::min(first.column, at.column)},
             {std::max(first.row, at.row), std::max(first.column, at.column)}, at, -1);
        return;
    }
    const int64_t dy = at.row - stroke_.last.row, dx = at.column - stroke_.last.column;
    const int64_t steps = std::max<int64_t>(1, std::max(std::abs(dy), std::abs(dx)));
    const int64_t radius = stroke_.radius;
    for (int64_t k = 0; k <= steps; ++k) {
        const PaintPoint p{stroke_.last.row + dy * k / steps, stroke_.last.column + dx * k / steps};
        fill({p.row - radius, p.column - radius}, {p.row + radius, p.column + radius}, p, radius);
    }
    stroke_.last = at;
}

void MaskCanvas::apply(MaskPreset preset, uint64_t seed) {
    end();
    std::vector<uint8_t> before = mask_;
    const int64_t edge = std::max<int64_t>(1, std::min(height_, width_) / 4);
    for (int64_t r = 0; r < height_; ++r) {
        for (int64_t c = 0; c < width_; ++c) {
            const int64_t i = r * width_ + c;
            const bool outer = r < edge || c < edge || r >= height_ - edge || c >= width_ - edge;
            const bool on =
                preset == MaskPreset::all ||
                (preset == MaskPreset::lower_half && r >= height_ / 2) ||
                (preset == MaskPreset::right_half && c >= width_ / 2) ||
                (preset == MaskPreset::border && outer) ||
                (preset == MaskPreset::random && uniform(seed, 0x6D61736B, uint64_t(i)) < 0.5);
            mask_[size_t(i)] = on ? 1 : 0;
        }
    }
    commit(std::move(before));
}

void replace_mask(MaskCanvas& canvas, std::span<const uint8_t> mask) {
    AFT_ASSERT(mask.size() == canvas.mask_.size());
    canvas.end();
    std::vector<uint8_t> before = canvas.mask_;
    canvas.mask_.assign(mask.begin(), mask.end());
    canvas.commit(std::move(before));
}

void MaskCanvas::invert() {
    end();
    std::vector<uint8_t> before = mask_;
    for (uint8_t& m : mask_) m = m != 0 ? 0 : 1;
    commit(std::move(before));
}

bool MaskCanvas::can_undo() const {
    return !undo_.empty() || (stroke_.active && stroke_.before != mask_);
}

bool MaskCanvas::can_redo() const {  // ending a stroke that painted forgets what was undone
    return !redo_.empty() && !(stroke_.active && stroke_.before != mask_);
}

bool MaskCanvas::undo() {
    end();
    if (undo_.empty()) return false;
    redo_.push_back({std::move(mask_), undo_.back().time});
    mask_ = std::move(undo_.back().mask);
    undo_.pop_back();
    return true;
}

bool MaskCanvas::redo() {
    end();
    if (redo_.empty()) return false;
    undo_.push_back({std::move(mask_), redo_.back().time});
    mask_ = std::move(redo_.back().mask);
    redo_.pop_back();
    return true;
}

void stamp(MaskCanvas& canvas, double now) {
    for (auto one = canvas.undo_.rbegin(); one != canvas.undo_.rend() && one->time < 0; ++one)
        one->time = now;
}

double undo_time(const MaskCanvas& canvas) {
    if (canvas.undo_.empty() && !canvas.can_undo()) return -1;
    const bool is_now = canvas.stroke_.active && canvas.stroke_.before != canvas.mask_;
    if (is_now || canvas.undo_.back().time < 0) return std::numeric_limits<double>::infinity();
    return canvas.undo_.back().time;
}

double redo_time(const MaskCanvas& canvas) {
    return canvas.redo_.empty() ? std::numeric_limits<double>::infinity()
                                : canvas.redo_.back().time;
}

}  // namespace aft::viz
