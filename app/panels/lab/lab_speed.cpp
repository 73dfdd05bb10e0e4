// Speed: the open model beside the same with softmax attention, timed on this machine.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "app/panels/lab/lab_speed_words.h"
#include "app/panels/panel.h"
#include "app/panels/shared/model_state.h"
#include "app/state/background.h"
#include "app/widgets/buttons.h"
#include "app/widgets/states.h"
#include "app/widgets/table.h"
#include "app/widgets/text.h"
#include "bench/bench.h"
#include "core/caught.h"
#include "core/text.h"

namespace aft::app {

PanelRoom speed_panel();

namespace {

struct SpeedAnswer {
    std::string model;
    std::vector<RoomInfo> workloads;                 // of the model, in the order of their turns
    std::vector<std::vector<bench::TimedRow>> rows;  // of those that are done
    std::string error;
};

class SpeedPanel final : public Panel {
  public:
    void draw(Ui& ui) override;

  private:
    void draw_buttons(PaneContext& ui);
    void draw_workload(PaneContext& ui, const RoomInfo& workload,
                       const std::vector<bench::TimedRow>& rows);
    void draw_answer(Ui& ui, const SpeedAnswer& answer);
    Background<SpeedAnswer> work_;
    std::string asked_;  // the model that is timed, or was last
};

std::string command_words(const std::string& model) {
    return "afterimage bench --model " + shell_word(model);
}

// One workload after the other, the quick ones first: each is on the screen when it is done.
void SpeedPanel::draw_buttons(PaneContext& ui) {
    const bool runs = ui.status.state == RunState::running;
    // With interventions the filled one is Add, in their list.
    const bool is_alone = ui.selection.lab.recipe.interventions.empty();
    if (button(ui, {.name = "Measure##measure",
                    .kind = is_alone ? ButtonKind::primary : ButtonKind::normal,
                    .why_not = work_.is_busy()          ? "It is being measured."
                               : ui.status.path.empty() ? "Nothing is saved yet."
                               : runs                   ? "Pause the training: it takes the "
                                                          "processors that are to be timed."
                                                        : "",
                    .tip = "Ours and softmax attention in turns, in a process of their own."})) {
        asked_ = ui.status.path;
        work_.start([model = asked_, program = ui.program](const auto& publish,
                                                           const std::stop_token& stop) {
            SpeedAnswer answer{.model = model, .workloads = {}, .rows = {}, .error = {}};
            answer.error = error_words([&] {
                answer.workloads = bench::own_workload_list(model);
                for (const RoomInfo& one : answer.workloads) {
                    answer.rows.push_back(bench::run_apart(
                        {.filter = one.name, .program = program, .model = model}, stop));
                    publish(answer);
                }
            });
            publish(std::move(answer));
        });
    }
    ImGui::SameLine(0, ui.px(8));
    if (button(ui, {.name = "Copy as command##copy_as_command",
                    .why_not = ui.status.path.empty() ? "Nothing is saved yet." : "",
                    .tip = "Copies the command that prints the same."}))
        ImGui::SetClipboardText(command_words(ui.status.path).c_str());
}

void SpeedPanel::draw_workload(PaneContext& ui, const RoomInfo& workload,
                               const std::vector<bench::TimedRow>& rows) {
    std::string title = workload.sentence + "##" + workload.name;
    title.front() = char(std::toupper(title.front()));
    section(ui, title, rows.empty() ? "" : rows.front().name);
    for (const bench::TimedRow& row : rows) {
        if (!row.note.empty()) hint(ui, row.note);
        if (row.forms.empty()) continue;
        key_value(ui, "Ours##ours", speed_verdict(row));
        const Column columns[] = {{.title = "Computed by"},
                                  {.title = "Precision", .width = 90},
                                  {.title = "Median", .width = 110, .right = true},
                                  {.title = "Its time over ours", .width = 220, .right = true}};
        std::vector<TableRow> list;
        for (const bench::TimedForm& form : row.forms)
            list.push_back({.name = fmt::format("{0}##{0}", form.name),
                            .cells = {form.name, form.precision, time_words(form.median_ms),
                                      ratio_words(row, form)}});
        (void)table(ui, fmt::format("Forms##forms_{}", workload.name), columns, list);
        if (const std::string why = why_no_ratio(row); !why.empty()) hint(ui, why);
    }
}

void SpeedPanel::draw_answer(Ui& ui, const SpeedAnswer& answer) {
    for (size_t i = 0; i < answer.rows.size(); ++i)
        draw_workload(ui, answer.workloads[i], answer.rows[i]);
    if (!answer.error.empty())
        banner(ui, {.title = "This cannot be timed", .sentence = answer.error + "."});
}

void SpeedPanel::draw(Ui& ui) {
    if (no_model_state(ui, Drawing::flask, "Open a model or a run to time it.")) return;
    hint(ui,
         "Is AFT faster than attention here, and by how much? Ours and the best kernel of "
         "LibTorch, on this machine, at the sizes of the open model; its weights do not count.");
    draw_buttons(ui);
    const auto answer = work_.latest();
    const bool is_of_this = answer && answer->model == ui.status.path;
    if (work_.is_busy() && asked_ == ui.status.path) {
        const size_t done = is_of_this ? answer->rows.size() : 0;
        (void)progress_line(ui,
                            is_of_this && done < answer->workloads.size()
                                ? "Timing " + answer->workloads[done].sentence
                                : "Timing",
                            -1);
        ui.want_frames(2);
    }
    if (is_of_this) draw_answer(ui, *answer);
    if (is_of_this || work_.is_busy()) return;
    empty_state(ui, {.drawing = Drawing::curve,
                     .title = "Nothing timed yet",
                     .sentence = "Press Measure above: ours and softmax attention are timed in "
                                 "turns, the quick workloads first."});
}

}  // namespace

PanelRoom speed_panel() {
    return {.info = {"Speed", "Is AFT faster than attention here, and by how much?"},
            .id = "speed",
            .icon = icon::chart,
            .help =
                "Times the operator of the open model, the next token in the middle of a sequence "
                "and a training step on its data, beside softmax attention of the same size in "
                "its best form. In turns, in a process of their own; each ratio is of medians, "
                "with the middle half of the rounds. No ratio is given where other programs took "
                "the processors, or the speed of the machine moved. `afterimage bench --model "
                "MODEL` prints the same.",
            .places = {{Workspace::lab, Slot::canvas, 2}},
            .make = make_panel<SpeedPanel>};
}

}  // namespace aft::app
