// LabChoice: what the Lab workspace changes in the model and how it measures that: the recipe with
// its undo, the pinned batch, and the newest results. Part of the one selection. Window thread.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/paired.h"
#include "model/recipe.h"

namespace aft::app {

// The change of the loss in the task's unit (bits/dim, bits/byte, nats); none: not measured yet.
using LossChange = std::optional<PairedChange>;

struct LabNumbers {
    std::vector<LossChange> each;  // of every intervention by itself, those that are off too
    LossChange together;           // of all that are on
    std::optional<double> untouched;
    int64_t measured = 0;  // examples of `together` so far
};

// What was before each change of a recipe, and what was taken back.
class RecipeHistory {
  public:
    static constexpr size_t kMostUndo = 200;
    // Changes under one key in a row are one, until end().
    void begin(const Recipe& now, const std::string& key) {
        if (!key.empty() && key == key_) return;
        key_ = key;
        undo_.push_back({now});
        if (undo_.size() > kMostUndo) undo_.erase(undo_.begin());
        redo_.clear();
    }
    void end() { key_.clear(); }
    [[nodiscard]] bool can_undo() const { return !undo_.empty(); }
    [[nodiscard]] bool can_redo() const { return !redo_.empty(); }
    void undo(Recipe& now) { swap(now, undo_, redo_); }
    void redo(Recipe& now) { swap(now, redo_, undo_); }
    // Once a frame: what was changed in it was changed now, seconds of the window's clock.
    void stamp(double now) {
        for (auto one = undo_.rbegin(); one != undo_.rend() && one->time < 0; ++one)
            one->time = now;
    }
    // When the change was made that would be taken back or done again; where there is none, never
    // (before all others, after all others).
    [[nodiscard]] double undo_time() const { return undo_.empty() ? -1 : undo_.back().time; }
    [[nodiscard]] double redo_time() const {
        return redo_.empty() ? std::numeric_limits<double>::infinity() : redo_.back().time;
    }

  private:
    struct Kept {
        Recipe recipe;
        double time = -1;  // of the change; -1 = in this frame
    };
    void swap(Recipe& now, std::vector<Kept>& from, std::vector<Kept>& to) {
        if (from.empty()) return;
        to.push_back({std::move(now), from.back().time});
        now = std::move(from.back().recipe);
        from.pop_back();
        end();
    }
    std::vector<Kept> undo_, redo_;
    std::string key_;
};

struct LabChoice {
    Recipe recipe{};
    size_t chosen = 0;      // the intervention that the Inspector shows
    int64_t examples = 64;  // of the pinned batch
    int64_t first = 0;      // its first example
    std::string split{};    // part of the data; empty: the usual one
    std::string file{};     // of the recipe, as it was saved, opened or typed last
    std::string problem{};  // why the recipe cannot be applied to this model
    LabNumbers numbers{};
    RecipeHistory history{};

    // What is on, in its order; what is off counts for nothing.
    [[nodiscard]] Recipe active() const {
        Recipe out;
        for (const Intervention& one : recipe.interventions)
            if (one.on) out.interventions.push_back(one);
        return out;
    }
    // Before a change: what is there can be had back.
    void begin_edit(const std::string& key) { history.begin(recipe, key); }
    void clamp() {
        const size_t count = recipe.interventions.size();
        if (chosen >= count) chosen = count == 0 ? 0 : count - 1;
    }
};

}  // namespace aft::app
