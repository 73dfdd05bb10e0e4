#include "app/state/step_notes.h"

#include <imgui_internal.h>

#include <fmt/format.h>

#include <utility>

#include "app/state/open_path.h"
#include "core/caught.h"
#include "core/files.h"
#include "core/json.h"
#include "core/outside.h"
#include "core/text.h"
#include "model/model_files.h"
#include "model/system.h"

namespace aft::app {
namespace {

using nlohmann::json;

constexpr const char* kNotesFile = "notes.json";
constexpr uint64_t kMostFileBytes = uint64_t{8} << 20;  // the trainer reads twice as much

bool is_in_folder(const std::string& path) {
    std::error_code ignored;
    return !path.empty() && !is_checkpoint_file(path) && fs::is_directory(path, ignored);
}

// {} where there is no such file.
json notes_file(const fs::path& run) {
    const fs::path file = run / kNotesFile;
    std::error_code ignored;
    if (fs::is_symlink(file, ignored)) fail("{}: a symbolic link", shown_path(file.string()));
    if (!fs::exists(file, ignored)) return json::object();
    json whole = read_json_file(file, kMostFileBytes);
    if (!whole.is_object())
        fail("{}: found {}, allowed: an object", shown_path(file.string()), found_json(whole));
    return whole;
}

StepNotes notes_of(const json& whole, const fs::path& run) {
    if (!whole.contains(kNoteList)) return {};
    return with_context(shown_path((run / kNotesFile).string()),
                        [&] { return step_notes_from_json(whole.at(kNoteList)); });
}

std::string step_words(int64_t step) {
    return "note at step " + group_thousands(step);
}

// What the user's settings keep of the open run; made where there is nothing yet.
StepNotes& kept_notes(ViewState& ui) {
    return ui.settings.notes[recent_item(ui.status.path).path].step_notes;
}

}  // namespace

StepNotes read_step_notes(const fs::path& run) {
    return notes_of(notes_file(run), run);
}

void write_step_note(const fs::path& run, int64_t step, const std::string& text) {
    json whole = notes_file(run);
    StepNotes notes = notes_of(whole, run);
    if (text.empty())
        notes.erase(step);
    else
        notes[step] = text;
    whole[kNoteList] = step_notes_to_json(notes);
    write_atomically(run / kNotesFile, json_text(whole, 1) + "\n");
}

void open_step_notes(Ui& ui, const StepNotes& kept) {
    ui.step_notes.clear();
    if (is_in_folder(ui.status.path)) {
        const std::string problem =
            error_words([&] { ui.step_notes = read_step_notes(ui.status.path); }, plain_words);
        if (!problem.empty()) {
            ui.toasts.add({.kind = ToastKind::warning,
                           .title = "Notes of this run are not shown",
                           .detail = problem});
            ui.say("warning", "notes of this run are not shown: " + problem);
        }
    }
    for (const auto& [step, text] : kept) {
        if (text.empty())
            ui.step_notes.erase(step);
        else
            ui.step_notes[step] = text;
    }
}

void put_step_note(Ui& ui, int64_t step, const std::string& text) {
    const std::string& path = ui.status.path;
    const bool in_folder = is_in_folder(path);
    std::string problem;
    if (in_folder) problem = error_words([&] { write_step_note(path, step, text); }, plain_words);
    StepNotes& kept = kept_notes(ui);
    const bool is_written = in_folder && problem.empty();
    if (is_written || (text.empty() && !in_folder))
        kept.erase(step);
    else
        kept[step] = text;          // "": one of the folder is not shown here
    ImGui::MarkIniSettingsDirty();  // the settings are written soon
    if (text.empty())
        ui.step_notes.erase(step);
    else
        ui.step_notes[step] = text;
    ui.say("info", step_words(step) + (text.empty() ? " removed" : ": " + text));
    if (!problem.empty())
        ui.say("warning", step_words(step) + " is kept in your settings: " + problem);
}

void set_step_note(Ui& ui, int64_t step, const std::string& text) {
    const auto found = ui.step_notes.find(step);
    const std::string before = found == ui.step_notes.end() ? "" : found->second;
    if (before == text) return;
    put_step_note(ui, step, text);
    ui.selection.changes.add({.of = NoteChange{.step = step, .before = before, .after = text},
                              .what = step_words(step),
                              .time = ui.time});
    if (!text.empty()) return;
    ui.toasts.add({.kind = ToastKind::done,
                   .title = "Note at step " + group_thousands(step) + " removed",
                   .detail = before,
                   .action = "Undo",
                   .run = [step, before, run = ui.opened](Ui& now) {
                       if (now.opened == run) set_step_note(now, step, before);
                   }});
}

std::string why_no_step_note(const ViewState& ui, int64_t step, const std::string& text) {
    if (text.empty()) return "Type the note.";
    if (text.size() > kMostNoteBytes)
        return fmt::format("The note has {} bytes, allowed are {}.", text.size(), kMostNoteBytes);
    if (!ui.step_notes.contains(step) && ui.step_notes.size() >= kMostStepNotes)
        return fmt::format("{} notes are kept of a run; remove one of them.", kMostStepNotes);
    return "";
}

}  // namespace aft::app
