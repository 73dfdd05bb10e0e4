#include "app/cli/sweep_tables.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/cli/results_json.h"
#include "core/check.h"
#include "core/figure/scene.h"
#include "core/files.h"
#include "core/json.h"
#include "core/outside.h"
#include "core/text.h"
#include "core/writers.h"

namespace aft::app {
namespace {

const char* state_name(SweepState state) {
    switch (state) {
        case SweepState::open:
            return "open";
        case SweepState::done:
            return "done";
        case SweepState::failed:
            return "failed";
    }
    return "";
}

// Empty where there is no number.
std::string number_cell(double value) {
    return std::isfinite(value) ? exact_number(value) : "";
}

// The keys that differ between points, in the order in which they first stand.
std::vector<std::string> columns_of(const SweepPlan& plan) {
    std::vector<std::string> keys;
    for (const SweepPoint& point : plan.points)
        for (const auto& setting : point.settings)
            if (std::find(keys.begin(), keys.end(), setting.first) == keys.end())
                keys.push_back(setting.first);
    return keys;
}

std::string setting_of(const SweepPoint& point, const std::string& key) {
    std::string value;
    for (const auto& setting : point.settings)
        if (setting.first == key) value = setting.second;  // the last one counts
    return value;
}

std::string point_cells(const SweepPlan& plan, size_t place) {
    const SweepPoint& point = plan.points[place];
    std::string line = csv_cell(point.name);
    for (const std::string& key : columns_of(plan)) line += "," + csv_cell(setting_of(point, key));
    return line;
}

std::string header(const SweepPlan& plan) {
    std::string line = "point";
    for (const std::string& key : columns_of(plan)) line += "," + csv_cell(key);
    return line;
}

std::string runs_csv(const SweepResult& result) {
    std::string text =
        header(result.plan) + fmt::format(
                                  ",seed,state,step,train_loss,loss_nats,{},examples,parameters,"
                                  "seconds,folder,error\n",
                                  result.metric);
    for (const SweepRun& run : result.runs) {
        const bool is_done = run.state == SweepState::done;
        const auto measured = [&](double value) { return is_done ? number_cell(value) : ""; };
        text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n",
                            point_cells(result.plan, run.point), run.seed, state_name(run.state),
                            run.step, measured(run.train_loss), measured(run.loss_nats),
                            measured(run.metric_value), run.examples, run.parameters,
                            number_cell(run.seconds), csv_cell(run.folder), csv_cell(run.error));
    }
    return text;
}

std::string summary_csv(const SweepResult& result) {
    std::string text =
        header(result.plan) +
        fmt::format(",runs,{},deviation,standard_error,least,most,paper\n", result.metric);
    for (size_t place = 0; place < result.summaries.size(); ++place) {
        const SweepSummary& of = result.summaries[place];
        text += fmt::format("{},{},{},{},{},{},{},{}\n", point_cells(result.plan, place), of.n,
                            number_cell(of.mean), number_cell(of.deviation), number_cell(of.error),
                            number_cell(of.least), number_cell(of.most),
                            csv_cell(result.plan.points[place].paper));
    }
    return text;
}

// Points along the axis, or side by side with their names.
FigurePlot plot_of(const SweepResult& result) {
    const SweepPlan& plan = result.plan;
    FigurePlot plot{.x_label = plan.x_key, .y_label = result.metric_words};
    FigureSeries mean{.name = "mean", .has_dots = true}, each{.name = "a seed", .color = 1};
    mean.has_line = !plan.x_key.empty();
    each.has_line = false;
    each.has_dots = each.is_faint = true;
    std::vector<double> places(plan.points.size());
    for (size_t i = 0; i < plan.points.size(); ++i) {
        const SweepSummary& of = result.summaries[i];
        places[i] = static_cast<double>(i);
        const std::string value = setting_of(plan.points[i], plan.x_key);
        plot.x_ticks.emplace_back(places[i], plan.x_key.empty() ? plan.points[i].name : value);
        if (of.n == 0) continue;
        mean.x.push_back(places[i]);
        mean.y.push_back(of.mean);
        const double spread = std::isfinite(of.deviation) ? of.deviation : 0;
        mean.low.push_back(of.mean - spread);
        mean.high.push_back(of.mean + spread);
    }
    for (const SweepRun& run : result.runs) {
        if (run.state != SweepState::done || !std::isfinite(run.metric_value)) continue;
        each.x.push_back(places[run.point]);
        each.y.push_back(run.metric_value);
    }
    plot.series = {std::move(each), std::move(mean)};
    return plot;
}

void write_plot(const SweepResult& result) {
    if (result.count(SweepState::done) == 0) return;
    const SweepPlan& plan = result.plan;
    FigureScene scene{.title = plan.sentence.empty() ? plan.name : plan.sentence};
    scene.notes.push_back(fmt::format(
        "{} on the {} part, mean over up to {} seeds; band: one standard deviation; {} of {} runs "
        "done",
        result.metric_words, result.split.empty() ? "usual" : result.split, plan.seeds.size(),
        result.count(SweepState::done), result.runs.size()));
    if (!plan.from.empty()) scene.notes.push_back("Every run started from " + plan.from);
    if (!plan.paper.empty()) scene.notes.push_back("Paper: " + plan.paper);
    scene.parts.emplace_back(plot_of(result));
    write_figure(fs::path(result.out) / "plot.svg", scene, 1);
}

// Four digits of the mean with its deviation.
std::string value_words(const SweepSummary& of) {
    if (of.n == 0) return "-";
    if (!std::isfinite(of.deviation)) return fmt::format("{:.4f}", of.mean);
    return fmt::format("{:.4f} +- {:.4f}", of.mean, of.deviation);
}

}  // namespace

void write_sweep_tables(const SweepResult& result) {
    const fs::path out = result.out;
    write_atomically(out / "runs.csv", runs_csv(result));
    write_atomically(out / "summary.csv", summary_csv(result));
    write_atomically(out / "table.json", json_text(to_json(result), 2) + "\n");
    write_plot(result);
}

std::string sweep_words(const SweepResult& result) {
    size_t width = 5;
    for (const SweepPoint& point : result.plan.points) width = std::max(width, point.name.size());
    std::string words =
        fmt::format("{:<{}}  runs  {:<20} paper\n", "point", width, result.metric_words);
    for (size_t place = 0; place < result.summaries.size(); ++place) {
        const SweepPoint& point = result.plan.points[place];
        const SweepSummary& of = result.summaries[place];
        words += fmt::format("{:<{}}  {:>4}  {:<20} {}\n", point.name, width, of.n, value_words(of),
                             printable_line(point.paper));
    }
    for (const SweepRun& run : result.runs)
        if (run.state == SweepState::failed)
            words += fmt::format("failed: {}: {}\n", run.folder, printable_line(run.error));
    if (const int64_t open = result.count(SweepState::open); open > 0)
        words += fmt::format("{} runs are open; --resume --out {} continues\n", open,
                             shell_word(result.out));
    return words + fmt::format("tables and plot: {}\n", result.out);
}

}  // namespace aft::app
