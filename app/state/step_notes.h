// Notes at steps of the open run: a text for a step, whether or not a moment is stored there. Kept
// in the list `notes` of notes.json in the run folder; of a checkpoint, or where that file cannot
// be written, in the user's settings. Window thread; blocks on a small file.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "app/state/note_list.h"

namespace aft::app {

struct Ui;
struct ViewState;

// Of a run folder; none where it has no notes.json. Error: it cannot be read.
[[nodiscard]] StepNotes read_step_notes(const std::filesystem::path& run);
// Sets one, "" removes it; all else in notes.json stays as it is there. Atomic. Error: it cannot be
// read or written, and nothing is changed.
void write_step_note(const std::filesystem::path& run, int64_t step, const std::string& text);

// Into ui.step_notes: of the run folder that is open, and over them what the user's settings keep.
void open_step_notes(Ui& ui, const StepNotes& kept);
// One of the open run, with its undo; "" removes it.
void set_step_note(Ui& ui, int64_t step, const std::string& text);
// Without: undo and redo themselves.
void put_step_note(Ui& ui, int64_t step, const std::string& text);
// Why this text cannot be kept at this step; "" = it can.
[[nodiscard]] std::string why_no_step_note(const ViewState& ui, int64_t step,
                                           const std::string& text);

}  // namespace aft::app
