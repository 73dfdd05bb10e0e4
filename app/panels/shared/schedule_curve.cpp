#include "app/panels/shared/schedule_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "app/widgets/text.h"
#include "app/widgets/tooltip.h"
#include "core/text.h"
#include "model/jobs/schedule.h"

namespace aft::app {
namespace {

constexpr float kHeight = 56, kPad = 4;

std::string rate_at(const ComingRates& rates, size_t i) {
    return fmt::format("{} at step {}", significant(rates.rates[i], 3),
                       group_thousands(std::llround(rates.steps[i])));
}

std::string schedule_words(const ComingRates& rates) {
    const std::string end = rate_at(rates, rates.rates.size() - 1);
    if (rates.peak == rates.rates.front() && rates.peak == rates.rates.back())
        return fmt::format("{} up to step {}", significant(rates.peak, 3),
                           group_thousands(std::llround(rates.steps.back())));
    return fmt::format("peak {} at step {}, at the end {}", significant(rates.peak, 3),
                       group_thousands(rates.peak_step), end);
}

std::vector<ImVec2> points_of(const ComingRates& rates, const viz::Box& box) {
    const double first = rates.steps.front();
    const double span = std::max(1.0, rates.steps.back() - first);
    const double top = rates.peak > 0 ? rates.peak : 1;
    std::vector<ImVec2> points;
    for (size_t i = 0; i < rates.steps.size(); ++i)
        points.emplace_back(
            box.low.x + static_cast<float>((rates.steps[i] - first) / span) * box.width(),
            box.high.y - static_cast<float>(rates.rates[i] / top) * box.height());
    return points;
}

// The step below the pointer.
size_t pointed(const ComingRates& rates, const viz::Box& box) {
    const float share = (ImGui::GetIO().MousePos.x - box.low.x) / std::max(1.0F, box.width());
    const double step = rates.steps.front() + std::clamp(double(share), 0.0, 1.0) *
                                                  (rates.steps.back() - rates.steps.front());
    const auto at = std::lower_bound(rates.steps.begin(), rates.steps.end(), step);
    return std::min(size_t(at - rates.steps.begin()), rates.steps.size() - 1);
}

}  // namespace

void draw_schedule(DrawContext& ui, const TrainConfig& train, int64_t from, int64_t until) {
    const ComingRates rates = coming_rates(train, from, until);
    if (rates.steps.empty()) return;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{ImGui::GetContentRegionAvail().x, ui.px(kHeight)};
    const ImVec2 end{at.x + size.x, at.y + size.y};
    ImDrawList* const draw = ImGui::GetWindowDrawList();
    draw->AddRectFilled(at, end, ui.theme.field, ui.px(4));
    if (ui.theme.is_outlined()) draw->AddRect(at, end, ui.theme.line, ui.px(4));
    const viz::Box box{{at.x + ui.px(kPad), at.y + ui.px(kPad)},
                       {end.x - ui.px(kPad), end.y - ui.px(kPad)}};
    const std::vector<ImVec2> points = points_of(rates, box);
    draw->AddPolyline(points.data(), static_cast<int>(points.size()), ui.theme.series[0], 0,
                      ui.px(2));
    ImGui::Dummy(size);
    const std::string words = schedule_words(rates);
    ui.recorder.item("curve", ui.recorder.claim("Coming learning rate##schedule"), words);
    tooltip(ui, {.name = "Coming learning rate",
                 .sentence = "Warm-up and schedule as training takes them: " +
                             rate_at(rates, pointed(rates, box)) + "."});
    hint(ui, "Learning rate: " + words + ".");
}

}  // namespace aft::app
