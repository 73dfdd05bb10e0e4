#include "app/frame/cards/figure_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/frame/cards/overlays.h"
#include "app/panels/panel.h"
#include "app/panels/shared/copy_command.h"
#include "app/state/picture_list.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/caught.h"
#include "core/text.h"
#include "model/model_files.h"
#include "model/system.h"

namespace aft::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* kEndings[] = {".svg", ".png"};
constexpr int kPngScale = 2;
constexpr const char* kNoFigure = "This model can make none of these figures.";
constexpr const char* kNoFile = "Type the file to write.";

std::string why_no_figures(const ModelView& ui) {
    if (ui.session == nullptr || !ui.has_model()) return "No model is open.";
    return ui.status.saved_step < 0 ? "Figures are made of what is saved, and nothing is yet: Save "
                                      "writes the present step."
                                    : "";
}

// What is looked at is one of the data, which the command reads anew: not a file, a blank picture
// or a completion.
bool is_example(const ImageChoice& image) {
    if (!image.path.empty()) return false;
    return !image.item || (!image.split.empty() && !image.item->split.empty());
}

void write_asked(const FigureRequest& request, const fs::path& file, bool is_dark,
                 const std::stop_token& stop) {
    check_figure_file(file);
    JobControl control;
    control.stop = stop;
    FigureResult result = make_figure(request, control);
    result.scene.is_dark = is_dark;
    write_figure(file, result.scene, file.extension() == ".png" ? kPngScale : 1);
}

// Of the panes in front, else of the others, else the first that this model can make; "" = none.
std::string shown_figure(const Ui& ui) {
    std::vector<std::string> names;
    for (const bool is_front : {true, false})
        for (const Panel* const panel : ui.shown_panels)
            if (panel->is_front() == is_front)
                for (std::string& name : panel->figures()) names.push_back(std::move(name));
    for (const FigureRoom& room : figures()) names.push_back(room.info.name);
    const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
        return why_not_figure(ui, find_room(figures(), name, "figure")).empty();
    });
    return found == names.end() ? "" : *found;
}

}  // namespace

std::string why_not_figure(const ModelView& ui, const FigureRoom& room) {
    const std::string why = room.why_not({.mixer = ui.status.mixer,
                                          .task = ui.status.task,
                                          .is_run = !is_checkpoint_file(ui.status.path)});
    if (!why.empty() || !room.is_comparison) return why;
    return "it compares several models; the command afterimage figure takes them";
}

FigureRequest figure_request(const ViewState& ui, const std::string& figure) {
    FigureRequest request;
    request.figure = figure;
    request.models = {ui.status.path};
    request.device = ui.status.device.starts_with("cuda") ? "cuda" : "cpu";
    request.data = shown_data(ui);
    if (is_example(ui.selection.image)) request.index = ui.selection.image.index;
    const FigureRoom& room = find_room(figures(), figure, "figure");
    const std::vector<int64_t>& batch = ui.selection.completion.pictures;
    const bool takes_batch = std::any_of(room.options.begin(), room.options.end(),
                                         [](const ProbeOption& o) { return o.key == "pictures"; });
    if (takes_batch && batch.size() > 1 && ui.selection.image.path.empty())
        request.options["pictures"] = picture_list_words(batch, ",");
    const int64_t step = ui.selection.step;
    if (step < 0 || ui.session == nullptr || is_checkpoint_file(ui.status.path)) return request;
    const std::vector<int64_t> saved = ui.session->saved_steps();
    const bool reads_log =
        !room.why_not({.mixer = ui.status.mixer, .task = ui.status.task}).empty();
    if (!reads_log && std::binary_search(saved.begin(), saved.end(), step))
        request.models = {checkpoint_file(ui.status.path, step)};
    return request;
}

std::string figure_command_line(const FigureRequest& request, const std::string& file,
                                bool is_dark) {
    std::string out = "afterimage figure " + request.figure;
    for (const std::string& model : request.models) out += " " + shell_word(model);
    if (find_room(figures(), request.figure, "figure").takes_example) {
        if (!request.data.empty()) out += " --data " + shell_word(request.data);
        if (request.index >= 0) out += fmt::format(" --index {}", request.index);
    }
    for (const auto& [key, value] : request.options)
        out += fmt::format(" --{} {}", key, shell_word(value));
    if (is_dark) out += " --theme dark";
    if (fs::path(file).extension() == ".png") out += fmt::format(" --scale {}", kPngScale);
    return out + " -o " + shell_word(file);
}

// The one of what is shown, unless another one was chosen for that already.
void FigureCard::open(const Ui& ui) {
    is_open_ = is_new_ = true;
    const std::string shown = shown_figure(ui);
    const std::string view = fmt::format("{} {}", shown, ui.status.path);
    if (std::exchange(view_, view) == view && !figure_.empty()) return;
    figure_.clear();
    if (!shown.empty()) choose(ui, shown);
}

void FigureCard::choose(const ViewState& ui, const std::string& figure) {
    figure_ = figure;
    const fs::path folder = proposed_folder(file_, ui.settings.last_folder);
    file_ = (folder / (figure + kEndings[format_])).string();
}

