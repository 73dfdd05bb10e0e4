// NewRunForm: a new run from a preset and data: every setting from its visit() row, the estimate of
// memory and time before the start. Window thread; part of the Home page.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/panels/home/data_browser.h"
#include "app/panels/shared/run_check.h"
#include "app/state/ui.h"
#include "model/jobs/train.h"

namespace aft::app {

class NewRunForm {
  public:
    void open(Ui& ui, const std::string& preset);
    void close();
    [[nodiscard]] bool is_open() const { return is_open_; }
    void draw_settings(Ui& ui);  // the wide column
    void draw_summary(Ui& ui);   // the side column: estimate, start, cancel

  private:
    void choose_preset(Ui& ui, const std::string& name);
    void draw_data(PaneContext& ui);
    void draw_group(DrawContext& ui, const std::string& group);
    void start(PaneContext& ui);
    void draw_estimate(DrawContext& ui);
    void draw_numbers(DrawContext& ui, const Estimate* needs, const char* why_none);
    void draw_start(Ui& ui);

    bool is_open_ = false;
    std::vector<PresetInfo> presets_;
    struct PresetView {
        int preset = 0, group = 0;
        std::string filter{};
        float numbers_height = 200;  // at scale 1, of the estimate: the most so far
    } shown_;
    Config config_, standard_;
    std::string data_, out_, problem_;
    RunCheck check_;
    DataBrowser browser_;
    bool wants_start_ = false;  // pressed while the settings were still being checked
};

// The command line that starts the same run as the window would.
[[nodiscard]] std::string training_command(Config config, Config preset, const std::string& out);

}  // namespace aft::app
