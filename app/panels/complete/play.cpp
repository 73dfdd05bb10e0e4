// Play: walks through a completion in the order of generation; at any sub-pixel the distribution
// over its levels, what was drawn, how surprising it was, and another level to continue from.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "app/panels/complete/completion_command.h"
#include "app/panels/complete/completion_state.h"
#include "app/panels/complete/play_words.h"
#include "app/panels/panel.h"
#include "app/panels/shared/positions.h"
#include "app/panels/shared/watch.h"
#include "app/state/probe_options.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/fields.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "app/widgets/tooltip.h"
#include "core/text.h"
#include "viz/curves.h"

namespace aft::app {

PanelRoom play_panel();

namespace {

class PlayPanel : public Panel {
  public:
    void draw(Ui& ui) override;

  private:
    void go_to(ViewState& ui, const FilledPositions& filled, int64_t place);
    void draw_transport(Ui& ui, const Completion& completion, const FilledPositions& filled);
    void draw_track(PaneContext& ui, const Completion& completion, const FilledPositions& filled);
    void advance(PaneContext& ui, const FilledPositions& filled);
    void ask(const PaneContext& ui, const Completion& completion);
    void draw_distribution(Ui& ui, const Completion& completion);
    void draw_reading(Ui& ui, const Completion& completion, const FilledPositions& filled);
    Watch watch_;
    AskTurn turn_;
    std::vector<double> shares_;  // probability of each level at the position
    struct PlayedCompletion {
        std::shared_ptr<const Completion> now, before;  // before: the one that it took the place of
    } played_;
    int64_t place_ = -1;  // of the position among the filled ones
    bool playing_ = false;
    int64_t per_second_ = 30;
    double play_from_ = 0;
    int64_t play_place_ = 0;
};

void PlayPanel::go_to(ViewState& ui, const FilledPositions& filled, int64_t place) {
    if (filled.decided == 0) return;
    const int64_t last = static_cast<int64_t>(filled.decided) - 1;
    place_ = std::clamp<int64_t>(place, 0, last);
    ui.selection.completion.position = filled.at[static_cast<size_t>(place_)];
    ui.selection.completion.level = -1;
}

void PlayPanel::advance(PaneContext& ui, const FilledPositions& filled) {
    if (!playing_) return;
    const auto passed =
        static_cast<int64_t>((ui.time - play_from_) * static_cast<double>(per_second_));
    go_to(ui, filled, play_place_ + passed);
    if (place_ + 1 >= static_cast<int64_t>(filled.decided)) playing_ = false;
    ui.want_frames(3);
}

void PlayPanel::draw_transport(Ui& ui, const Completion& completion,
                               const FilledPositions& filled) {
    const std::string why = filled.decided == 0 ? "Nothing is sampled yet." : "";
    const char* const unit = is_text_model(ui) ? "byte" : "sub-pixel";
    const auto tool = [&](const std::string& name, const char* symbol) {
        const bool pressed = button(ui, {.name = name,
                                         .icon = symbol,
                                         .kind = ButtonKind::icon,
                                         .why_not = why,
                                         .tip = "In the order in which the model drew them."});
        ImGui::SameLine(0, ui.px(2));
        return pressed;
    };
    if (tool(fmt::format("First {}##first", unit), icon::first)) go_to(ui, filled, 0);
    if (tool(fmt::format("Previous {}##previous", unit), icon::step_back))
        go_to(ui, filled, place_ - 1);
    if (tool(playing_ ? "Pause playing##pause" : "Play##play",
             playing_ ? icon::pause : icon::play)) {
        playing_ = !playing_;
        play_from_ = ui.time;
        play_place_ = place_ + 1 >= static_cast<int64_t>(filled.decided) ? 0 : place_;
    }
    if (tool(fmt::format("Next {}##next", unit), icon::step)) go_to(ui, filled, place_ + 1);
    if (tool(fmt::format("Last {}##last", unit), icon::last))
        go_to(ui, filled, static_cast<int64_t>(filled.decided) - 1);
    ImGui::SameLine(0, ui.px(6));
    if (drag_field(ui,
                   {.name = "Values per second##per_second",
                    .min = 1,
                    .max = 2000,
                    .standard = 30,
                    .integer = true,
                    .logarithmic = true,
                    .unit = "/s",
                    .tip = "How fast Play walks through what the model drew.",
                    .width = 76},
                   per_second_)) {
        play_from_ = ui.time;  // from here on
        play_place_ = std::max<int64_t>(0, place_);
    }
    ImGui::SameLine(0, ui.px(6));
    distribution_button(ui, completion, watch_.is_current());
    ImGui::SameLine(0, ui.px(10));
    draw_track(ui, completion, filled);
}

// Surprise along the order of generation; the part that is not there yet is hatched.
void PlayPanel::draw_track(PaneContext& ui, const Completion& completion,
                           const FilledPositions& filled) {
    const float width = std::max(ui.px(60), ImGui::GetContentRegionAvail().x);
    const Region track =
        region(ui, "track", "Track##track", {{width, ui.px(26)}, std::to_string(place_)});
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddRectFilled(track.min, track.max, ui.theme.field);
    const auto count = static_cast<float>(std::max<size_t>(1, filled.at.size()));
    const float x_now = track.min.x + width * static_cast<float>(filled.decided) / count;
    if (filled.decided < filled.at.size()) draw_hatch(ui, {{x_now, track.min.y}, track.max});
    const std::vector<float>& bits = completion.surprise[sample_looked_at(ui, completion)];
    const auto top = static_cast<float>(
        std::log2(static_cast<double>(std::max<int64_t>(2, ui.status.config.model.levels))));
    const auto columns = static_cast<size_t>(std::max(1.0F, width / 2));
    for (size_t column = 0; column < columns; ++column) {
        const size_t first = column * filled.at.size() / columns;
        const size_t last = std::max(first + 1, (column + 1) * filled.at.size() / columns);
        float most = 0;
        for (size_t i = first; i < std::min(last, filled.decided); ++i) {
            const float value = bits[static_cast<size_t>(filled.at[i])];
            if (std::isfinite(value)) most = std::max(most, value);
        }
        const float tall = std::min(1.0F, most / top) * (track.max.y - track.min.y);
        const float x = track.min.x + 2 * static_cast<float>(column);
        draw->AddRectFilled({x, track.max.y - tall}, {x + 1, track.max.y}, ui.theme.text3);
    }
    if (track.held) go_to(ui, filled, static_cast<int64_t>(track.mouse.x / width * count));
    if (place_ < 0) return;
    const float x = std::round(track.min.x + width * (static_cast<float>(place_) + 0.5F) / count);
    const float grip = ui.px(4);  // half of it stands out beside the track at its ends
    const ImVec2 low = draw->GetClipRectMin(), high = draw->GetClipRectMax();
    draw->PushClipRect({low.x - grip - 1, low.y}, {high.x + grip + 1, high.y});
    draw->AddRectFilled({x - 1, track.min.y - ui.px(3)}, {x + 1, track.max.y}, ui.theme.accent);
    draw->AddCircleFilled({x, track.min.y - ui.px(3)}, grip, ui.theme.accent);
    draw->PopClipRect();
}

void PlayPanel::ask(const PaneContext& ui, const Completion& completion) {
    turn_ = {};
    const int64_t position = position_looked_at(ui, completion);
    if (position < 0) return;
    // What follows the position must not matter: the request stays the same while samples fill in.
    ProbeRequest request;
    request.probe = "predictions";
    request.step = ui.selection.step;
    request.tokens = completion.samples[sample_looked_at(ui, completion)];
    std::fill(request.tokens.begin() + position, request.tokens.end(), uint8_t{0});
    int64_t asked = position;
    if (is_text_model(ui)) {
        request.tokens.resize(static_cast<size_t>(position) + 1);
        const int64_t window = ui.status.tokens;
        const int64_t skipped = std::max<int64_t>(0, position + 1 - window);
        request.tokens.erase(request.tokens.begin(), request.tokens.begin() + skipped);
        asked -= skipped;
    }
    request.options[kPositionOption] = std::to_string(asked);
    (void)watch_.update(ui, request, turn_, 2.0);
    if (!watch_.fields() || watch_.fields()->fields.empty()) return;
    const Field& field = watch_.fields()->fields.front();
    shares_.assign(field.values.begin(), field.values.end());
    for (double& share : shares_) share = std::exp(share);
}

double entropy_bits(const std::vector<double>& shares) {
    double bits = 0;
    for (const double p : shares)
        if (p > 0) bits -= p * std::log2(p);
    return bits;
}

// The level of the untouched picture at this position; -1 where it is another picture.
int64_t original_level(const ViewState& ui, const Completion& completion, int64_t position) {
    const auto& item = ui.selection.image.item;
    if (is_text_model(ui) || !item || item->tokens.size() != completion.unknown.size()) return -1;
    if (earlier_words(ui, completion).starts_with("of")) return -1;
    return item->tokens[static_cast<size_t>(position)];
}

void PlayPanel::draw_distribution(Ui& ui, const Completion& completion) {
    const int64_t position = position_looked_at(ui, completion);
    const size_t sample = sample_looked_at(ui, completion);
    CompletionChoice& choice = ui.selection.completion;
    const bool is_text = is_text_model(ui);
    const bool is_outlined = !is_text && choice.changed.before != nullptr;
    const Completion* const before = (is_outlined ? choice.changed.before : played_.before).get();
    const std::string changed = changed_words(before, completion, sample);
    const std::string difference =
        changed.empty() ? ""
                        : fmt::format(", {} {}", changed,
                                      is_outlined ? "changed, outlined if large" : "changed");
    std::string words = fmt::format("sample {}{}; click a {} to put it here", sample + 1,
                                    difference, is_text ? "byte" : "level");
    if (!changed.empty())
        ui.recorder.item("value", ui.recorder.claim("Changed values##changed_values"), changed);
    if (watch_.fields() && !watch_.fields()->fields.empty()) {
        const int64_t step = watch_.fields()->fields.front().step;
        if (step >= 0 && step != completion.step)
            words += fmt::format("; weights of step {}", group_thousands(step));
    }
    if (!watch_.is_current() && !shares_.empty()) words = "computing; " + words;
    caption(ui,
            fmt::format("Distribution over {} {}", ui.status.config.model.levels,
                        is_text ? "bytes" : "levels"),
            words);
    if (!watch_.error().empty()) {
        banner(ui, {.title = "No distribution", .sentence = watch_.error()});
        return;
    }
    if (shares_.empty()) return hint(ui, "Computing the distribution.");
    const int64_t drawn = completion.samples[sample][static_cast<size_t>(position)];
    const ImVec2 size(ImGui::GetContentRegionAvail().x,
                      std::max(ui.px(60), ImGui::GetContentRegionAvail().y - ui.px(2)));
    // Of another position until the answer is there: dimmed, and no bar is this one's level.
    const bool is_there = watch_.is_current();
    const int64_t level = choice.level >= 0 ? choice.level : drawn;
    const viz::BarReply bars = draw_bars({.id = "distribution",
                                          .values = shares_,
                                          .size = size,
                                          .highlighted = is_there ? static_cast<int>(level) : -1,
                                          .percent = true,
                                          .dimmed = !is_there,
                                          .name = [&](int bar) { return axis_words(ui, bar); }},
                                         ui);
    if (bars.hovered >= 0 && is_there)
        tooltip(ui, {.name = level_words(ui, bars.hovered),
                     .sentence = plain_number(100 * shares_[size_t(bars.hovered)], 2) + " %"});
    ui.recorder.item("label", ui.recorder.claim("Axis##axis"),
                     axis_words(ui, 0) + " to " + axis_words(ui, int64_t(shares_.size()) - 1));
    ui.recorder.item("plot", ui.recorder.claim("Distribution##distribution"),
                     is_there ? level_words(ui, drawn) : "computing");
    if (bars.clicked >= 0 && is_there) {
        choice.position = position;
        choice.level = bars.clicked;
    }
}

// Another value in place of the drawn one: a number, or one of the bytes of a text. True: chosen.
bool choose_level(PaneContext& ui, int64_t drawn, int64_t& level) {
    const char* const tip = "Another value here; \"Continue from here\" draws all after it again.";
    const int64_t levels = ui.status.config.model.levels;
    if (!is_text_model(ui))
        return drag_field(ui,
                          {.name = "New level##new_level",
                           .min = 0,
                           .max = static_cast<double>(levels - 1),
                           .standard = static_cast<double>(drawn),
                           .integer = true,
                           .prefix = "new level",
                           .tip = tip,
                           .drag_speed = 0.25F},
                          level);
    std::vector<std::string> bytes;
    for (int64_t i = 0; i < levels; ++i)
        bytes.push_back(fmt::format("{}##byte_{}", level_words(ui, i), level_byte(ui, i)));
    label_column(ui, "New byte");
    int chosen = static_cast<int>(level);
    if (!combo(ui, "New byte##new_level", chosen, {.list = bytes, .tip = tip})) return false;
    level = chosen;
    return true;
}

void PlayPanel::draw_reading(Ui& ui, const Completion& completion, const FilledPositions& filled) {
    const int64_t position = position_looked_at(ui, completion);
    const size_t sample = sample_looked_at(ui, completion);
    CompletionChoice& choice = ui.selection.completion;
    section(ui, {place_words(ui, position), place_id(ui, position)},
            fmt::format("{} of {}", group_thousands(place_ + 1),
                        group_thousands(static_cast<int64_t>(filled.at.size()))),
            false);
    const int64_t drawn = completion.samples[sample][static_cast<size_t>(position)];
    key_value(ui, is_text_model(ui) ? "Chosen byte##chosen" : "Chosen level##chosen",
              level_words(ui, drawn));
    if (!watch_.is_current()) {
        for (const char* const name :
             {"Probability##probability", "Surprise##surprise", "Entropy##entropy"})
            key_value(ui, name, watch_.error().empty() ? "computing" : "\u2013");
    } else if (static_cast<size_t>(drawn) < shares_.size()) {
        const double p = shares_[static_cast<size_t>(drawn)];
        key_value(ui, "Probability##probability", plain_number(100 * p, 2), "%");
        key_value(ui, "Surprise##surprise", plain_number(-std::log2(p), 2), "bit");
        key_value(ui, "Entropy##entropy", plain_number(entropy_bits(shares_), 2), "bit");
    }
    const int64_t original = original_level(ui, completion, position);
    if (original >= 0) key_value(ui, "Original level##original_level", std::to_string(original));
    ImGui::Dummy({1, ui.px(4)});
    int64_t level = choice.level >= 0 ? choice.level : drawn;
    if (choose_level(ui, drawn, level)) {
        choice.position = position;
        choice.level = level;
    }
    (void)action_button(ui, "complete.from_here");
    ImGui::SameLine(0, ui.px(8));
    (void)action_button(ui, "complete.look_from_here", ButtonKind::icon);
}

void PlayPanel::draw(Ui& ui) {
    if (!ui.status.task.is_autoregressive || !ui.has_model()) {
        hint(ui, "Completions of a model are played here, value by value.");
        return;
    }
    const auto completion = completion_of(ui);
    if (!completion || completion->samples.empty()) {
        hint(ui,
             "A completion is played here in the order of generation: the distribution at each "
             "position, what was drawn, and another value to continue from.");
        return;
    }
    const FilledPositions filled = filled_positions(*completion);
    if (!played_.now || played_.now->id != completion->id) {
        played_.before = std::exchange(played_.now, completion);
        playing_ = false;
    }
    played_.now = completion;
    advance(ui, filled);
    const int64_t position = position_looked_at(ui, *completion);
    const auto found = std::find(filled.at.begin(), filled.at.end(), position);
    place_ = found == filled.at.end() ? -1 : found - filled.at.begin();
    // The line at the pane's top; its words stand below the track.
    if (position >= 0 && shares_.empty() && watch_.error().empty()) (void)progress_line(ui, "", -1);
    const float side = ui.px(216), available = ImGui::GetContentRegionAvail().x;
    const bool has_side = available > ui.px(520);
    // The child begins higher than what it shows: the track's grip stands out above it.
    const float above = ui.px(8);
    const float rest = std::max(ui.px(150), ImGui::GetContentRegionAvail().y);
    const ImVec2 walk =
        has_side ? ImVec2(available - side - ui.px(16), 0) : ImVec2(available, rest + above);
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() - above);
    if (ImGui::BeginChild("walk", walk, ImGuiChildFlags_NavFlattened)) {
        ImGui::SetCursorPosY(ImGui::GetCursorPosY() + above);
        draw_transport(ui, *completion, filled);
        if (position >= 0) {
            ask(ui, *completion);
            draw_distribution(ui, *completion);
        }
    }
    ImGui::EndChild();
    if (position < 0) return;
    if (!has_side) return draw_reading(ui, *completion, filled);  // below: the pane scrolls
    ImGui::SameLine(0, ui.px(16));
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + above);
    if (ImGui::BeginChild("reading", {side, 0}, ImGuiChildFlags_NavFlattened))
        draw_reading(ui, *completion, filled);
    ImGui::EndChild();
}

}  // namespace

PanelRoom play_panel() {
    return {{"Play", "a completion value by value: what the model expected, and what if"},
            "play",
            icon::play,
            "Walk through the completion in the order of generation. Click a bar or type a level, "
            "then Continue from here draws the rest again.",
            {{Workspace::complete, Slot::below, 0}},
            make_panel<PlayPanel>};
}

}  // namespace aft::app
