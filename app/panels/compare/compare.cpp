// Compare: says what will be here. The workspace has its place, its selection and its layout
// already.
#include "app/panels/panel.h"
#include "app/state/icons.h"
#include "app/widgets/states.h"

namespace aft::app {
namespace {

class ComparePanel final : public Panel {
  public:
    void draw(Ui& ui) override {
        empty_state(
            ui,
            {.drawing = Drawing::compare,
             .title = "Nothing to compare",
             .sentence = "This will show two to four runs or steps side by side, their difference "
                         "and ratio, and the largest changes. It is not in this version yet.",
             .primary = {},
             .secondary = {},
             .hint = {}});
    }
};

}  // namespace

PanelRoom compare_panel() {
    return {.info = {"Compare", "Two runs, steps or heads side by side: not in this version yet."},
            .id = "compare",
            .icon = icon::compare,
            .help =
                "This will show two to four runs or steps side by side, their difference and "
                "ratio, and the largest changes. It is not in this version yet.",
            .places = {{Workspace::compare, Slot::canvas}},
            .make = make_panel<ComparePanel>};
}

}  // namespace aft::app
