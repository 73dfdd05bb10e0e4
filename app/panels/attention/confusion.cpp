#include "app/panels/attention/confusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "app/panels/shared/copy_command.h"
#include "app/panels/shared/sample_input.h"
#include "app/panels/shared/whole_step.h"
#include "app/state/confusion_values.h"
#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "core/caught.h"
#include "core/check.h"
#include "core/files.h"
#include "core/text.h"
#include "model/model_files.h"

namespace aft::app {
namespace {

constexpr int64_t kMostExamples = 1000, kMostClasses = 20;
constexpr float kMapSide = 260;

std::string why_not_measured(const ViewState& ui, bool is_busy) {
    if (is_busy) return "It is being measured.";
    if (ui.status.config.data.source.empty()) return "This model has no data.";
    const bool is_file = is_checkpoint_file(ui.status.path);
    if (ui.status.path.empty() || (!is_file && whole_saved_step(ui) < 0))
        return "No step of this run is saved yet: save one first.";
    return "";
}

CopiedCommand confusion_command(const ViewState& ui, int64_t step) {
    return {.command = fmt::format("afterimage eval {} --data {} --split validation --limit {} "
                                   "--confusion confusion.csv",
                                   shell_word(checkpoint_file(ui.status.path, step)),
                                   shell_word(ui.status.config.data.source), kMostExamples),
            .why_not = why_no_command(ui, step)};
}

}  // namespace

// Lines of the file that the job writes: index,nats,tokens,metric,label,answer,...
std::vector<ConfusionSection::JudgedExample> ConfusionSection::read_examples(
    const std::string& path) {
    std::vector<JudgedExample> out;
    std::ifstream in(path);
    std::string line, word;
    std::getline(in, line);
    while (std::getline(in, line)) {
        std::istringstream row(line);
        std::vector<std::string> words;
        while (std::getline(row, word, ',')) words.push_back(word);
        AFT_CHECK(words.size() >= 6, "{}: expected six columns, found '{}'", path, line);
        out.push_back({.index = std::stoll(words[0]),
                       .label = std::stoll(words[4]),
                       .answer = std::stoll(words[5])});
    }
    return out;
}

// The example of the pair after the one that is looked at; after the last the first again.
void ConfusionSection::show_next(ViewState& ui, const MeasuredConfusion& answer,
                                 const viz::MapCell& pair) {
    const ImageChoice& image = ui.selection.image;
    const int64_t now = image.split == answer.result.split ? image.index : -1;
    int64_t first = -1;
    for (const JudgedExample& example : answer.examples) {
        if (example.label != pair.row || example.answer != pair.column) continue;
        if (first < 0) first = example.index;
        if (example.index > now) return show_sample(ui, answer.result.split, example.index);
    }
    if (first >= 0) show_sample(ui, answer.result.split, first);
}

void ConfusionSection::start(const ViewState& ui) {
    EvalRequest request;
    request.model = checkpoint_file(ui.status.path, whole_saved_step(ui));
    request.data = ui.status.config.data.source;
    request.split = "validation";
    request.limit = kMostExamples;
    measured_.start(
        [request, opened = ui.opened](const auto& publish, const std::stop_token& stop) {
            MeasuredConfusion answer{.opened = opened};
            JobControl control;
            control.stop = stop;
            answer.problem = error_words([&] {
                const TemporaryFolder folder;
                EvalRequest of = request;
                of.examples_file = (folder / "examples.csv").string();
                answer.result = eval_job(of, control);
                answer.examples = read_examples(of.examples_file);
            });
            publish(std::move(answer));
        });
}

void ConfusionSection::draw_map(PaneContext& ui, const MeasuredConfusion& answer) {
    const EvalClasses& classes = *answer.result.classes;
    viz::MapView view;
    view.id = "confusion";
    view.data = {.values = shares_,
                 .rows = classes.count,
                 .columns = classes.count,
                 .hidden = hidden_,
                 .version = version_};
    view.coloring = {.range = {0, 1}, .scale = Scale::linear, .map = Colormap::viridis};
    const float side = std::min(ImGui::GetContentRegionAvail().x, ui.px(kMapSide));
    view.area = {side, side};
    view.row_label = view.column_label = [](int64_t label) { return std::to_string(label); };
    const viz::MapReply reply = map_.draw(view, ui);
    ui.recorder.area({.kind = "map",
                      .path = ui.recorder.claim("Confusion map##confusion_map"),
                      .min = reply.map.low,
                      .max = reply.map.high,
                      .value = fmt::format("{0} x {0}", classes.count),
                      .why_not = {}});
    if (reply.clicked.is_valid()) show_next(ui, answer, reply.clicked);
    // A line of its own: what stands below does not move with the pointer.
    const std::string words =
        reply.hovered.is_valid() ? confusion_words(classes, reply.hovered.row, reply.hovered.column)
                                 : "The pointer reads the counts of a pair";
    text(ui, words,
         {text_size::label, ui.theme.text1, Face::regular, ImGui::GetContentRegionAvail().x});
    ui.recorder.item("value", ui.recorder.claim("Pair##pair"), words);
    hint(ui,
         "Rows: label, columns: answer, colour: share of the label's examples, 0 to 1. A "
         "click shows an example of the pair, another click the next one.");
}

void ConfusionSection::draw_answer(Ui& ui, const MeasuredConfusion& answer) {
    if (!answer.problem.empty()) return hint(ui, "It could not be measured: " + answer.problem);
    if (!answer.result.classes) return hint(ui, "The data have no classes.");
    const EvalClasses& classes = *answer.result.classes;
    if (version_ == 0 || shares_.size() != classes.confusion.size() || &answer != taken_.get()) {
        shares_ = confusion_shares(classes);
        hidden_.clear();
        for (const float share : shares_) hidden_.push_back(std::isnan(share) ? 1 : 0);
        ++version_;
    }
    key_value(ui, "Right answers##right_answers", plain_number(100 * answer.result.metric_value, 1),
              "%");
    hint(ui,
         fmt::format("{} examples of the {} part, step {}", group_thousands(answer.result.examples),
                     answer.result.split, group_thousands(answer.result.step)));
    const int64_t now = whole_saved_step(ui);
    if (now >= 0 && now != answer.result.step)
        hint(ui, fmt::format("Now step {} would be measured.", group_thousands(now)));
    draw_map(ui, answer);
    copy_command_button(ui, confusion_command(ui, answer.result.step),
                        "Copies the command that writes these counts, labels by answers.");
    for (int64_t label = 0; label < std::min(classes.count, kMostClasses); ++label) {
        const double right = classes.accuracy_of(label);
        key_value(ui,
                  {fmt::format("{} {}", label, class_name(classes, label)),
                   fmt::format("accuracy_{}", label)},
                  std::isnan(right) ? "no example"
                                    : plain_number(100 * right, 1) + " % of " +
                                          group_thousands(classes.examples_of(label)));
    }
    if (classes.count > kMostClasses)
        hint(ui, fmt::format("And {} more: the pointer on the diagonal reads them.",
                             classes.count - kMostClasses));
}

void ConfusionSection::draw(Ui& ui) {
    if (!ui.status.task.has_classes || ui.session == nullptr) return;
    section(ui, "Confusion##confusion", "which class for which");
    const bool is_busy = measured_.is_busy();
    if (button(ui, {.name = "Measure##measure_confusion",
                    .icon = icon::grid,
                    .why_not = why_not_measured(ui, is_busy),
                    .tip = "Asks the weights of the shown step, or of the saved one nearest to it, "
                           "for the class of up to 1000 examples of the validation part."}))
        start(ui);
    if (is_busy) {
        ui.want_frames(1);
        hint(ui, "Measuring ...");
    }
    const auto answer = measured_.latest();
    if (!answer || answer->opened != ui.opened) return;
    draw_answer(ui, *answer);
    taken_ = answer;
}

}  // namespace aft::app
