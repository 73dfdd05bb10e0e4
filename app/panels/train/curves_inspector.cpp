#include "app/panels/train/curves_inspector.h"

#include <fmt/format.h>

#include <cmath>

#include "app/panels/shared/copy_command.h"
#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "core/text.h"
#include "model/model_files.h"

namespace aft::app {

namespace {

CopiedCommand log_command(const ViewState& ui) {
    const std::string& path = ui.status.path;
    if (path.empty()) return {"", "This run has no folder yet."};
    if (is_checkpoint_file(path)) return {"", "A checkpoint has no log: open its run folder."};
    return {fmt::format("afterimage metrics {} -o {}", shell_word(path),
                        shell_word(ui.status.name + ".csv")),
            ""};
}

}  // namespace

void curves_inspector(Ui& ui, const PlotSeries& columns) {
    const char* unit = columns.in_bits ? ui.status.metric_words.c_str() : "nats";
    section(ui, "Run##run", ui.status.name, false);
    key_value(ui, "Parameters##parameters", group_thousands(ui.status.parameters));
    key_value(ui, "Mixer##mixer", ui.status.config.model.mixer);
    key_value(ui, "Tokens##tokens", group_thousands(ui.status.tokens));
    if (!ui.status.config.data.source.empty())
        key_value(ui, "Data##data", ui.status.config.data.source);
    section(ui, "Loss##loss");
    const auto rows = columns.train.extremes(0, columns.train.size());
    if (rows && columns.rows == ui.curves->step.size()) {  // a long run is read in parts
        key_value(ui, "Last##last", plain_number(columns.train.back(), 4), unit);
        key_value(ui, "Lowest##lowest", plain_number(columns.train[rows->low], 4), unit);
    }
    if (!columns.validation.empty()) {
        key_value(ui, "Validation##validation", plain_number(columns.validation.back(), 4), unit);
        const int64_t step = std::llround(columns.validation_step.back());
        key_value(ui, "of step##step", group_thousands(step));
    }
    if (ui.status.floor_bits)
        key_value(ui, "Floor of the data##floor", plain_number(*ui.status.floor_bits, 4), "bits");
    section(ui, "Actions##actions");
    action_button(ui, "file.export_metrics");
    copy_command_button(ui, log_command(ui),
                        "Copies the command that writes all curves as a table.");
}

}  // namespace aft::app
