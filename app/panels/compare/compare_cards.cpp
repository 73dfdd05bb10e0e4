#include "app/panels/compare/compare_cards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "app/state/open_path.h"
#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "app/widgets/number_text.h"
#include "app/widgets/text.h"
#include "core/text.h"
#include "model/jobs/summary.h"
#include "viz/label_color.h"

namespace aft::app {

namespace {

constexpr float kCard = 66, kCardGap = 8, kAdd = 124;  // pixels at scale 1

// "training 1.234 bits/dim": what was logged last at the slot's step or before it.
std::string slot_metric(const PaneContext& ui, const ComparedSlot& slot) {
    if (slot.status == nullptr) return "";
    const Curves& curves = slot.stored ? slot.stored->curves : *ui.curves;
    const auto found = curves.columns.find(slot.status->task.metric);
    double value = slot.status->metric;
    if (found != curves.columns.end() && !curves.step.empty()) {
        const auto after =
            std::upper_bound(curves.step.begin(), curves.step.end(), double(slot.step));
        auto row = std::min(size_t(after - curves.step.begin()), found->second.size());
        value = std::nan("");
        while (row-- > 0 && !std::isfinite(value)) value = found->second[row];
    }
    if (!std::isfinite(value)) return "";
    return "training " + short_value(value, 3) + " " + slot.status->metric_words;
}

}  // namespace

void CompareCards::draw_step(PaneContext& ui, const ComparedSlot& slot, size_t index, float width) {
    CompareSlot& choice = ui.selection.compare.slots[index];
    const bool is_open = choice.is_open();
    std::vector<std::string> list = {
        is_open ? fmt::format("As shown, step {}##shown", group_thousands(slot.step))
        : slot.steps.empty()
            ? std::string("Newest##newest")
            : fmt::format("Newest, step {}##newest", group_thousands(slot.steps.back()))};
    for (const int64_t step : slot.steps)
        list.push_back(fmt::format("step {}##{}", group_thousands(step), step));
    int chosen = 0;
    for (size_t i = 0; i < slot.steps.size(); ++i)
        if (choice.step >= 0 && slot.steps[i] == choice.step) chosen = int(i) + 1;
    const std::string why = !slot.error.empty()      ? slot.error
                            : slot.status == nullptr ? "This model is being read."
                                                     : "";
    if (!combo(ui, slot_name("Step", "step", slot, index), chosen,
               {.list = list, .width = width, .why_not = why}))
        return;
    if (is_open && chosen > 0) choice.path = ui.status.path;
    choice.step = chosen == 0 ? -1 : slot.steps[size_t(chosen) - 1];
}

void CompareCards::draw_head(PaneContext& ui, const ComparedSlot& slot, size_t index, float width) {
    CompareSlot& choice = ui.selection.compare.slots[index];
    std::vector<std::string> list = {index == 0 ? "Selected head##selected"
                                                : "Matched head##matched"};
    for (int64_t head = 0; head < slot.form->heads; ++head)
        list.push_back(fmt::format("head {0}##{0}", head));
    int chosen = int(std::clamp<int64_t>(choice.head, -1, slot.form->heads - 1)) + 1;
    if (combo(ui, slot_name("Head", "head", slot, index), chosen, {.list = list, .width = width}))
        choice.head = chosen - 1;
}

void CompareCards::draw_card(PaneContext& ui, const ComparedSlot& slot, size_t index, ImVec2 size) {
    CompareChoice& compare = ui.selection.compare;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 high = {at.x + size.x, at.y + size.y};
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->AddRectFilled(at, high, ui.theme.raised, ui.px(6));
    if (ui.theme.is_outlined()) list->AddRect(at, high, ui.theme.line, ui.px(6));
    text_at(ui, {at.x + ui.px(10), at.y + ui.px(8)}, slot.letter,
            {text_size::label,
             viz::label_color(ui.theme, ui.theme.series[index % ui.theme.series.size()],
                              ui.theme.raised),
             Face::semibold});
    // The name needs its space first; the action swaps, too.
    const bool has_swap = index > 0 && size.x > ui.px(190);
    const float tools = ui.px(has_swap ? 88 : 60);
    text_at(ui, {at.x + ui.px(28), at.y + ui.px(8)},
            slot.changes.empty() ? slot.name : slot.name + " after " + slot.changes,
            {text_size::label, ui.theme.text1, Face::medium,
             std::max(1.0F, size.x - ui.px(36) - tools)});
    ImGui::SetCursorScreenPos({high.x - tools, at.y + ui.px(3)});
    bool is_gone = false;
    recipes_.draw(ui, slot, index);
    ImGui::SameLine(0, ui.px(2));
    if (has_swap) {
        if (button(ui, {.name = slot_name("Swap", "swap", slot, index),
                        .icon = icon::swap,
                        .kind = ButtonKind::icon,
                        .tip = "Changes places with the slot at its left."}))
            std::swap(compare.slots[index - 1], compare.slots[index]);
        ImGui::SameLine(0, ui.px(2));
    }
    if (button(ui, {.name = slot_name("Remove", "remove", slot, index),
                    .icon = icon::close,
                    .kind = ButtonKind::icon,
                    .tip = "Takes this slot out of the comparison."}))
        is_gone = true;
    const float inner = (size.x - ui.px(16)) / ui.scale;
    const bool has_heads = slot.has_bias() && slot.form->heads > 1;
    const float width = has_heads ? (inner - 6) / 2 : std::min(inner, 220.0F);
    ImGui::SetCursorScreenPos({at.x + ui.px(8), at.y + ui.px(34)});
    draw_step(ui, slot, index, width);
    const std::string metric = slot_metric(ui, slot);
    const float used = ui.px(8 + width + 12);
    if (has_heads) {
        ImGui::SameLine(0, ui.px(6));
        draw_head(ui, slot, index, width);
    } else if (used + text_extent(ui, metric, text_size::hint).x + ui.px(10) < size.x) {
        text_right(ui, {high.x - ui.px(10), at.y + ui.px(40)}, metric,
                   {text_size::hint, ui.theme.text2});
    }
    ui.recorder.area({.kind = "card",
                      .path = ui.recorder.claim(slot_name("Slot", "slot", slot, index)),
                      .min = at,
                      .max = high,
                      .value = slot.error.empty()
                                   ? slot.words() + (metric.empty() ? "" : ", " + metric)
                                   : slot.error,
                      .why_not = {}});
    if (is_gone) compare.remove(index);
}

void CompareCards::draw_path(PaneContext& ui) {
    const auto take = [&](const std::string& path) -> std::string {
        const Opening opening = classify_path(path, true);
        if (opening.kind == Opening::picture)
            return path + ": a picture; a run folder or a checkpoint can be compared";
        if (opening.kind == Opening::view)
            return path + ": a saved view; a run folder or a checkpoint can be compared";
        if (opening.kind != Opening::model) return opening.words;
        (void)ui.selection.compare.add({.path = path});
        return "";
    };
    if (!path_.draw(ui,
                    {.field = "Path##path",
                     .hint = "Run folder or checkpoint",
                     .icon = icon::folder,
                     .tip = "A run or a model that the list does not have.",
                     .button = "Add path##add_path",
                     .shown = "Add",
                     .button_tip = "Compares it too.",
                     .problem = "Path problem##path_problem",
                     .width = 330},
                    take))
        return;
    path_.clear();
    ImGui::CloseCurrentPopup();
}

void CompareCards::draw_list(PaneContext& ui, const CompareSlots& slots) {
    const PopupScope popup(ui, "add slot");
    if (!popup.is_open()) return;
    const size_t filled = ui.selection.compare.slots.size();
    // The last one was filled in another way meanwhile.
    if (filled >= CompareChoice::kMostSlots) return ImGui::CloseCurrentPopup();
    ImGui::Dummy({ui.px(420), 0});
    const auto add = [&](CompareSlot slot) {
        (void)ui.selection.compare.add(std::move(slot));
        ImGui::CloseCurrentPopup();
    };
    const auto line = [&](const WidgetName& name, std::string_view words, std::string_view more) {
        const Row row_of = row(ui, name, {.height = 26});
        text_at(ui, {row_of.min.x + ui.px(10), row_of.min.y + ui.px(5)}, words,
                {text_size::label, ui.theme.text1, Face::regular, ui.px(260)});
        text_right(ui, {row_of.max.x - ui.px(10), row_of.min.y + ui.px(6)}, more,
                   {text_size::hint, ui.theme.text3});
        return row_of.pressed;
    };
    for (size_t i = 0; i < std::min(slots.size(), filled); ++i) {
        const ComparedSlot& slot = slots.at(i);
        if (slot.steps.size() < 2) continue;
        const std::string& path = slot.choice.is_open() ? ui.status.path : slot.choice.path;
        if (line({"Another step of " + slot.letter, slot_id("another_step", i)},
                 "Another step of " + slot.letter, slot.name))
            add({.path = path, .step = slot.steps.front()});
    }
    const bool has_open =
        std::any_of(slots.all().begin(), slots.all().end(),
                    [](const ComparedSlot& s) { return s.choice.is_open() && s.changes.empty(); });
    if (ui.has_model() && !has_open &&
        line("What is open##what_is_open", "What is open", ui.status.name))
        add({});
    if (Recipe active = ui.selection.lab.active(); ui.has_model() && !active.is_untouched()) {
        CompareSlot changed{.recipe = std::move(active)};
        const std::string words = recipe_words(changed);
        if (line("What the Lab shows##what_the_lab_shows", "What the Lab shows", words))
            add(std::move(changed));
    }
    for (const std::string& path : runs_.paths(ui))
        if (line(WidgetName::data(path), shown_name(path), "")) add({.path = path});
    draw_path(ui);
    ImGui::Dummy({ui.px(4), ui.px(6)});
}

void CompareCards::draw(PaneContext& ui, const CompareSlots& slots) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float all = ImGui::GetContentRegionAvail().x, gap = ui.px(kCardGap);
    const auto count = float(std::max<size_t>(1, slots.size()));
    const float width = std::min(ui.px(420), std::floor((all - ui.px(kAdd) - gap * count) / count));
    const ImVec2 size = {std::max(ui.px(120), width), ui.px(kCard)};
    for (size_t i = 0; i < slots.size(); ++i) {
        ImGui::SetCursorScreenPos({at.x + float(i) * (size.x + gap), at.y});
        if (i < ui.selection.compare.slots.size()) draw_card(ui, slots.at(i), i, size);
    }
    ImGui::SetCursorScreenPos({at.x + float(slots.size()) * (size.x + gap), at.y + ui.px(20)});
    const bool is_full = ui.selection.compare.slots.size() >= CompareChoice::kMostSlots;
    const bool pressed = button(ui, {.name = "Add slot##add_slot",
                                     .icon = icon::plus,
                                     .kind = ButtonKind::ghost,
                                     .why_not = is_full ? "Four slots are compared at most." : "",
                                     .tip = "Another step, run or checkpoint beside these."});
    if (pressed || (std::exchange(opens_, false) && !is_full)) {
        runs_.look();
        ImGui::OpenPopup("add slot");
    }
    draw_list(ui, slots);
    if (runs_.is_looking()) ui.want_frame_at(ui.time + 0.05);
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy({all, ui.px(kCard)});
}

}  // namespace aft::app
