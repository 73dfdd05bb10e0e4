#include "app/frame/cards/film_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/frame/cards/overlays.h"
#include "app/panels/shared/completion_readings.h"
#include "app/panels/shared/tool_row.h"
#include "app/widgets/buttons.h"
#include "app/widgets/fields.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/caught.h"
#include "core/free_file.h"
#include "core/text.h"
#include "model/system.h"

namespace aft::app {

namespace fs = std::filesystem;

namespace {

constexpr double kMostFrames = 100000;

std::string why_no_scrub(const ModelView& ui) {
    return ui.history.empty() ? "No moments are stored yet." : "";
}

std::string why_no_generation(const ViewState& ui) {
    const auto completion = completion_of(ui);
    if (!completion || completion->samples.empty()) return "There is no completion yet.";
    if (is_completing(ui)) return "It is still filling in.";
    return filled_positions(*completion).decided == 0 ? "Nothing is sampled yet." : "";
}

std::string why_no_film(const ViewState& ui) {
    if (ui.session == nullptr || !ui.has_model()) return "No model is open.";
    const std::string why = why_no_scrub(ui);
    return why.empty() || why_no_generation(ui).empty() ? "" : why;
}

// Every k-th, and the last one.
std::vector<int64_t> thinned(const std::vector<int64_t>& all, int64_t most) {
    const auto count = static_cast<int64_t>(all.size());
    const int64_t pitch = std::max<int64_t>(1, (count + most - 1) / most);
    std::vector<int64_t> out;
    for (int64_t i = count - 1; i >= 0; i -= pitch) out.push_back(all[static_cast<size_t>(i)]);
    std::reverse(out.begin(), out.end());
    return out;
}

}  // namespace

// Proposed: all stored steps, and film.apng, film-2.apng, ... in the folder that was used last.
void FilmCard::open(const ViewState& ui) {
    is_open_ = is_new_ = true;
    problem_.clear();
    if (!ui.history.empty()) from_ = ui.history.front(), to_ = ui.history.back();
    if (!why_no_scrub(ui).empty()) kind_ = static_cast<int>(FilmKind::generation);
    if (!why_no_generation(ui).empty()) kind_ = static_cast<int>(FilmKind::scrub);
    const fs::path last = file_.empty() ? "film.apng" : fs::path(file_);
    const fs::path folder = proposed_folder(file_, ui.settings.last_folder);
    const std::string ending = last.extension().empty() ? ".apng" : last.extension().string();
    file_ = free_file(folder / ("film" + ending)).string();
}

std::vector<int64_t> FilmCard::places(const ViewState& ui) const {
    std::vector<int64_t> out;
    if (static_cast<FilmKind>(kind_) == FilmKind::scrub) {
        for (const int64_t step : ui.history)
            if (step >= from_ && step <= to_) out.push_back(step);
        return out;
    }
    if (!why_no_generation(ui).empty()) return out;
    FilledPositions filled = filled_positions(*completion_of(ui));
    filled.at.resize(filled.decided);
    return thinned(filled.at, most_);
}

void FilmCard::save(Ui& ui, FilmRecorder& recorder) {
    std::error_code ignored;
    const fs::path file = fs::absolute(file_, ignored);
    problem_ = error_words([&] { check_film_path(file); }, plain_words);
    if (!problem_.empty()) return;
    is_open_ = false;
    recorder.start(ui, {.kind = static_cast<FilmKind>(kind_),
                        .path = file.string(),
                        .frames_per_second = static_cast<int>(per_second_),
                        .places = places(ui)});
}

void FilmCard::draw_range(PaneContext& ui) {
    const auto field = [&](const char* words, const NumberField& spec, int64_t& value) {
        inline_label(ui, words);
        (void)drag_field(ui, spec, value);
        ImGui::SameLine(0, ui.px(14));
    };
    if (static_cast<FilmKind>(kind_) == FilmKind::scrub) {
        const bool has_any = !ui.history.empty();
        NumberField step{.name = "From step##from",
                         .min = has_any ? static_cast<double>(ui.history.front()) : 0,
                         .max = has_any ? static_cast<double>(ui.history.back()) : 0,
                         .integer = true};
        step.why_not = why_no_scrub(ui);
        step.tip = "The film begins at the first stored step from here on.";
        step.width = 110;
        field("From step", step, from_);
        step.name = "To step##to";
        step.tip = "The film ends at the last stored step up to here.";
        field("to", step, to_);
    } else {
        NumberField most{
            .name = "Most frames##most", .min = 2, .max = kMostFrames, .integer = true};
        most.tip = "Of more positions every second, third, ... is filmed, and the last one.";
        most.width = 110;
        field("At most", most, most_);
    }
    NumberField pace{
        .name = "Frames per second##pace", .min = 1, .max = kMostFramesPerSecond, .integer = true};
    pace.tip = "How fast the film goes; for a folder of pictures it does not matter.";
    pace.width = 70;
    field("frames a second", pace, per_second_);
    ImGui::NewLine();
}

void FilmCard::draw_choices(PaneContext& ui) {
    const Choice kinds[] = {
        {.text = "Scrub##scrub",
         .why_not = why_no_scrub(ui),
         .tip = "The panes in the middle at every stored step of the training."},
        {.text = "Generation##generation",
         .why_not = why_no_generation(ui),
         .tip = "Complete, while the completion that Play shows fills in."}};
    (void)segmented(ui, "What##what", kind_, {kinds});
    draw_range(ui);
}

void FilmCard::draw(Ui& ui, FilmRecorder& recorder, ImVec2 display) {
    if (!is_open_) return;
    const CardScope card(ui, display, {"Film card", "Save film", {680, 272}});
    if (card.is_left()) is_open_ = false;
    draw_choices(ui);
    const TextEdit edit =
        text_field(ui,
                   {.name = "File##file",
                    .hint = ".apng, .gif, .mp4, .webm, or a folder: a path that ends in /",
                    .focus = std::exchange(is_new_, false),
                    .mono = true,
                    .tip = "Where the film is written."},
                   file_);
    if (edit) problem_.clear();
    const auto count = static_cast<int64_t>(places(ui).size());
    if (problem_.empty())
        hint(ui,
             fmt::format("{} frame{}, {:.1f} s. .apng and folders of pictures are written here; "
                         ".gif, .mp4 and .webm need the program ffmpeg.",
                         group_thousands(count), count == 1 ? "" : "s",
                         static_cast<double>(count) / static_cast<double>(per_second_)));
    else
        draw_problem(ui, problem_);
    to_card_foot(ui);
    const std::string why = !why_no_film(ui).empty()     ? why_no_film(ui)
                            : count > 0 && file_.empty() ? "Type the file to write."
                            : count == 0 && kind_ == int(FilmKind::generation)
                                ? "There is no completion to film: make one in Complete."
                            : count == 0         ? "No stored step lies between these."
                            : recorder.is_busy() ? "The film before is still being written."
                                                 : "";
    const CardAnswer answer = save_buttons(
        ui, {.why_not = why, .tip = "Records and writes it.", .is_submitted = edit.is_submitted});
    if (answer == CardAnswer::cancel) is_open_ = false;
    if (answer == CardAnswer::save) save(ui, recorder);
}

void add_film_actions(Actions& actions, FilmCard& card, const FilmRecorder& recorder) {
    actions.add({.id = "file.save_film",
                 .name = "Save film...",
                 .sentence = "Makes a film of the panes in the middle: through training, or of a "
                             "completion while it fills in.",
                 .icon = icon::picture,
                 .menu = "File",
                 .why_not =
                     [&recorder](const ViewState& ui) {
                         if (recorder.is_recording()) return std::string("A film is recorded.");
                         return why_no_film(ui);
                     },
                 .run = [&card](ViewState& ui) { card.open(ui); }});
}

}  // namespace aft::app
