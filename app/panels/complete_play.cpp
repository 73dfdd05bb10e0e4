// Play: runs through the order in which a sample was drawn; at any place the distribution over
// levels, the chosen one, and going on from there with another.
#include <algorithm>
#include <cmath>

#include "app/panels/complete_common.h"
#include "app/ui/icons.h"
#include "app/ui/panel.h"
#include "app/ui/parts.h"
#include "app/ui/widgets.h"
#include "core/text.h"
#include "viz/curves.h"

namespace aft::app {
namespace {

class PlayPanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void actions(Actions& actions) override;

  private:
    void draw_track(Ui& ui, const Completion& completion, float width);
    void draw_distribution(Ui& ui, const Completion& completion, float width);
    void draw_numbers(Ui& ui, const Completion& completion);
    void read_distribution(Ui& ui, const Completion& completion);
    std::vector<double> probabilities_;  // of the place shown; empty while it is computed
    int64_t probabilities_at_ = -1;
    uint64_t probabilities_of_ = 0;
};

// Next or previous place that was drawn (not given).
void move_place(Ui& ui, int64_t by) {
    const auto done = ui.session ? ui.session->completion() : nullptr;
    if (!done || done->unknown.empty()) return;
    int64_t at = play_position(ui, *done);
    const int64_t end =
        std::min<int64_t>(done->position, static_cast<int64_t>(done->unknown.size()));
    do at += by;
    while (at >= 0 && at < end && !done->unknown[static_cast<size_t>(at)]);
    if (at < 0 || at >= end) return;
    ui.selection.completion.position = at;
    ui.selection.completion.level = -1;
}

std::string nothing_to_play(const Ui& ui) {
    const auto done = ui.session ? ui.session->completion() : nullptr;
    return done && !done->samples.empty() ? "" : "nothing has been completed yet";
}

void PlayPanel::actions(Actions& actions) {
    actions.add({.name = "Next drawn value",
                 .sentence = "Looks at the value that was drawn next.",
                 .icon = icon::step,
                 .shortcut = {},
                 .menu = {},
                 .why_not = nothing_to_play,
                 .run = [](Ui& ui) { move_place(ui, 1); },
                 .repeats = true});
    actions.add({.name = "Previous drawn value",
                 .sentence = "Looks at the value that was drawn before.",
                 .icon = icon::step_back,
                 .shortcut = {},
                 .menu = {},
                 .why_not = nothing_to_play,
                 .run = [](Ui& ui) { move_place(ui, -1); },
                 .repeats = true});
}

void PlayPanel::draw(Ui& ui) {
    const auto completion = can_complete(ui) ? ui.session->completion() : nullptr;
    if (!completion || completion->samples.empty()) {
        hint(ui, "The order of drawing appears here when a completion has started.");
        return;
    }
    CompletionChoice& choice = ui.selection.completion;
    choice.chosen =
        std::clamp<int64_t>(choice.chosen, 0, static_cast<int64_t>(completion->samples.size()) - 1);
    read_distribution(ui, *completion);
    const float side = ui.px(230), room = ImGui::GetContentRegionAvail().x;
    const float left = room > ui.px(560) ? room - side - ui.px(24) : room;
    ImGui::BeginChild("left", {left, 0});
    draw_track(ui, *completion, left);
    draw_distribution(ui, *completion, left);
    ImGui::EndChild();
    if (left == room) return;
    ImGui::SameLine(0, ui.px(24));
    ImGui::BeginChild("right", {side, 0});
    draw_numbers(ui, *completion);
    ImGui::EndChild();
}

void PlayPanel::draw_track(Ui& ui, const Completion& completion, float width) {
    action_button(ui, "Previous drawn value", ButtonKind::icon);
    ImGui::SameLine(0, ui.px(4));
    action_button(ui, "Next drawn value", ButtonKind::icon);
    ImGui::SameLine(0, ui.px(12));
    const float track = width - ui.px(76);
    const auto& entropy = completion.entropy[static_cast<size_t>(ui.selection.completion.chosen)];
    const auto total = static_cast<float>(std::max<size_t>(completion.unknown.size(), 1));
    const Region area = region(ui, "track", "Order of drawing", {track, ui.px(26)},
                               group_thousands(play_position(ui, completion)));
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddRectFilled(area.min, area.max, ui.theme.raised);
    const float highest = std::log2(static_cast<float>(shape_of(ui).levels));
    const auto columns = static_cast<size_t>(track);
    for (size_t x = 0; x < columns; ++x) {  // the largest entropy of each pixel column
        const size_t from = x * entropy.size() / columns,
                     to = std::max(from + 1, (x + 1) * entropy.size() / columns);
        float top = 0;
        for (size_t t = from; t < to && t < entropy.size(); ++t)
            if (std::isfinite(entropy[t])) top = std::max(top, entropy[t]);
        if (top <= 0) continue;
        const float at = area.min.x + static_cast<float>(x);
        draw->AddRectFilled({at, area.max.y - ui.px(26) * std::min(top / highest, 1.0F)},
                            {at + 1, area.max.y}, ui.theme.text3);
    }
    const float handle =
        area.min.x + track * (static_cast<float>(play_position(ui, completion)) + 0.5F) / total;
    draw->AddRectFilled({handle - ui.px(1), area.min.y - ui.px(3)},
                        {handle + ui.px(1), area.max.y + ui.px(3)}, ui.theme.accent);
    if (area.held) {
        const auto at =
            static_cast<int64_t>(std::clamp(area.mouse.x / track, 0.0F, 0.9999F) * total);
        ui.selection.completion.position =
            std::min<int64_t>(at, std::max<int64_t>(completion.position - 1, 0));
        ui.selection.completion.level = -1;
    }
}

void PlayPanel::read_distribution(Ui& ui, const Completion& completion) {
    const int64_t at = play_position(ui, completion);
    const auto& tokens = completion.samples[static_cast<size_t>(ui.selection.completion.chosen)];
    const auto known =
        static_cast<size_t>(std::min<int64_t>(at, static_cast<int64_t>(tokens.size())));
    ProbeRequest request{.probe = "predictions",
                         .step = ui.selection.step,
                         .position = at,
                         .options = {{"position", std::to_string(at)}},
                         .tokens = tokens};
    std::fill(request.tokens.begin() + static_cast<ptrdiff_t>(known), request.tokens.end(),
              uint8_t{0});  // they cannot matter
    const FieldSetPtr set = ui.session->ask(request, false);
    const uint64_t of =
        completion.id * 1000 + static_cast<uint64_t>(ui.selection.completion.chosen);
    if (set && !set->fields.empty()) {
        const Field& field = set->fields[0];
        probabilities_.clear();
        for (const float value : field.values)
            probabilities_.push_back(std::exp(static_cast<double>(value)));
        probabilities_at_ = at;
        probabilities_of_ = of;
    } else if (probabilities_at_ != at || probabilities_of_ != of) {
        probabilities_.clear();
    }
}

void PlayPanel::draw_distribution(Ui& ui, const Completion& completion, float width) {
    caption(ui, fmt::format("Distribution over {} levels", shape_of(ui).levels),
            fmt::format("sample {}; click a level to go on with it",
                        ui.selection.completion.chosen + 1));
    if (probabilities_.empty()) {
        hint(ui, "Computing ...");
        return;
    }
    const int64_t at = play_position(ui, completion);
    const auto& tokens = completion.samples[static_cast<size_t>(ui.selection.completion.chosen)];
    const int64_t level = ui.selection.completion.level >= 0 ? ui.selection.completion.level
                                                             : tokens[static_cast<size_t>(at)];
    const float height = std::max(ImGui::GetContentRegionAvail().y, ui.px(80));
    const int clicked = viz::draw_bars({.id = "distribution",
                                        .values = probabilities_,
                                        .size = {width, height},
                                        .highlighted = static_cast<int>(level),
                                        .percent = true},
                                       ui.look);
    if (clicked >= 0) {
        ui.selection.completion.position = at;
        ui.selection.completion.level = clicked;
    }
}

void PlayPanel::draw_numbers(Ui& ui, const Completion& completion) {
    const int64_t at = play_position(ui, completion);
    const auto& tokens = completion.samples[static_cast<size_t>(ui.selection.completion.chosen)];
    const uint8_t value = tokens[static_cast<size_t>(at)];
    section(ui, position_words(ui, at),
            fmt::format("{} of {}", group_thousands(at),
                        group_thousands(static_cast<int64_t>(tokens.size()))),
            false);
    const bool given = !completion.unknown[static_cast<size_t>(at)];
    key_value(ui, given ? "Given level" : "Chosen level",
              is_text(ui) ? fmt::format("{} '{}'", value, token_text(ui, {&value, 1}))
                          : std::to_string(value));
    if (value < probabilities_.size()) {
        double entropy = 0;
        for (const double p : probabilities_)
            if (p > 0) entropy -= p * std::log2(p);
        key_value(ui, "Probability", plain_number(100 * probabilities_[value], 2), "%");
        key_value(ui, "Surprise",
                  plain_number(-std::log2(std::max(probabilities_[value], 1e-300)), 2), "bit");
        key_value(ui, "Entropy", plain_number(entropy, 2), "bit");
    }
    const auto original = picture(ui);
    if (!original.empty() && at < static_cast<int64_t>(original.size()))
        key_value(ui, "Original level", std::to_string(original[static_cast<size_t>(at)]));
    int64_t level = ui.selection.completion.level >= 0 ? ui.selection.completion.level : value;
    ImGui::Dummy({0, ui.px(4)});
    if (drag_field(ui,
                   {.name = "New level",
                    .min = 0,
                    .max = static_cast<double>(shape_of(ui).levels - 1),
                    .integer = true,
                    .prefix = "new level"},
                   level)) {
        ui.selection.completion.position = at;
        ui.selection.completion.level = level;
    }
    action_button(ui, "Continue from here", ButtonKind::normal);
}

}  // namespace

PanelRoom complete_play_panel() {
    return {
        .info = {"Play",
                 "The order in which a sample was drawn, and the distribution at any place of it."},
        .icon = icon::play,
        .help =
            "Drag along the track or click a pixel of a sample. A click on a bar chooses another "
            "level; Continue from "
            "here keeps all before it and draws the rest again.",
        .places = {{Workspace::complete, Slot::below, 0}},
        .make = [] { return std::unique_ptr<Panel>(std::make_unique<PlayPanel>()); }};
}

}  // namespace aft::app
