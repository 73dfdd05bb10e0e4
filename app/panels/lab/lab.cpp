// Lab: says what will be here. The workspace has its place, its selection and its layout already.
#include "app/panels/panel.h"
#include "app/state/icons.h"
#include "app/widgets/states.h"

namespace aft::app {
namespace {

class LabPanel final : public Panel {
  public:
    void draw(Ui& ui) override {
        empty_state(
            ui, {.drawing = Drawing::flask,
                 .title = "Nothing changed yet",
                 .sentence =
                     "This will change position biases (zero, blur, cut, copy) and show at once "
                     "what it does to the loss and to completions. It is not in this version yet.",
                 .primary = {},
                 .secondary = {},
                 .hint = {}});
    }
};

}  // namespace

PanelRoom lab_panel() {
    return {
        .info = {"Result",
                 "Changing biases and seeing what it does to the loss: not in this version yet."},
        .id = "result",
        .icon = icon::flask,
        .help =
            "This will change position biases (zero, blur, cut, copy) and show at once what it "
            "does to the loss and to completions. It is not in this version yet.",
        .places = {{Workspace::lab, Slot::canvas}},
        .make = make_panel<LabPanel>};
}

}  // namespace aft::app
