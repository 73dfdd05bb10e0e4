#include "app/panels/compare/compare_cards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "app/panels/compare/compare_maps.h"
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

// Pixels at scale 1. Where a card beside the whole words of the button would be narrower than
// kLeastCard, the button is an icon.
constexpr float kCard = 66, kStackedCard = 96, kMostCard = 420, kLeastCard = 300;
constexpr float kCardGap = 8, kAdd = 124, kAddIcon = 26;
constexpr float kListGap = 6, kListFrame = 36;  // between two lists; around the words of one

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

// "As shown, step 400", in few words "Shown, 400".
std::string first_step_words(const ComparedSlot& slot, int64_t step, bool is_short) {
    const char* const word = !slot.choice.is_open() ? "Newest" : is_short ? "Shown" : "As shown";
    if (step < 0) return word;
    if (is_short && slot.choice.is_open()) return "Step " + group_thousands(step);
    return fmt::format("{}, {}{}", word, is_short ? "" : "step ", group_thousands(step));
}

std::string first_head_words(size_t index, bool is_short) {
    return std::string(index == 0 ? "Selected" : "Matched") + (is_short ? "" : " head");
}

// Each slot has a column of maps of its own.
bool has_columns(const CompareChoice& compare, size_t slots) {
    const bool shows_pair =
        compare.view == CompareView::difference || compare.view == CompareView::ratio;
    return slots > 1 && (compare.view == CompareView::side_by_side || (shows_pair && slots == 2));
}

}  // namespace

CompareCards::CardLists CompareCards::card_lists(const PaneContext& ui, const ComparedSlot& slot,
                                                 size_t index, float width) {
    constexpr float kUsualStep = 160;
    const float inner = width / ui.scale - 16;
    const bool has_heads = slot.has_bias() && slot.form->heads > 1;
    const int64_t largest = slot.steps.empty() ? slot.step : std::max(slot.step, slot.steps.back());
    const auto needed = [&](const std::string& words) {
        return text_extent(ui, words, text_size::body).x / ui.scale + kListFrame;
    };
    const float half = (inner - kListGap) / 2;
    bool fits_stacked = false;  // in whole words
    for (const bool is_short : {false, true}) {
        const float step = needed(first_step_words(slot, largest, is_short));
        const float head = needed(first_head_words(index, is_short));
        fits_stacked |= !is_short && std::max(step, head) <= inner;
        if (!has_heads && (is_short || step <= inner))
            return {.is_short = is_short, .step = std::min(inner, std::max(step, kUsualStep))};
        if (!has_heads || step + kListGap + head > inner) continue;
        const float of_head = std::max(head, std::min(half, inner - kListGap - step));
        return {.is_short = is_short, .step = inner - kListGap - of_head, .head = of_head};
    }
    return {.is_short = !fits_stacked, .is_stacked = true, .step = inner, .head = inner};
}

void CompareCards::draw_step(PaneContext& ui, const ComparedSlot& slot, size_t index,
                             const CardLists& lists) {
    CompareSlot& choice = ui.selection.compare.slots[index];
    const bool is_open = choice.is_open();
    const int64_t first = is_open ? slot.step : slot.steps.empty() ? -1 : slot.steps.back();
    std::vector<std::string> list = {first_step_words(slot, first, lists.is_short) +
                                     (is_open ? "##shown" : "##newest")};
    for (const int64_t step : slot.steps)
        list.push_back(fmt::format("step {}##{}", group_thousands(step), step));
    int chosen = 0;
    for (size_t i = 0; i < slot.steps.size(); ++i)
        if (choice.step >= 0 && slot.steps[i] == choice.step) chosen = int(i) + 1;
    const std::string why = !slot.error.empty()      ? slot.error
                            : slot.status == nullptr ? "This model is being read."
                                                     : "";
    if (!combo(ui, slot_name("Step", "step", slot, index), chosen,
               {.list = list, .width = lists.step, .why_not = why}))
        return;
    if (is_open && chosen > 0) choice.path = ui.status.path;
    choice.step = chosen == 0 ? -1 : slot.steps[size_t(chosen) - 1];
}

void CompareCards::draw_head(PaneContext& ui, const ComparedSlot& slot, size_t index,
                             const CardLists& lists) {
    CompareSlot& choice = ui.selection.compare.slots[index];
    std::vector<std::string> list = {first_head_words(index, lists.is_short) +
                                     (index == 0 ? "##selected" : "##matched")};
    for (int64_t head = 0; head < slot.form->heads; ++head)
        list.push_back(fmt::format("head {0}##{0}", head));
    int chosen = int(std::clamp<int64_t>(choice.head, -1, slot.form->heads - 1)) + 1;
    if (combo(ui, slot_name("Head", "head", slot, index), chosen,
              {.list = list, .width = lists.head}))
        choice.head = chosen - 1;
}

