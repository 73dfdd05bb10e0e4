// Inspector: what the panes of this workspace say about the selection.
#include "app/panels/panel.h"
#include "app/widgets/text.h"

namespace aft::app {
namespace {

class InspectorPanel final : public Panel {
  public:
    void draw(Ui& ui) override {
        const float before = ImGui::GetCursorPosY();
        if (ui.has_model())
            for (Panel* panel : ui.shown_panels)
                if (panel != this) panel->inspector(ui);
        if (ImGui::GetCursorPosY() == before)
            hint(ui, "Select a cell to see its value, range and statistics.");
    }
};

}  // namespace

PanelRoom inspector_panel() {
    std::vector<PanelPlace> places;
    for (const Workspace workspace : kWorkspaces)
        if (workspace != Workspace::home) places.push_back({workspace, Slot::right, 1});
    return {.info = {"Inspector", "Value, range and statistics of what is selected."},
            .id = "inspector",
            .icon = icon::info,
            .help =
                "Shows the exact numbers of the cell under the pointer or of the locked one, the "
                "range that colours it, and its statistics.",
            .places = places,
            .make = make_panel<InspectorPanel>};
}

}  // namespace aft::app
