// Mask canvas: what brush, eraser and rectangle do to a mask, with undo per stroke. Pure logic: no
// drawing, no thread of its own.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace aft::viz {

enum class PaintTool { brush, eraser, rectangle };
enum class MaskPreset { none, all, lower_half, right_half, border, random };

struct PaintPoint {
    int64_t row = 0, column = 0;
};

class MaskCanvas {
  public:
    MaskCanvas() = default;
    MaskCanvas(int64_t height, int64_t width);                             // all 0
    MaskCanvas(int64_t height, int64_t width, std::vector<uint8_t> mask);  // nothing to undo

    // A stroke: begin, any number of drags, end. Moves between two points paint the line between
    // them. A stroke that changed nothing leaves no undo step.
    void begin(PaintTool tool, int64_t radius, PaintPoint at);
    void drag(PaintPoint at);
    void end();

    void apply(MaskPreset preset, uint64_t seed = 1);  // one undo step each
    void invert();

    bool undo();  // false = nothing to undo; ends a stroke in progress first
    bool redo();
    [[nodiscard]] bool can_undo() const;  // undo() would change something
    [[nodiscard]] bool can_redo() const;
    // [height, width], 0 or 1.
    [[nodiscard]] std::span<const uint8_t> mask() const { return mask_; }

  private:
    friend void replace_mask(MaskCanvas& canvas, std::span<const uint8_t> mask);
    friend void stamp(MaskCanvas& canvas, double now);
    friend double undo_time(const MaskCanvas& canvas);
    friend double redo_time(const MaskCanvas& canvas);
    struct MaskStep {
        std::vector<uint8_t> mask;
        double time = -1;  // of the change; -1 = since the last stamp()
    };
    void paint_to(PaintPoint at);
    void commit(std::vector<uint8_t> before);

    int64_t height_ = 0, width_ = 0;
    std::vector<uint8_t> mask_;
    std::vector<MaskStep> undo_, redo_;
    struct Stroke {
        bool active = false;
        PaintTool tool = PaintTool::brush;
        int64_t radius = 0;  // 0 = one pixel
        PaintPoint first, last;
        std::vector<uint8_t> before;
    } stroke_;
};

// Another mask of this size, [height, width], 0 or 1; one undo step.
void replace_mask(MaskCanvas& canvas, std::span<const uint8_t> mask);

// Once a frame: what was changed in it was changed now, seconds of the caller's clock.
void stamp(MaskCanvas& canvas, double now);
// When the change was made that undo() would take back, or redo() do again, so that the caller can
// order it among others. A stroke in progress, and a change since the last stamp: infinity. Where
// there is none: -1 (undo), infinity (redo).
[[nodiscard]] double undo_time(const MaskCanvas& canvas);
[[nodiscard]] double redo_time(const MaskCanvas& canvas);

}  // namespace aft::viz
