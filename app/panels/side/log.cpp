// Log: what happened, newest last, with a filter; messages of the window, the session and its run.
#include <algorithm>

#include "app/panels/panel.h"
#include "app/state/icons.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"

namespace aft::app {
namespace {

class LogPanel final : public Panel {
  public:
    void draw(Ui& ui) override {
        if (ui.log.empty()) {
            hint(ui, "Messages appear here.");
            return;
        }
        text_field(ui,
                   {.name = "Filter##filter",
                    .hint = "Filter messages",
                    .icon = icon::search,
                    .tip = "Shows the messages that have these letters."},
                   filter_);
        ImGui::BeginChild("lines");
        size_t shown = 0;
        for (const LogLine& line : ui.log) {
            if (!filter_.empty() && line.text.find(filter_) == std::string::npos) continue;
            ++shown;
            const bool error = line.kind == "error", warning = line.kind == "warning";
            text(ui, fmt::format("{:7.1f} s  {}", line.time, line.kind),
                 {text_size::hint,
                  error     ? ui.theme.error
                  : warning ? ui.theme.warn
                            : ui.theme.text3,
                  Face::mono});
            text_wrapped(ui, line.text, text_size::hint, error ? ui.theme.text1 : ui.theme.text2);
        }
        if (shown_ != ui.log.size()) ImGui::SetScrollHereY(1);
        shown_ = ui.log.size();
        ImGui::EndChild();
        ui.recorder.item("value", ui.recorder.claim("Lines##lines"),
                         fmt::format("{} of {}", shown, ui.log.size()));
    }

  private:
    std::string filter_;
    size_t shown_ = 0;
};

}  // namespace

PanelRoom log_panel() {
    std::vector<PanelPlace> places;
    for (const Workspace workspace : {Workspace::train, Workspace::biases, Workspace::attention,
                                      Workspace::compare, Workspace::lab})
        places.push_back({workspace, Slot::left, 1});
    return {.info = {"Log", "What happened, newest last."},
            .id = "log",
            .icon = icon::text,
            .help =
                "Every message of the window and of the open run, with the seconds since the "
                "start. Errors also "
                "stay behind the bell at the top right.",
            .places = places,
            .make = make_panel<LogPanel>};
}

}  // namespace aft::app
