#include "app/panels/home/run_row.h"

#include <chrono>
#include <cmath>
#include <ctime>

#include "app/panels/shared/run_menu.h"
#include "app/state/icons.h"
#include "app/state/open_path.h"
#include "app/widgets/combo.h"
#include "app/widgets/number_text.h"
#include "app/widgets/text.h"
#include "core/text.h"

namespace aft::app {
namespace {

constexpr float kRowHeight = 104;  // pixels at scale 1, without the line below it

std::string age_words(int64_t changed) {
    const int64_t now = std::chrono::duration_cast<std::chrono::seconds>(
                            std::chrono::system_clock::now().time_since_epoch())
                            .count();
    const int64_t age = now - changed;
    if (changed <= 0) return "";
    if (age < 90) return "now";
    if (age < 3600) return fmt::format("{} min ago", age / 60);
    if (age < 86400) return fmt::format("{} h ago", age / 3600);
    if (age < 2 * 86400) return "yesterday";
    if (age < 14 * 86400) return fmt::format("{} days ago", age / 86400);
    const std::time_t time = changed;
    char words[32] = "";
    std::strftime(words, sizeof words, "%e %b %Y", std::localtime(&time));
    return words;
}

void sparkline(DrawContext& ui, const std::vector<float>& values, ImVec2 min, ImVec2 size) {
    if (values.size() < 2) return;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    draw->AddLine({min.x, min.y + size.y}, {min.x + size.x, min.y + size.y}, ui.theme.line,
                  ui.px(1));
    float low = values[0], high = values[0];
    for (const float v : values)
        if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
    const float span = high > low ? high - low : 1;
    std::vector<ImVec2> points;
    for (size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) continue;
        const float x = static_cast<float>(i) / static_cast<float>(values.size() - 1);
        points.push_back(
            {min.x + x * size.x, min.y + (1 - (values[i] - low) / span) * (size.y - ui.px(2))});
    }
    draw->AddPolyline(points.data(), static_cast<int>(points.size()), ui.theme.text2, 0,
                      1.5F * ui.scale);
}

// "validation 0.969 bits/dim", one word a line, that ends at `at.x`.
void draw_metric(DrawContext& ui, const RunSummary& run, ImVec2 at) {
    if (!std::isfinite(run.metric)) return;
    const size_t gap = run.metric_words.find(' ');
    const std::string part = run.metric_words.substr(0, gap);
    const std::string unit = run.metric_words.substr(gap + 1);
    const std::string number = short_value(run.metric, 3);
    text_right(ui, {at.x, at.y + ui.px(10)}, part, {text_size::hint, ui.theme.text3});
    text_right(ui, {at.x, at.y + ui.px(28)}, number,
               {text_size::empty, ui.theme.text1, Face::semibold});
    text_right(ui, {at.x, at.y + ui.px(54)}, unit, {text_size::hint, ui.theme.text3});
    ui.recorder.area({.kind = "value",
                      .path = ui.recorder.claim({"Metric of " + run.path, "metric:" + run.path}),
                      .min = {at.x - ui.px(70), at.y + ui.px(10)},
                      .max = {at.x, at.y + ui.px(70)},
                      .value = part + " " + number + " " + unit,
                      .why_not = {}});
}

void draw_run_words(DrawContext& ui, const RunSummary& run, ImVec2 at) {
    const float available = ui.px(380);
    text_at(ui, at, run.name, {text_size::body, ui.theme.text1, Face::semibold, available});
    if (!run.error.empty()) {
        icon_at(ui, {at.x + ui.px(8), at.y + ui.px(36)}, icon::error,
                {text_size::icon_inline, ui.theme.error});
        text_at(ui, {at.x + ui.px(22), at.y + ui.px(28)}, run.error,
                {text_size::hint, ui.theme.error, Face::regular, available});
        return;
    }
    text_at(ui, {at.x, at.y + ui.px(24)}, run.what,
            {text_size::label, ui.theme.text2, Face::regular, available});
    const bool running = run.state == "running", paused = run.state == "paused";
    const bool failed = run.state == "failed";
    const ImU32 color = running  ? ui.theme.ok
                        : paused ? ui.theme.warn
                        : failed ? ui.theme.error
                                 : ui.theme.text3;
    const char* mark = running                    ? icon::play
                       : failed                   ? icon::error
                       : paused                   ? icon::pause
                       : run.state == "model"     ? icon::file
                       : run.state == "stopped"   ? icon::stop
                       : run.state == "open here" ? icon::ring
                       : run.state == kSweepItem  ? icon::chart
                                                  : icon::check;
    icon_at(ui, {at.x + ui.px(8), at.y + ui.px(60)}, mark, {text_size::icon_inline, color});
    text_at(ui, {at.x + ui.px(22), at.y + ui.px(52)}, run.state, {text_size::hint, color});
    std::string steps = "step " + group_thousands(run.step);
    if (run.state != "finished" && run.state != "model" && run.target_step > 0)
        steps += " of " + group_thousands(run.target_step);
    if (run.state == kSweepItem)
        steps = fmt::format("{} of {} runs are done", run.step, run.target_step);
    text_at(ui, {at.x + ui.px(100), at.y + ui.px(52)}, steps, {text_size::hint, ui.theme.text3});
}

}  // namespace

float run_row_height(const DrawContext& ui) {
    return ui.px(kRowHeight) + ui.px(13) + 2 * ImGui::GetStyle().ItemSpacing.y;
}

bool draw_run_row(PaneContext& ui, const RunSummary& given, Thumbnail& thumbnail, float width) {
    RecentItem known = recent_item(given.path);  // as the settings name it
    known.name = given.name;
    if (given.state == kSweepItem) known.what = kSweepItem;
    RunSummary run = given;
    run.name = ui.settings.shown_name_of(known.path, given.name);
    if (const std::string tag = run_tag(ui, known.path); !tag.empty()) run.name += "  " + tag;
    ImGui::SetNextItemAllowOverlap();  // by its menu
    const Row item = row(ui, WidgetName::data(run.path),
                         {kRowHeight, false, run.error.empty() ? run.state : run.error});
    run_tooltip(ui, known.path, run.name);
    const ImVec2 thumb{item.min.x + ui.px(12), item.min.y + ui.px(12)};
    thumbnail.draw(ui, run.thumbnail, thumb, ui.px(80));
    draw_run_words(ui, run, {item.min.x + ui.px(110), item.min.y + ui.px(14)});
    const float right = item.min.x + width;
    if (width > ui.px(700))
        sparkline(ui, run.losses, {right - ui.px(330), item.min.y + ui.px(24)},
                  {ui.px(140), ui.px(54)});
    draw_metric(ui, run, {right - ui.px(86), item.min.y});
    text_right(ui, {right - ui.px(12), item.min.y + ui.px(30)}, age_words(run.changed),
               {text_size::hint, run.state == "running" ? ui.theme.ok : ui.theme.text3});
    hairline(ui);
    run_menu(ui, known, {right - ui.px(34), item.min.y + ui.px(3)});
    return item.pressed;
}

}  // namespace aft::app
