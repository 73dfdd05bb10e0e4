#include "app/frame/cards/metrics_card.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "app/frame/cards/overlays.h"
#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/caught.h"
#include "core/text.h"
#include "model/jobs/log_export.h"
#include "model/model_files.h"
#include "model/system.h"

namespace aft::app {

namespace fs = std::filesystem;

namespace {

constexpr int kCsv = 0;
constexpr const char* kNames[] = {".csv", "-tensorboard"};  // behind the run's name

}  // namespace

std::string why_no_metrics(const ModelView& ui) {
    if (ui.session == nullptr || !ui.has_model()) return "No run is open.";
    if (is_checkpoint_file(ui.status.path)) return "A checkpoint has no log: open its run folder.";
    return ui.curves->step.empty() ? "This run has logged nothing yet." : "";
}

void MetricsCard::propose(const ViewState& ui) {
    const fs::path folder = proposed_folder(file_, ui.settings.last_folder);
    file_ = (folder / (fs::path(path_).filename().string() + kNames[format_])).string();
}

void MetricsCard::open(const ViewState& ui) {
    is_open_ = is_new_ = true;
    if (std::exchange(path_, ui.status.path) != path_ || file_.empty()) propose(ui);
}

void MetricsCard::draw_fields(Ui& ui) {
    const Choice formats[] = {
        {.text = "CSV##csv", .tip = "A line for each logged step, a column for each metric."},
        {.text = "TensorBoard##tensorboard", .tip = "An event file, in a folder of its own."}};
    if (segmented(ui, "Format##format", format_, {formats})) propose(ui);
    const TextEdit edit =
        text_field(ui,
                   {.name = "File##file",
                    .hint = format_ == kCsv ? "file to write: .csv" : "folder of the event file",
                    .focus = std::exchange(is_new_, false),
                    .mono = true,
                    .tip = "Where the metrics are written; of TensorBoard a folder."},
                   file_);
    hint(ui,
         "All that the run has logged, as afterimage metrics writes it. For TensorBoard the "
         "folder must not hold an event file yet.");
    to_card_foot(ui);
    std::string why = why_no_metrics(ui);
    if (why.empty() && file_.empty()) why = "Type the file to write.";
    if (why.empty() && work_.is_busy()) why = "The export before is still being written.";
    const CardAnswer answer =
        save_buttons(ui, {.why_not = why, .tip = "Writes it.", .is_submitted = edit.is_submitted});
    if (answer == CardAnswer::cancel) is_open_ = false;
    if (answer == CardAnswer::save) start(ui);
}

void MetricsCard::start(Ui& ui) {
    is_open_ = false;
    std::error_code ignored;
    fs::path file = fs::absolute(file_, ignored);
    if (format_ == kCsv && file.extension() != ".csv") file += ".csv";
    file_ = file.string();
    LogExportRequest request{.run = ui.status.path,
                             .out = file_,
                             .form = format_ == kCsv ? LogForm::csv : LogForm::tensorboard};
    work_.start([request = std::move(request), number = ++started_](const auto& publish,
                                                                    const std::stop_token& stop) {
        WrittenMetrics out{.file = request.out, .error = {}, .words = {}, .number = number};
        JobControl control;
        control.stop = stop;
        out.error = error_words(
            [&] {
                const LogExportResult done = export_log(request, control);
                out.file = done.file;
                out.words = fmt::format("{} steps of {} metrics, {}", group_thousands(done.rows),
                                        done.metrics, byte_size(double(done.bytes)));
            },
            plain_words);
        publish(std::move(out));
    });
}

void MetricsCard::report(Ui& ui) {
    if (work_.is_busy()) ui.want_frame_at(ui.time + 0.1);
    const auto written = work_.latest();
    if (!written || written->number == reported_) return;
    reported_ = written->number;
    const bool is_done = written->error.empty();
    ui.toasts.add(
        {.kind = is_done ? ToastKind::done : ToastKind::error,
         .title = is_done ? "Metrics exported" : "Metrics not exported",
         .detail = is_done ? written->file + "  \u00B7  " + written->words : written->error});
    ui.say(is_done ? "info" : "error", is_done ? "metrics exported: " + written->file
                                               : "metrics not exported: " + written->error);
}

void MetricsCard::draw(Ui& ui, ImVec2 display) {
    if (!is_open_) return;
    const CardScope card(ui, display, {"Metrics card", "Export metrics", {760, 216}});
    if (card.is_left()) is_open_ = false;
    draw_fields(ui);
}

void add_metrics_actions(Actions& actions, MetricsCard& card) {
    actions.add({.id = "file.export_metrics",
                 .name = "Export metrics...",
                 .sentence = "Writes what this run has logged as CSV or for TensorBoard.",
                 .icon = icon::chart,
                 .menu = "File",
                 .why_not = why_no_metrics,
                 .run = [&card](ViewState& ui) { card.open(ui); }});
}

}  // namespace aft::app