void FigureCard::draw_rows(PaneContext& ui, float height) {
    ui.recorder.set_section("Figures##figures");
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    ImGui::BeginChild("figures", {0, height}, ImGuiChildFlags_NavFlattened);
    for (const FigureRoom& room : figures()) {
        const std::string why = why_not_figure(ui, room);
        const std::string& name = room.info.name;
        const Row line = row(ui, WidgetName::data(name),
                             {40, name == figure_, why.empty() ? room.info.sentence : why});
        const ImU32 ink = why.empty() ? ui.theme.text1 : ui.theme.text3;
        const float x = line.min.x + ui.px(10);
        text_at(ui, {x, line.min.y + ui.px(3)}, name, {text_size::body, ink, Face::medium});
        text_at(ui, {x, line.min.y + ui.px(21)}, why.empty() ? room.info.sentence : why,
                {text_size::hint, why.empty() ? ui.theme.text2 : ui.theme.warn, Face::regular,
                 line.max.x - x - ui.px(10)});
        if (line.pressed && why.empty()) choose(ui, name);
    }
    ImGui::EndChild();
    ImGui::PopStyleVar();
}

void FigureCard::draw_looks(Ui& ui) {
    if (fs::path(file_).extension() == kEndings[1 - format_]) format_ = 1 - format_;  // was typed
    const Choice formats[] = {{.text = "SVG##svg"}, {.text = "PNG##png"}};
    if (segmented(ui, "Format##format", format_,
                  {.list = formats,
                   .tip = "SVG has real text and is sharp at any size; PNG is made of pixels."}))
        file_ = fs::path(file_).replace_extension(kEndings[format_]).string();
    ImGui::SameLine(0, ui.px(12));
    const Choice grounds[] = {{.text = "Light##light"}, {.text = "Dark##dark"}};
    (void)segmented(ui, "Ground##ground", ground_,
                    {.list = grounds, .tip = "The ground of the figure; light for print."});
    ImGui::SameLine(0, ui.px(12));
    CopiedCommand copied{.command = {}, .why_not = why_no_figures(ui)};
    if (copied.why_not.empty() && figure_.empty()) copied.why_not = kNoFigure;
    if (copied.why_not.empty() && file_.empty()) copied.why_not = kNoFile;
    if (copied.why_not.empty())
        copied.command = figure_command_line(figure_request(ui, figure_), file_, ground_ == 1);
    copy_command_button(ui, copied, "Copies the command that writes this figure.");
}

void FigureCard::draw_foot(Ui& ui) {
    ui.recorder.set_section("Answer##answer");
    draw_looks(ui);
    const TextEdit edit = text_field(ui,
                                     {.name = "File##file",
                                      .hint = "picture to write: .svg or .png",
                                      .focus = std::exchange(is_new_, false),
                                      .mono = true,
                                      .tip = "Where the figure is written."},
                                     file_);
    const bool is_own = !figure_.empty() && !is_example(ui.selection.image) &&
                        find_room(figures(), figure_, "figure").takes_example;
    hint(ui, fmt::format("Made of the saved weights{}, {}.",
                         ui.selection.step < 0 || is_checkpoint_file(ui.status.path)
                             ? ", newest step"
                             : " of the shown step, else of the newest",
                         is_own ? "and of examples of the data: your own picture is none"
                                : "as afterimage figure does"));
    const std::string why = figure_.empty()   ? kNoFigure
                            : file_.empty()   ? kNoFile
                            : work_.is_busy() ? "The figure before is still being drawn."
                                              : why_no_figures(ui);
    const CardAnswer answer = save_buttons(ui, {.why_not = why,
                                                .tip = "Draws the figure and writes it.",
                                                .is_submitted = edit.is_submitted});
    if (answer == CardAnswer::cancel) is_open_ = false;
    if (answer == CardAnswer::save) start(ui);
}

void FigureCard::start(Ui& ui) {
    is_open_ = false;
    std::error_code ignored;
    const fs::path file = fs::absolute(file_, ignored);
    ui.toasts.add({.kind = ToastKind::info,
                   .title = "Drawing " + figure_,
                   .detail = "The file is written when it is done."});
    work_.start([request = figure_request(ui, figure_), file, is_dark = ground_ == 1,
                 number = ++started_](const auto& publish, const std::stop_token& stop) {
        SavedFigure out{.file = file.string(), .error = {}, .number = number};
        out.error = error_words([&] { write_asked(request, file, is_dark, stop); }, plain_words);
        publish(std::move(out));
    });
}

void FigureCard::report(Ui& ui) {
    if (work_.is_busy()) ui.want_frame_at(ui.time + 0.1);
    const auto drawn = work_.latest();
    if (!drawn || drawn->number == reported_) return;
    reported_ = drawn->number;
    const bool is_done = drawn->error.empty();
    ui.toasts.add({.kind = is_done ? ToastKind::done : ToastKind::error,
                   .title = is_done ? "Figure saved" : "Figure not saved",
                   .detail = is_done ? drawn->file : drawn->error});
    ui.say(is_done ? "info" : "error",
           is_done ? "figure saved: " + drawn->file : "figure not saved: " + drawn->error);
}

void FigureCard::draw(Ui& ui, ImVec2 display) {
    if (!is_open_) return;
    const auto rows = float(figures().size());
    const CardScope card(ui, display, {"Figure card", "Save as figure", {760, 40 * rows + 210}});
    if (card.is_left()) is_open_ = false;
    draw_rows(ui, std::max(ui.px(60), ImGui::GetContentRegionAvail().y - ui.px(136)));
    draw_foot(ui);
}

void add_figure_actions(Actions& actions, FigureCard& card) {
    actions.add({.id = "file.save_figure",
                 .name = "Save as figure...",
                 .sentence = "Draws a figure of the paper from this model, as SVG or PNG.",
                 .icon = icon::save,
                 .menu = "File",
                 .why_not = why_no_figures,
                 .run = [&card](Ui& ui) { card.open(ui); }});
}

}  // namespace aft::app
