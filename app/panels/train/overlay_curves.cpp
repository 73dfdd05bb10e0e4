#include "app/panels/train/overlay_curves.h"

#include <utility>

#include "app/panels/train/plot_states.h"

namespace aft::app {
namespace {

constexpr float kThin = 1.2F;
constexpr size_t kLetters = 18;  // of a name at the end of its line; the card has it whole

struct OverlayLine {
    std::string words;  // behind the run's name
    viz::Curve curve;
};

void add_line(const OverlayRun& run, OverlayLine line, NamedPlot& plot) {
    if (line.curve.y.empty()) return;
    line.curve.color = run.color;
    line.curve.width = kThin;
    plot.names.push_back(run.name + line.words);
    plot.view.curves.push_back(std::move(line.curve));
}

}  // namespace

void overlay_loss(const ModelView& ui, std::span<const OverlayRun> runs, double smoothing,
                  NamedPlot& plot) {
    for (const OverlayRun& run : runs) {
        if (!has_unit_of(run, ui)) continue;
        const PlotSeries& series = run.series;
        add_line(run,
                 {" train",
                  {.label = short_words(run.name, kLetters),
                   .x = run.model->curves.step,
                   .y = series.train,
                   .smoothing = smoothing}},
                 plot);
        add_line(
            run,
            {" validation", {.x = series.validation_step, .y = series.validation, .dots = true}},
            plot);
    }
}

void overlay_column(std::span<const OverlayRun> runs, const std::string& column,
                    const std::string& words, NamedPlot& plot) {
    for (const OverlayRun& run : runs) {
        if (!run.model) continue;
        const auto found = run.model->curves.columns.find(column);
        if (found == run.model->curves.columns.end()) continue;
        add_line(run, {words, {.x = run.model->curves.step, .y = found->second}}, plot);
    }
}

void overlay_speed(std::span<const OverlayRun> runs, NamedPlot& plot) {
    for (const OverlayRun& run : runs)
        if (run.model)
            add_line(run,
                     {"", {.x = run.model->curves.step, .y = run.series.speed, .smoothing = 0.8}},
                     plot);
}

}  // namespace aft::app
