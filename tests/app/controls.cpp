// What counts as a control, whether it can be hit, and what is typed into fields.
#include <imgui_internal.h>

#include <cctype>

#include "tests/app/frame/clicks.h"

namespace aft::app {

bool is_uncovered(const WidgetRecord& widget) {
    const ImGuiWindow* own = ImGui::FindWindowByID(widget.window);
    if (own == nullptr || !own->WasActive) return false;
    const ImGuiContext& g = *ImGui::GetCurrentContext();
    if (!g.OpenPopupStack.empty() && (own->RootWindow->Flags & ImGuiWindowFlags_Popup) == 0)
        return false;  // the press would only close the popup
    const ImVec2 at = widget.visible ? ImVec2((widget.min.x + widget.max.x) / 2,
                                              (widget.min.y + widget.max.y) / 2)
                                     : own->InnerClipRect.GetCenter();
    ImGuiWindow* hovered = nullptr;
    ImGui::FindHoveredWindowEx(at, true, &hovered, nullptr);
    return hovered != nullptr && hovered->RootWindowDockTree == own->RootWindowDockTree;
}

const std::vector<std::string>& nonsense_for(bool is_number) {
    static const std::vector<std::string> numbers = {"",
                                                     "abc",
                                                     "1e400",
                                                     "nan",
                                                     "inf",
                                                     "-inf",
                                                     "-7",
                                                     "1,5",
                                                     "\u00bd\u03b1",
                                                     "99999999999999999999",
                                                     std::string(3000, '7'),
                                                     "/proc/no/such/file"};
    static const std::vector<std::string> texts = {"",
                                                   "-1e999 nan inf",
                                                   "Gr\u00fc\u00dfe \u65e5\u672c\u8a9e \u2713",
                                                   std::string(5000, 'x'),
                                                   "/proc/no/such/place/file.safetensors",
                                                   "mirror?size=-8&levels=99999999999&size=",
                                                   "%s%n {} {0} \\ \"quoted' ; ../..//"};
    return is_number ? numbers : texts;
}

std::string plain_id(const WidgetRecord& widget) {
    std::string id = widget.path.id.substr(0, widget.path.id.find('#'));
    if (const size_t path = id.find("//"); path != std::string::npos)
        id = id.substr(0, path) + "/(path)";
    if (id.starts_with("explorer/pins/pin")) return "explorer/pins/pin";  // then its place
    for (const char* name : {"layout_card/layouts/forget_", "layout_card/layouts/"})
        if (id.starts_with(name)) return name + std::string("(name)");  // one that was typed
    if (widget.kind == "segment") return id;
    std::string out;
    for (const char c : id)
        if (std::isdigit(static_cast<unsigned char>(c)) == 0)
            out += c;
        else if (out.empty() || out.back() != '0')
            out += '0';
    return out;
}

bool is_control(const WidgetRecord& widget) {
    static const std::set<std::string> kinds = {
        "button", "segment", "switch", "field", "slider",  "combo", "row",      "tab",
        "menu",   "pin",     "track",  "map",   "picture", "plot",  "workspace"};
    return kinds.contains(widget.kind) || (widget.kind == "text" && widget.item != 0);
}

}  // namespace aft::app
