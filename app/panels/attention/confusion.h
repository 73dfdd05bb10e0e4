// ConfusionSection: which classes a classifier takes for which: measured on the validation part by
// a thread of its own when it is asked for. A section of the Inspector. Window thread; returns at
// once, but the destructor waits for what is being measured.
#pragma once
#include <string>
#include <vector>

#include "app/state/background.h"
#include "app/state/ui.h"
#include "model/jobs/eval.h"
#include "viz/map.h"

namespace aft::app {

class ConfusionSection {
  public:
    // Nothing where the model has no classes.
    void draw(Ui& ui);

  private:
    struct JudgedExample {
        int64_t index = 0, label = 0, answer = 0;
    };
    struct MeasuredConfusion {
        uint64_t opened = 0;  // the model it is of
        std::string problem{};
        EvalResult result{};
        std::vector<JudgedExample> examples{};
    };
    static std::vector<JudgedExample> read_examples(const std::string& path);
    void start(const ViewState& ui);
    void draw_answer(Ui& ui, const MeasuredConfusion& answer);
    void draw_map(PaneContext& ui, const MeasuredConfusion& answer);
    static void show_next(ViewState& ui, const MeasuredConfusion& answer, const viz::MapCell& pair);
    Background<MeasuredConfusion> measured_;
    std::shared_ptr<const MeasuredConfusion> taken_;  // that the shares are of
    std::vector<float> shares_;
    std::vector<uint8_t> hidden_;  // rows without an example
    uint64_t version_ = 0;
    viz::Map map_;
};

}  // namespace aft::app
