// CompletionChoice: what the panes of the Complete workspace share: the mask and its tools, how to
// sample, and which sample and sub-pixel are looked at. Part of the one selection. Window thread.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/state/completion_batch.h"
#include "app/state/run_notes.h"
#include "core/images/image.h"
#include "model/session.h"
#include "viz/paint.h"

namespace aft::app {

enum class Overlay { none, entropy, bits, spread, original };

struct CompletionChoice : MarkedSamples {  // marks on the newest one
    viz::MaskCanvas mask;           // [height, width] of the model's pictures; 1 = to be filled
    int64_t height = 0, width = 0;  // of the canvas; 0 = not made yet
    viz::PaintTool tool = viz::PaintTool::brush;
    int64_t brush = 1;        // radius in pixels, 0 = one pixel
    SampleOptions sample;     // of the next completion
    SampleOptions used;       // of the one that is shown
    bool seed_locked = true;  // else a new seed for every run
    Overlay overlay = Overlay::none;
    int64_t chosen = 0;     // sample that Play looks at
    int64_t position = -1;  // sub-pixel (or byte) that Play looks at; -1 = the last decided one
    int64_t level = -1;     // level to continue with from there; -1 = none chosen
    // What Continue from here has put in place of drawn values since the completion was drawn.
    struct ChangedSample {
        int count = 0;
        int64_t sample = 0, position = -1, level = -1;  // the last one; level -1: drawn again
        std::shared_ptr<const Completion> before{};     // the last one was made in it
    } changed;
    std::string prompt = "The ";  // text models
    int64_t length = 200;         // bytes to add to the prompt
    // The newest one that was asked for here; the session also makes those of the Train workspace.
    uint64_t own_id = 0;
    std::shared_ptr<const Completion> own{};
    // Examples of the data that are completed at once, as they were named; fewer than two: the
    // picture that is looked at.
    std::vector<int64_t> pictures{};
    CompletionBatch batch{};
};

// The marks, and what Continue from here has changed: another completion takes the place of theirs.
void forget_marks(CompletionChoice& choice);
// The mask of this model's pictures; empty: it has none yet.
[[nodiscard]] KeptMask kept_mask(const CompletionChoice& choice, const ModelConfig& model);
// With nothing to undo; where none is kept, the one that is there.
void show_mask(CompletionChoice& choice, const KeptMask& mask);
[[nodiscard]] Image mask_picture(const CompletionChoice& choice);  // white: to be filled
[[nodiscard]] bool is_lower_half(const KeptMask& mask);            // as a mask begins

}  // namespace aft::app
