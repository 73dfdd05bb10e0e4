// training-curves: training and validation loss over the steps, of several runs. The training loss
// is thin: where there are more steps than places, the mean of each place's steps.
#include <algorithm>
#include <cmath>

#include "app/figures/parts.h"
#include "core/check.h"
#include "core/outside.h"
#include "core/text.h"

namespace aft::app {

FigureRoom training_curves_figure();

namespace {

constexpr size_t kMostRuns = 8;
constexpr size_t kPlaces = 400;  // of the training loss along the axis

std::string why_not(const FigureSubject& subject) {
    return subject.is_run ? ""
                          : "it is no run folder; curves are drawn of what training logs there";
}

struct LossColumn {
    std::vector<double> x, y;
};

// Rows that have a value.
LossColumn column_of(const Curves& curves, const std::string& name) {
    LossColumn out;
    const auto found = curves.columns.find(name);
    if (found == curves.columns.end()) return out;
    for (size_t i = 0; i < found->second.size() && i < curves.step.size(); ++i) {
        const double v = found->second[i];
        if (!std::isfinite(v)) continue;
        out.x.push_back(curves.step[i]);
        out.y.push_back(v);
    }
    return out;
}

LossColumn thinned(const LossColumn& from) {
    if (from.x.size() <= kPlaces) return from;
    LossColumn out;
    for (size_t place = 0; place < kPlaces; ++place) {
        const size_t first = place * from.x.size() / kPlaces;
        const size_t end = (place + 1) * from.x.size() / kPlaces;
        double x = 0, y = 0;
        for (size_t i = first; i < end; ++i) {
            x += from.x[i];
            y += from.y[i];
        }
        out.x.push_back(x / static_cast<double>(end - first));
        out.y.push_back(y / static_cast<double>(end - first));
    }
    return out;
}

void add_run(FigurePlot& plot, FigureResult& out, const RunCurves& run, const std::string& key) {
    const LossColumn train = thinned(column_of(run.curves, key));
    const LossColumn validation = column_of(run.curves, "validation." + key);
    if (train.x.empty() && validation.x.empty())
        fail_usage("figure training-curves: {}: its metrics.jsonl has no value of {}",
                   shown_path(run.path), key);
    const int color = static_cast<int>(out.ranges.size());
    const std::string name = printable_line(run.name);
    const bool has_both = !validation.x.empty();
    if (!train.x.empty())
        plot.series.push_back({.name = has_both ? "" : name + ", training",
                               .x = train.x,
                               .y = train.y,
                               .color = color,
                               .is_faint = has_both});
    if (has_both)
        plot.series.push_back({.name = name,
                               .x = validation.x,
                               .y = validation.y,
                               .color = color,
                               .has_dots = validation.x.size() <= 40});
    const std::vector<double>& y = has_both ? validation.y : train.y;
    const auto [low, high] = std::minmax_element(y.begin(), y.end());
    out.ranges.push_back({name, {*low, *high}, {*low, *high}});
}

FigureResult make(const FigureRequest& request, const JobControl& control) {
    FigureResult out;
    FigurePlot plot;
    plot.x_label = "step";
    std::string key, last;
    for (const std::string& path : request.models) {
        if (control.stop.stop_requested()) throw Interrupted();
        const RunCurves run = run_curves(path);
        if (key.empty()) {
            key = run.task.loss_key();
            plot.y_label = "loss, " + (run.task.loss_in_bits ? run.task.metric_words : "nats");
        }
        if (run.task.loss_key() != key)
            fail_usage(
                "figure training-curves: {} logs {}, the runs before it {}; runs of one "
                "kind go into one figure",
                shown_path(path), run.task.loss_key(), key);
        add_run(plot, out, run, key);
        const double value = last_value(run.curves, "validation." + key);
        if (std::isfinite(value))
            last += fmt::format("{}{} {}", last.empty() ? "" : ", ", printable_line(run.name),
                                figure_number(value));
    }
    out.scene.title = "Training curves";
    out.scene.notes = {
        "Thin: training loss, means of neighbouring steps where there are many; thick: validation"};
    if (!last.empty()) out.scene.notes.push_back("Last validation: " + last);
    out.scene.parts.emplace_back(std::move(plot));
    return out;
}

}  // namespace

FigureRoom training_curves_figure() {
    return {.info = {"training-curves", "training and validation loss over steps, several runs"},
            .example = "afterimage figure training-curves runs/a runs/b -o curves.svg",
            .options = {},
            .most_models = kMostRuns,
            .why_not = why_not,
            .make = make};
}

}  // namespace aft::app
