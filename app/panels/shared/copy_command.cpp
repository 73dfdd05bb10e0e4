#include "app/panels/shared/copy_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/state/probe_options.h"
#include "app/widgets/buttons.h"
#include "core/data_spec.h"
#include "core/text.h"
#include "model/model_files.h"

namespace aft::app {

std::string shown_data(const ViewState& ui) {
    DataSpec spec = split_data_spec(ui.status.config.data.source);
    const ImageChoice& image = ui.selection.image;
    if (image.split.empty() || spec.options.find("split=") != std::string::npos) return spec.text();
    spec.options += (spec.options.empty() ? "?split=" : "&split=") + image.split;
    return spec.text();
}

namespace {

// All but the file that it writes.
std::string probe_words(const ViewState& ui, const ProbeRequest& request,
                        const std::string& model) {
    std::string out = fmt::format("afterimage probe {} {} --layer {}", request.probe,
                                  shell_word(model), request.layer);
    if (request.head >= 0) out += fmt::format(" --head {}", request.head);
    if (request.channel >= 0) out += fmt::format(" --channel {}", request.channel);
    if (request.position > 0) out += fmt::format(" --position {}", request.position);
    for (const auto& [key, value] : request.options)
        out += key == kPositionOption ? fmt::format(" --option {}={}", key, shell_word(value))
                                      : fmt::format(" --{} {}", key, shell_word(value));
    const ImageChoice& image = ui.selection.image;
    if (request.tokens.empty()) return out;
    if (!image.path.empty()) return out + " --image " + shell_word(image.path);
    if (!image.text.empty()) return out + " --text " + shell_word(image.text);
    return out + fmt::format(" --data {} --index {}", shell_word(shown_data(ui)), image.index);
}

}  // namespace

std::string probe_command(const ViewState& ui, const ProbeRequest& request) {
    const bool is_file = is_checkpoint_file(ui.status.path);
    const int64_t step = request.step < 0 ? ui.shown_step() : request.step;
    return probe_words(ui, request,
                       is_file ? ui.status.path : checkpoint_file(ui.status.path, step)) +
           fmt::format(" -o {}.npy", request.probe);
}

std::string moments_command(const ViewState& ui, const ProbeRequest& request,
                            const std::string& file) {
    return probe_words(ui, request, ui.status.path) + " --moments -o " + shell_word(file);
}

std::string why_no_command(const ViewState& ui, int64_t step) {
    if (is_checkpoint_file(ui.status.path)) return "";  // it has one step
    const std::vector<int64_t> saved =
        ui.session != nullptr ? ui.session->saved_steps() : std::vector<int64_t>();
    if (std::find(saved.begin(), saved.end(), step) != saved.end()) return "";
    return fmt::format(
        "Step {} is not saved whole. Scrub to a saved step, or save the present one.",
        group_thousands(step));
}

CopiedCommand command_of(const ViewState& ui, const Watch& watch) {
    return command_of(ui, watch, watch.shown());
}

CopiedCommand command_of(const ViewState& ui, const Watch& watch, ProbeRequest request) {
    if (!watch.fields() || watch.fields()->fields.empty()) return {"", "Nothing is shown yet."};
    if (!watch.is_current()) return {"", "What is shown is being read anew."};
    if (!watch.shown().tokens.empty() && !ui.selection.image.is_given())
        return {"", "The example is a completion or blank: no command takes it from anywhere."};
    request.step = watch.fields()->fields.front().step;
    return {probe_command(ui, request), why_no_command(ui, request.step)};
}

bool copy_command_pressed(Ui& ui, const CopiedCommand& copied, const char* tip, ButtonKind kind) {
    Button copy{.name = "Copy as command##copy_as_command",
                .kind = kind,
                .why_not = copied.why_not,
                .tip = tip};
    if (kind == ButtonKind::icon) copy.icon = icon::copy;
    if (ui.picture.is_now() && copied.why_not.empty() && copied.is_whole)
        ui.picture.numbers.commands.push_back(copied.command);
    if (ImGui::GetContentRegionAvail().x < button_width(ui, copy)) ImGui::NewLine();
    return button(ui, copy);
}

bool copy_command_button(Ui& ui, const CopiedCommand& copied, const char* tip, ButtonKind kind) {
    if (!copy_command_pressed(ui, copied, tip, kind)) return false;
    put_command(ui, copied);
    return true;
}

void put_command(Ui& ui, const CopiedCommand& copied) {
    ImGui::SetClipboardText(copied.command.c_str());
    ui.toasts.add({.kind = ToastKind::done, .title = "Command copied", .detail = copied.note});
}

}  // namespace aft::app
