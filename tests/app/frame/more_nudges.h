// Nudges of the random clicks to what "Run until..." asks and shows (its field for each condition,
// and the button that removes them), and to the Lab's biases as a slot. Tests only; window thread.
#pragma once
#include <functional>
#include <string>

#include "app/state/ui.h"
#include "tests/app/frame/clicks.h"

namespace aft::app {

// ui: of the window that is there when the nudge is given; click: waits until a control is usable.
inline decltype(ClickRules::nudges) more_nudges(
    const std::function<Ui&()>& ui, const std::function<void(const std::string&)>& click) {
    decltype(ClickRules::nudges) nudges{
        {"run/run/remove_until",
         [ui] {
             ui().workspace = Workspace::train;
             ui().settings.zoom = 1;
             ui().commands.send(SetSetting{"train.until_minutes", "1000000"});
         }},
        // The handle lies over the pin of the step that is shown.
        {"timeline/track/pin_save",
         [ui] {
             if (!ui().history.empty()) ui().commands.send(ShowStep{ui().history.front()});
         }},
        {"compare/main/what_the_lab_shows", [ui] {
             auto& changes = ui().selection.lab.recipe.interventions;
             changes.clear();
             changes.emplace_back().name = "zero";
             ui().selection.compare.slots.clear();
             ui().actions.run(ui(), "compare.add_slot");
         }}};
    for (const std::string name : {"step", "loss", "validation", "minutes"})
        nudges.push_back({"run/run_until/" + name, [ui, click, name] {
                              ui().workspace = Workspace::train;
                              ui().settings.zoom = 1;
                              click("run/run/until");
                              click("run/run_until/condition=by_" + name);
                          }});
    return nudges;
}

}  // namespace aft::app
