// CompletionBatch: several pictures of the data that are completed under the same mask, one after
// the other, each as it would be alone: same options, same seed. Part of CompletionChoice. Window
// thread; returns at once.
#pragma once
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "model/session.h"

namespace aft::app {

struct CompletionChoice;
struct PaneContext;

// Samples of a completion: those that come first, those that are not shown.
struct MarkedSamples {
    std::set<int64_t> starred{}, discarded{};
};

struct BatchPicture {
    int64_t index = 0;                       // in its part of the data
    std::shared_ptr<const DataItem> item{};  // null until it is read
    std::string error{};                     // it cannot be read or completed: it is left out
    uint64_t id = 0;                         // of its completion; 0 = not asked for yet
    std::shared_ptr<const Completion> completion{};  // null: not begun
    MarkedSamples marks{};                           // but for the one that is looked at
};

struct CompletionBatch {
    std::string split{};  // of the data
    std::vector<BatchPicture> pictures{};
    std::vector<uint8_t> unknown{};  // [T], 1 = to be filled
    SampleOptions sample{};
    int64_t step = -1;     // that was asked for; -1 = the newest weights
    size_t looked_at = 0;  // its completion is CompletionChoice::own
    // Of the completion that was asked for last: its picture until its id is known, -1 = it is.
    int64_t asked = -1;
    uint64_t asked_id = 0;
    bool is_running = false;
    bool is_shown = true;  // all of it, else the picture that is looked at
    [[nodiscard]] bool is_empty() const { return pictures.empty(); }
};

// Nothing is left to be filled in, or it is left out.
[[nodiscard]] bool is_finished(const BatchPicture& picture);
// Once a frame: what has come of the newest completion; the batch asks for its next one.
void take_completions(PaneContext& ui);
void forget_completions(CompletionChoice& choice);  // their session is gone

}  // namespace aft::app
