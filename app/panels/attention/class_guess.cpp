#include "app/panels/attention/class_guess.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/panels/attention/attention_numbers.h"
#include "app/panels/shared/sample_input.h"
#include "app/widgets/text.h"
#include "core/text.h"

namespace aft::app {

namespace {

std::string class_name(const ModelView& ui, int64_t index) {
    const auto& names = ui.status.class_names;
    return index >= 0 && index < int64_t(names.size()) ? names[size_t(index)]
                                                       : fmt::format("class {}", index);
}

// The share of a row that is filled, below its words; a share of less than a pixel has its number
// alone.
void probability_bar(const DrawContext& ui, double share, bool is_chosen) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float all = ImGui::GetContentRegionAvail().x, width = all * static_cast<float>(share);
    const float high = at.y + ui.px(2);
    ImDrawList* const list = ImGui::GetWindowDrawList();
    list->AddRectFilled(at, {at.x + all, high}, ui.theme.line);
    if (width >= 1)
        list->AddRectFilled(at, {at.x + width, high}, is_chosen ? ui.theme.accent : ui.theme.text3);
    const ImVec2 spacing = ImGui::GetStyle().ItemSpacing;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(spacing.x, 0));
    ImGui::Dummy({all, ui.px(6)});
    ImGui::PopStyleVar();
}

}  // namespace

std::vector<int64_t> likely_classes(std::span<const float> log_probabilities, size_t most,
                                    int64_t always) {
    std::vector<int64_t> order(log_probabilities.size());
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return log_probabilities[size_t(a)] > log_probabilities[size_t(b)];
    });
    const auto place = std::find(order.begin(), order.end(), always);
    if (order.size() <= most) return order;
    const bool is_beyond = place != order.end() && size_t(place - order.begin()) >= most;
    order.resize(most);
    if (is_beyond) order.push_back(always);
    return order;
}

void ClassGuess::draw(PaneContext& ui) {
    constexpr size_t kMost = 5;
    const auto& item = ui.selection.image.item;
    if (!ui.status.task.has_classes || !item || ui.session == nullptr) return;
    ProbeRequest request;
    request.probe = "predictions";
    request.step = ui.selection.step;
    request.tokens = item->tokens;
    AskTurn turn;
    (void)watch_.update(ui, request, turn);
    const bool is_current = watch_.is_current() && !watch_.fields()->fields.empty();
    section(ui, "Prediction##prediction",
            is_current ? "of the whole picture" : "computed once the picture rests");
    if (!watch_.error().empty()) {
        hint(ui, watch_.error());
        return;
    }
    // Until it is there dashes stand in its place: what is below it must not move.
    const std::vector<float> awaited(
        std::min(kMost, size_t(std::max<int64_t>(0, ui.status.config.model.outputs()))), 0.0F);
    const std::vector<float>& values =
        is_current ? watch_.fields()->fields.front().values : awaited;
    const std::vector<int64_t> order = likely_classes(values, kMost, item->label);
    if (order.empty()) return;
    key_value(ui, "Predicted##predicted", is_current ? class_name(ui, order.front()) : kAwaited);
    if (item->label >= 0) {
        const bool is_missed = is_current && item->label != order.front();
        key_value(ui, "True class##true_class",
                  class_name(ui, item->label) + (is_missed ? ", missed" : ""));
    }
    for (const int64_t index : order) {
        const double share = is_current ? std::exp(double(values[size_t(index)])) : 0;
        key_value(ui, {class_name(ui, index), fmt::format("class_{}", index)},
                  is_current ? plain_number(100 * share, 2) : kAwaited, is_current ? "%" : "");
        probability_bar(ui, share, is_current && index == order.front());
    }
}

}  // namespace aft::app
