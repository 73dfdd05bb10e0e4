// window-curve: the last validation loss of several runs against their window s (Zhai et al. 2021,
// Table 5). Runs of one mixer and size make a line, those with one window its mean and spread.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/figures/parts.h"
#include "core/check.h"
#include "core/outside.h"

namespace aft::app {

FigureRoom window_curve_figure();

namespace {

constexpr size_t kMostRuns = 256;

std::string why_not(const FigureSubject& subject) {
    if (!subject.is_run) return "it is no run folder; curves are drawn of what training logs there";
    if (subject.mixer.has_kernel() || subject.mixer.bias == BiasLayout::attention)
        return "it has no window over the sequence; runs of AFT-local with several windows can be "
               "drawn";
    return "";
}

struct WindowRun {
    std::string line;  // which line it is on
    int64_t window = 0;
    double loss = 0;
};

WindowRun read_run(const std::string& path, const std::string& key) {
    const RunCurves run = run_curves(path);
    const auto column = "validation." + key;
    const double loss = last_value(run.curves, column);
    if (!std::isfinite(loss))
        fail_usage(
            "figure window-curve: {}: its metrics.jsonl has no value of {}; train with "
            "train.validate_every",
            shown_path(path), column);
    const std::string why = why_not({.mixer = run.mixer, .task = run.task, .is_run = true});
    if (!why.empty()) fail_usage("figure window-curve: {}: {}", shown_path(path), why);
    return {fmt::format("{}, {} layers of {}", run.mixer_name, run.layers, run.dim),
            run.mixer.window, loss};
}

// 0 stands one step left of 1, then a step for each doubling.
double place_of(int64_t window) {
    return window == 0 ? -1 : std::log2(static_cast<double>(window));
}

FigureSeries series_of(const std::string& line, const std::vector<WindowRun>& runs) {
    FigureSeries out;
    out.name = line;
    out.has_dots = true;
    std::map<int64_t, std::vector<double>> losses;
    for (const WindowRun& run : runs)
        if (run.line == line) losses[run.window].push_back(run.loss);
    for (const auto& [window, list] : losses) {
        double sum = 0;
        for (const double loss : list) sum += loss;
        out.x.push_back(place_of(window));
        out.y.push_back(sum / static_cast<double>(list.size()));
        out.low.push_back(*std::min_element(list.begin(), list.end()));
        out.high.push_back(*std::max_element(list.begin(), list.end()));
    }
    return out;
}

FigureResult make(const FigureRequest& request, const JobControl& control) {
    const TaskTraits task = run_curves(request.models.front()).task;
    const std::string key = task.loss_key();
    std::vector<WindowRun> runs;
    std::set<std::string> lines;
    std::set<int64_t> windows;
    for (const std::string& path : request.models) {
        if (control.stop.stop_requested()) throw Interrupted();
        runs.push_back(read_run(path, key));
        lines.insert(runs.back().line);
        windows.insert(runs.back().window);
    }
    if (lines.size() > 8)
        fail_usage("figure window-curve: found {} sizes of model, allowed: 8", lines.size());
    FigurePlot plot;
    plot.x_label = "window s (0: no position bias)";
    const std::string unit = task.loss_in_bits ? task.metric_words : "nats";
    plot.y_label = "last validation loss, " + unit;
    for (const int64_t window : windows)
        plot.x_ticks.emplace_back(place_of(window), std::to_string(window));
    for (const std::string& line : lines) {
        plot.series.push_back(series_of(line, runs));
        plot.series.back().color = static_cast<int>(plot.series.size()) - 1;
    }
    FigureResult out;
    for (const FigureSeries& one : plot.series) {
        const auto [low, high] = std::minmax_element(one.y.begin(), one.y.end());
        out.ranges.push_back({one.name, {*low, *high}, {*low, *high}});
    }
    out.scene.title = "Validation loss against the window";
    out.scene.notes = {
        fmt::format("{} runs; dots are means over runs of one window, bars their "
                    "least and largest value",
                    runs.size())};
    out.scene.parts.emplace_back(std::move(plot));
    return out;
}

}  // namespace

FigureRoom window_curve_figure() {
    return {.info = {"window-curve", "last validation loss of runs against their window (Table 5)"},
            .example = "afterimage figure window-curve runs/s0 runs/s8 runs/s32 -o windows.svg",
            .options = {},
            .most_models = kMostRuns,
            .is_comparison = true,
            .why_not = why_not,
            .make = make};
}

}  // namespace aft::app
