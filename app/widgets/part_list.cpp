#include "app/widgets/part_list.h"

#include <algorithm>
#include <vector>

#include "app/widgets/buttons.h"
#include "app/widgets/combo.h"
#include "core/text.h"

namespace aft::app {

namespace {

std::vector<std::string> names_in(const std::string& text) {
    std::vector<std::string> names;
    for (std::string name : split(text, ',')) {
        std::erase(name, ' ');
        if (!name.empty()) names.push_back(std::move(name));
    }
    return names;
}

std::string by_commas(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
    return text;
}

}  // namespace

std::optional<std::string> part_list(DrawContext& ui, const PartList& spec,
                                     const std::string& text) {
    const std::string popup_id = "parts of " + spec.name.id;
    if (button(ui, {.name = {"Choose", spec.name.id + "_parts"},
                    .icon = icon::down,
                    .kind = ButtonKind::icon,
                    .why_not = spec.why_not,
                    .tip = spec.tip}))
        ImGui::OpenPopup(popup_id.c_str());
    const PopupScope popup(ui, popup_id.c_str());
    if (!popup.is_open()) return std::nullopt;
    ImGui::Dummy({ui.px(180), 0});  // a switch takes what there is for its words
    std::vector<std::string> names = names_in(text);
    bool is_changed = false;
    for (const std::string& part : spec.parts) {
        const auto found = std::find(names.begin(), names.end(), part);
        bool on = found != names.end();
        if (!toggle(ui, {part, spec.name.id + "_" + part}, on,
                    {.words = part, .tip = "Adds this name to the list, or takes it out."}))
            continue;
        is_changed = true;
        if (on)
            names.push_back(part);
        else
            names.erase(found);
        break;
    }
    return is_changed ? std::optional(by_commas(names)) : std::nullopt;
}

}  // namespace aft::app
