#include "app/frame/cards/view_card.h"

#include <filesystem>
#include <utility>

#include "app/frame/cards/overlays.h"
#include "app/state/view_file.h"
#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/caught.h"
#include "core/files.h"
#include "core/free_file.h"
#include "core/outside.h"
#include "model/system.h"

namespace aft::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* kEndings[] = {".json", ".png", ".svg", ".npz"};
constexpr int kView = 0, kPng = 1, kSvg = 2, kNumbers = 3;

// Of the format with this ending; -1: none has it.
int format_of(const fs::path& file) {
    const std::string ending = lower_ending(file);
    if (ending == ".csv") return kNumbers;
    for (int i = 0; i < int(std::size(kEndings)); ++i)
        if (ending == kEndings[i]) return i;
    return -1;
}

}  // namespace

// Proposed: view.json, view-2.json, ... in the folder that was used last.
void ViewCard::open(const PaneContext& ui) {
    is_open_ = is_new_ = true;
    problem_.clear();
    confirmed_.clear();
    const fs::path folder = proposed_folder(file_, ui.settings.last_folder);
    file_ = free_file(folder / fmt::format("view{}", kEndings[format_])).string();
}

void ViewCard::save(Ui& ui) {
    std::error_code ignored;
    fs::path file = fs::absolute(file_, ignored);
    if (format_of(file) != format_) file += kEndings[format_];
    const bool is_there = fs::exists(file, ignored);
    problem_ = error_words(
        [&] {
            if (is_there && std::exchange(confirmed_, file.string()) != file.string())
                fail("{} is there already: Save once more to replace it, or choose another name",
                     shown_path(file.string()));
            check_writable(file);
            if (format_ == kView) write_view_file(file.string(), view_of(ui));
        },
        plain_words);
    if (!problem_.empty()) return;
    is_open_ = false;
    file_ = file.string();
    if (format_ != kView) {
        PictureRequest request{
            .path = file_, .replaces = is_there, .scale = format_ == kPng ? scale_ + 1 : 1};
        if (format_ != kNumbers && ground_ > 0)
            request.ground = ground_ == 1 ? ThemeName::light : ThemeName::dark;
        return ui.commands.send(TakePicture{std::move(request)});
    }
    ui.toasts.add({.kind = ToastKind::done,
                   .title = "View saved",
                   .detail = file_ + "  \u00B7  open it like a run"});
    ui.say("info", "view saved: " + file_);
}

void ViewCard::draw_format(DrawContext& ui) {
    if (const int typed = format_of(file_); typed >= 0) format_ = typed;
    const Choice formats[] = {
        {.text = "Opens again##view", .tip = "A file that opens what is on the screen again."},
        {.text = "PNG##picture", .tip = "The panes in the middle, pixel by pixel."},
        {.text = "SVG##svg", .tip = "The panes in the middle with real text, sharp at any size."},
        {.text = "Numbers##numbers",
         .tip = "What the panes in the middle draw, as .npz for numpy.load or as .csv."}};
    if (segmented(ui, "Format##format", format_, {formats}) && !file_.empty()) {
        fs::path file = file_;
        if (format_of(file) >= 0) file.replace_extension();
        file_ = file.string() + kEndings[format_];
    }
    if (format_ == kPng || format_ == kSvg) {
        ImGui::SameLine(0, ui.px(12));
        const Choice grounds[] = {{.text = "As shown##as_shown"},
                                  {.text = "Light##light", .tip = "For print."},
                                  {.text = "Dark##dark"}};
        (void)segmented(ui, "Ground##ground", ground_, {grounds});
    }
    if (format_ == kPng) {
        ImGui::SameLine(0, ui.px(12));
        const Choice scales[] = {
            {.text = "1x##1"}, {.text = "2x##2"}, {.text = "3x##3"}, {.text = "4x##4"}};
        (void)segmented(ui, "Scale##scale", scale_,
                        {.list = scales, .tip = "Pixels of the picture for one of the screen."});
    }
}

void ViewCard::draw_words(PaneContext& ui) const {
    if (!problem_.empty()) return draw_problem(ui, problem_);
    constexpr const char* kWords[] = {
        "Keeps the model's path, step, place, pins, experiments, overlaid runs, how maps are "
        "drawn, what Compare, "
        "the Lab and Complete hold with the mask, and what single panes choose.",
        "The panes in the middle as they are arranged; letters and maps are sharp at every scale.",
        "The panes in the middle as they are arranged; text stays text, maps are embedded.",
        "Every map, curve, bar and picture of the panes in the middle, by the pane's name, with "
        "this view as note.json. A map of blocks holds the blocks; the commands write all of it."};
    const bool is_csv = format_ == kNumbers && lower_ending(file_) == ".csv";
    hint(ui, is_csv ? "Every map, curve, bar and picture of the panes in the middle, a line for "
                      "each value: its table, up to three indices, the value."
                    : kWords[format_]);
}

void ViewCard::draw(Ui& ui, ImVec2 display) {
    if (!is_open_) return;
    const CardScope card(ui, display, {"View card", "Save view", {760, 232}});
    if (card.is_left()) is_open_ = false;
    draw_format(ui);
    const TextEdit edit = text_field(ui,
                                     {.name = "File##file",
                                      .hint = "file to write",
                                      .focus = std::exchange(is_new_, false),
                                      .mono = true,
                                      .tip = "Where the view is written."},
                                     file_);
    draw_words(ui);
    to_card_foot(ui);
    const std::string why = file_.empty() ? "Type the file to write." : "";
    if (ui.workspace == Workspace::train) {  // the logged numbers themselves
        const float top = ImGui::GetCursorPosY();
        ImGui::SetCursorPosY(top + ui.px(3));  // in the middle of the others' height
        if (action_button(ui, "file.export_metrics", ButtonKind::ghost)) is_open_ = false;
        ImGui::SetCursorPosY(top);
    }
    const CardAnswer answer =
        save_buttons(ui, {.why_not = why, .tip = "Writes it.", .is_submitted = edit.is_submitted});
    if (answer == CardAnswer::cancel) is_open_ = false;
    if (answer == CardAnswer::save) save(ui);
}

void add_view_actions(Actions& actions, ViewCard& card) {
    actions.add({.id = "file.save_view",
                 .name = "Save view...",
                 .sentence = "Writes what is on the screen to a file that opens it again, as a "
                             "picture, or its numbers.",
                 .icon = icon::save,
                 .shortcut = "Ctrl+E",
                 .menu = "File",
                 .why_not =
                     [](const ViewState& ui) {
                         return ui.session == nullptr || !ui.has_model() ? "No model is open."
                                                                         : std::string();
                     },
                 .run = [&card](Ui& ui) { card.open(ui); }});
}

}  // namespace aft::app
