#include "app/frame/cards/palette.h"

#include <fmt/format.h>

#include <imgui_internal.h>

#include <algorithm>
#include <cctype>

#include "app/frame/cards/overlays.h"
#include "app/widgets/combo.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"

namespace aft::app {

namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

// 0 = no match; higher = better. Every word of the query must occur in the name or the sentence.
int match(const Action& action, const std::string& query) {
    const std::string name = lower(action.name), sentence = lower(action.sentence);
    int score = 1;
    size_t at = 0;
    while (at < query.size()) {
        const size_t end = std::min(query.find(' ', at), query.size());
        const std::string word = query.substr(at, end - at);
        at = end + 1;
        if (word.empty()) continue;
        const size_t in_name = name.find(word);
        if (in_name == std::string::npos && sentence.find(word) == std::string::npos) return 0;
        if (in_name != std::string::npos) score += in_name == 0 ? 8 : 4;
    }
    return score;
}

std::vector<const Action*> matching(const Ui& ui, const std::string& query) {
    std::vector<std::pair<int, const Action*>> found;
    for (const Action& action : ui.actions.all())
        if (const int score = match(action, query); score > 0) found.emplace_back(score, &action);
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<const Action*> out;
    for (const auto& [score, action] : found) out.push_back(action);
    return out;
}

}  // namespace

void Palette::draw_row(Ui& ui, const Action& action, bool chosen) {
    const std::string why = ui.actions.why_not(ui, action.id);
    const Row line = row(ui, {action.name, action.id}, {40, chosen});
    ui.recorder.runs_action(action.id);
    const float middle = (line.min.y + line.max.y) / 2;
    const ImU32 ink = why.empty() ? ui.theme.text1 : ui.theme.text3;
    icon_at(ui, {line.min.x + ui.px(20), middle}, action.icon,
            {text_size::icon, chosen ? ui.theme.accent : ui.theme.text2});
    const float x = line.min.x + ui.px(40);
    text_at(ui, {x, line.min.y + ui.px(3)}, action.name, {text_size::body, ink, Face::medium});
    text_at(
        ui, {x, line.min.y + ui.px(21)}, why.empty() ? action.sentence : why,
        {text_size::hint, why.empty() ? (chosen ? ui.theme.text2 : ui.theme.text3) : ui.theme.warn,
         Face::regular, line.max.x - x - ui.px(110)});
    draw_keys(ui, line.max.x - ui.px(10), middle, action.shortcut);
    if (!line.pressed) return;
    is_open_ = false;
    ui.actions.run(ui, action.id);
}

void Palette::draw(Ui& ui, ImVec2 display) {
    if (!is_open_) return;
    const std::vector<const Action*> found = matching(ui, lower(query_));
    const auto rows = static_cast<float>(std::clamp<size_t>(found.size(), 1, 9));
    const float width = std::min(ui.px(640), display.x - ui.px(32));
    const OverlayScope card(ui, "Palette card", {std::floor((display.x - width) / 2), ui.px(112)},
                            {width, ui.px(6 + 42 + 40 * rows + 8 + 36)});
    const int count = static_cast<int>(found.size());
    if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) chosen_ = std::min(chosen_ + 1, count - 1);
    if (ImGui::IsKeyPressed(ImGuiKey_UpArrow)) chosen_ = std::max(chosen_ - 1, 0);
    if (card.is_left() || ImGui::IsKeyPressed(ImGuiKey_Escape)) is_open_ = false;
    const std::string words =
        fmt::format("{} of {} actions", found.size(), ui.actions.all().size());
    const ImVec2 at = ImGui::GetCursorScreenPos();
    icon_at(ui, {at.x + ui.px(20), at.y + ui.px(18)}, icon::search,
            {text_size::icon_bar, ui.theme.text2});
    text_right(ui, {at.x + width - ui.px(24), at.y + ui.px(11)}, words,
               {text_size::hint, ui.theme.text3});
    ImGui::SetCursorScreenPos({at.x + ui.px(40), at.y + ui.px(4)});
    if (is_new_) ImGui::SetKeyboardFocusHere();
    const WidgetPath path = ui.recorder.claim("Search##search");
    const std::string before = query_;
    const auto set = ui.recorder.scripted.take(path);
    if (set) query_ = *set;
    const bool entered = input_text(ui, path.id.c_str(), query_,
                                    {.width = width - ui.px(200),
                                     .height = 28,
                                     .is_plain = true,
                                     .is_set = set.has_value(),
                                     .hint = "Search actions"});
    ui.recorder.item("text", path, query_);
    if (query_ != before) chosen_ = 0;
    is_new_ = false;
    ImGui::SetCursorScreenPos({at.x, at.y + ui.px(42)});
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    ImGui::BeginChild("rows", {0, ui.px(40 * rows + 4)}, ImGuiChildFlags_NavFlattened);
    for (int i = 0; i < count; ++i) {
        draw_row(ui, *found[static_cast<size_t>(i)], i == chosen_);
        if (i == chosen_ &&
            (ImGui::IsKeyPressed(ImGuiKey_DownArrow) || ImGui::IsKeyPressed(ImGuiKey_UpArrow)))
            ImGui::SetScrollHereY();
    }
    if (count == 0)
        text(ui, "No action matches. Try fewer letters.", {text_size::label, ui.theme.text2});
    ImGui::EndChild();
    ImGui::PopStyleVar();
    draw_card_foot(ui, "\u2191 \u2193 choose      Enter runs      Esc closes");
    if (!entered || chosen_ >= count) return;
    is_open_ = false;
    ui.actions.run(ui, found[static_cast<size_t>(chosen_)]->id);
}

}  // namespace aft::app
