// View files: what is on the screen as a JSON file that opens it again: the model, the workspace,
// the step, the selected place, the pins and standing experiments, how maps are drawn, what
// Compare, the Lab and Complete hold, what single panes choose, the panes in front. docs/format.md
// has the keys. Window thread; blocks on the file.
#pragma once
#include <string>
#include <vector>

#include "app/state/ui.h"

namespace aft::app {

struct SavedView {
    std::string model;  // run folder or checkpoint
    Workspace workspace = Workspace::home;
    int64_t step = -1;  // of all views; -1 = live
    RunNotes place;     // pins, the locked cell, standing experiments, the mask
    Cell cell;          // the selected one
    MapDisplay maps;
    CompareChoice compare;
    LabChoice lab;                   // recipe, batch
    CompletionChoice completion;     // prompt, length, tools, how to sample
    PaneChoice choices;              // but for the sweep
    ImageChoice picture;             // split, index, path
    std::vector<std::string> panes;  // in front, by id
};

[[nodiscard]] SavedView view_of(const PaneContext& ui);
// All but the model, which is open by now.
void show_view(PaneContext& ui, const SavedView& view);

// Error that begins with the file: no view, a value that is not allowed. A model that is not where
// it was is looked for beside the file.
[[nodiscard]] SavedView read_view_file(const std::string& path);
// The file's text.
[[nodiscard]] std::string view_text(const SavedView& view);
// Atomic.
void write_view_file(const std::string& path, const SavedView& view);

}  // namespace aft::app