void CompareCards::draw_card(PaneContext& ui, const ComparedSlot& slot, size_t index,
                             const CardLists& lists) {
    CompareChoice& compare = ui.selection.compare;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 high = {at.x + lists.card.x, at.y + lists.card.y};
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->AddRectFilled(at, high, ui.theme.raised, ui.px(6));
    if (ui.theme.is_outlined()) list->AddRect(at, high, ui.theme.line, ui.px(6));
    text_at(ui, {at.x + ui.px(10), at.y + ui.px(8)}, slot.letter,
            {text_size::label,
             viz::label_color(ui.theme, ui.theme.series[index % ui.theme.series.size()],
                              ui.theme.raised),
             Face::semibold});
    // The name needs its space first; the action swaps, too.
    const bool has_swap = index > 0 && lists.card.x > ui.px(190);
    const float tools = ui.px(has_swap ? 88 : 60);
    text_at(ui, {at.x + ui.px(28), at.y + ui.px(8)},
            slot.changes.empty() ? slot.name : slot.name + " after " + slot.changes,
            {text_size::label, ui.theme.text1, Face::medium,
             std::max(1.0F, lists.card.x - ui.px(36) - tools)});
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
    ImGui::SetCursorScreenPos({at.x + ui.px(8), at.y + ui.px(34)});
    draw_step(ui, slot, index, lists);
    const std::string metric = slot_metric(ui, slot);
    const float used = ui.px(8 + lists.step + 12);
    if (lists.head > 0) {
        const float down = lists.is_stacked ? kStackedCard - kCard : 0;
        const float across = lists.is_stacked ? 8 : 8 + lists.step + kListGap;
        ImGui::SetCursorScreenPos({at.x + ui.px(across), at.y + ui.px(34 + down)});
        draw_head(ui, slot, index, lists);
    } else if (used + text_extent(ui, metric, text_size::hint).x + ui.px(10) < lists.card.x) {
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

CompareCards::CardLine CompareCards::card_row(const PaneContext& ui, size_t slots, float all) {
    const CompareChoice& compare = ui.selection.compare;
    const float gap = ui.px(kCardGap), most = ui.px(kMostCard), least = ui.px(120);
    const auto count = float(std::max<size_t>(1, slots));
    if (has_columns(compare, slots)) {
        const size_t maps = ComparePictures::count(compare, slots);
        const MapColumns columns = map_columns(ui, maps, all);
        const float pitch = columns.width + columns.gap;
        if (maps > slots && columns.width >= least)
            return {.size = {std::min(most, columns.width), ui.px(kCard)},
                    .pitch = pitch,
                    .add = pitch * count};
        const bool is_short = columns.width - gap - ui.px(kAdd) < ui.px(kLeastCard);
        const float width = std::min(most, columns.width - gap - ui.px(is_short ? kAddIcon : kAdd));
        if (maps == slots && width >= least)
            return {.size = {width, ui.px(kCard)},
                    .pitch = pitch,
                    .add = pitch * (count - 1) + width + gap,
                    .is_add_short = is_short};
    }
    const float width =
        std::max(least, std::min(most, std::floor((all - ui.px(kAdd) - gap * count) / count)));
    return {.size = {width, ui.px(kCard)}, .pitch = width + gap, .add = (width + gap) * count};
}

void CompareCards::draw(PaneContext& ui, const CompareSlots& slots) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float all = ImGui::GetContentRegionAvail().x;
    CardLine cards = card_row(ui, slots.size(), all);
    std::vector<CardLists> lists;
    for (size_t i = 0; i < slots.size(); ++i) {
        lists.push_back(card_lists(ui, slots.at(i), i, cards.size.x));
        if (lists.back().is_stacked) cards.size.y = ui.px(kStackedCard);
    }
    for (size_t i = 0; i < slots.size(); ++i) {
        lists[i].card = cards.size;
        ImGui::SetCursorScreenPos({at.x + float(i) * cards.pitch, at.y});
        if (i < ui.selection.compare.slots.size()) draw_card(ui, slots.at(i), i, lists[i]);
    }
    ImGui::SetCursorScreenPos({at.x + cards.add, at.y + ui.px(20)});
    const bool is_full = ui.selection.compare.slots.size() >= CompareChoice::kMostSlots;
    const bool pressed =
        button(ui, {.name = "Add slot##add_slot",
                    .icon = icon::plus,
                    .kind = cards.is_add_short ? ButtonKind::icon : ButtonKind::ghost,
                    .why_not = is_full ? "Four slots are compared at most." : "",
                    .tip = "Another step, run or checkpoint beside these."});
    if (pressed || (std::exchange(opens_, false) && !is_full)) {
        runs_.look();
        ImGui::OpenPopup("add slot");
    }
    draw_list(ui, slots);
    if (runs_.is_looking()) ui.want_frame_at(ui.time + 0.05);
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy({all, cards.size.y});
}

}  // namespace aft::app
