#include "app/cli/confusion.h"

#include "app/state/confusion_values.h"
#include "core/check.h"
#include "core/figure/scene.h"
#include "core/files.h"
#include "core/outside.h"
#include "core/writers.h"

namespace aft::app {
namespace {

std::string confusion_csv(const EvalClasses& classes) {
    std::string text = "label";
    for (int64_t answer = 0; answer < classes.count; ++answer)
        text += "," + csv_cell(class_name(classes, answer));
    text += "\n";
    for (int64_t label = 0; label < classes.count; ++label) {
        text += csv_cell(class_name(classes, label));
        for (int64_t answer = 0; answer < classes.count; ++answer)
            text += fmt::format(
                ",{}", classes.confusion[static_cast<size_t>(label * classes.count + answer)]);
        text += "\n";
    }
    return text;
}

// Hatched where there is no example of a label.
FigureTile confusion_tile(const EvalClasses& classes) {
    return {.rows = classes.count, .columns = classes.count, .values = confusion_shares(classes)};
}

FigureScene confusion_scene(const EvalResult& result) {
    const EvalClasses& classes = *result.classes;
    FigureScene scene{.title = "Confusion: " + printable_line(result.model)};
    scene.notes.push_back(fmt::format(
        "rows: label, columns: answer; share of the label's examples, 0 to 1; accuracy {:.4f}",
        result.metric_value));
    scene.notes.push_back(fmt::format("{}, {} part, {} examples, step {}",
                                      printable_line(result.data), result.split, result.examples,
                                      result.step));
    FigureGrid grid{.width = 480, .x_title = "answer", .y_title = "label"};
    for (int64_t label = 0; label < classes.count; ++label) {
        const std::string number = std::to_string(label), name = class_name(classes, label);
        grid.row_names.push_back(name == number ? name : fmt::format("{} {}", number, name));
        grid.column_names.push_back(name);
    }
    grid.key = ColorKey{.coloring = {.range = {0, 1}, .map = Colormap::viridis}};
    grid.rows.push_back({.tiles = {confusion_tile(classes)}});
    scene.parts.emplace_back(std::move(grid));
    return scene;
}

}  // namespace

void check_confusion_file(const std::string& path) {
    if (path.empty()) return;
    if (path.ends_with(".csv"))
        check_writable(path);
    else
        check_figure_file(path);
}

void write_confusion(const std::string& path, const EvalResult& result) {
    if (!result.classes)
        fail_usage("--confusion: the model of {} has no classes", printable_line(result.model));
    if (path.ends_with(".csv"))
        write_atomically(path, confusion_csv(*result.classes));
    else
        write_figure(path, confusion_scene(result), 2);
}

}  // namespace aft::app
