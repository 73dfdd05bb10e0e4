#include "app/panels/complete/completion_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "app/panels/complete/batch_run.h"
#include "app/panels/complete/completion_state.h"
#include "app/panels/shared/completion_inputs.h"
#include "app/panels/shared/whole_step.h"
#include "app/state/picture_list.h"
#include "core/caught.h"
#include "core/check.h"
#include "core/free_file.h"
#include "core/images/image.h"
#include "core/text.h"
#include "model/model_files.h"

namespace aft::app {

namespace {

// Rows that are known, where all below them is to be filled.
std::optional<int64_t> rows_kept(const CompletionChoice& choice) {
    const auto mask = choice.mask.mask();
    const auto first = std::find(mask.begin(), mask.end(), uint8_t{1}) - mask.begin();
    const bool is_rest =
        std::all_of(mask.begin() + first, mask.end(), [](uint8_t fill) { return fill != 0; });
    if (choice.width == 0 || first % choice.width != 0 || !is_rest) return std::nullopt;
    return first / choice.width;
}

std::string sampling_flags(const SampleOptions& sample) {
    std::string out = fmt::format(" --samples {} --temperature {} --seed {}", sample.samples,
                                  sample.temperature, sample.seed);
    if (sample.top_k > 0) out += fmt::format(" --top-k {}", sample.top_k);
    if (sample.top_p < 1) out += fmt::format(" --top-p {}", sample.top_p);
    if (sample.particles > 1) out += fmt::format(" --particles {}", sample.particles);
    return out;
}

// Read back, its levels are these.
Image sample_picture(const ModelConfig& model, const std::vector<uint8_t>& levels) {
    Image out{
        .width = model.width, .height = model.height, .channels = model.channels, .pixels = {}};
    const double top = double(std::max<int64_t>(1, model.levels - 1));
    for (const uint8_t level : levels)
        out.pixels.push_back(uint8_t(std::lround(255 * level / top)));
    return out;
}

// Where the picture is from.
CopiedCommand picture_flags(const ViewState& ui) {
    const ImageChoice& image = ui.selection.image;
    if (!image.path.empty()) return {" --image " + shell_word(image.path), ""};
    if (image.split.empty())
        return {"", "The picture is a completion or blank: no command takes it from anywhere."};
    const std::string index = is_batch_asked(ui)
                                  ? picture_list_words(ui.selection.completion.pictures, ",")
                                  : std::to_string(image.index);
    return {fmt::format(" --data {} --index {}", shell_word(shown_data(ui)), index), ""};
}

bool needs_mask_file(const ViewState& ui) {
    return !is_text_model(ui) && !rows_kept(ui.selection.completion);
}

// What the command asks for is what was drawn before Continue from here.
bool is_as_drawn(const ViewState& ui) {
    const CompletionChoice& choice = ui.selection.completion;
    CompletionRequest asked;
    fill_from_picture(ui, {}, choice.mask.mask(), asked);
    return choice.own != nullptr && choice.sample == choice.used &&
           choice.own->unknown == asked.unknown;
}

// What Continue from here has changed. The command makes one change.
void add_change(const ViewState& ui, CopiedCommand& out) {
    const CompletionChoice::ChangedSample& changed = ui.selection.completion.changed;
    if (changed.count == 0) return;
    if (changed.count == 1 && changed.level >= 0 && !is_text_model(ui) && is_as_drawn(ui))
        out.command +=
            fmt::format(" --change {}:{}={}", changed.sample, changed.position, changed.level);
    else
        out.note += std::string(out.note.empty() ? "" : " ") +
                    "It draws the samples as they were before Continue from here.";
}

struct CommandPicture {
    const char *name, *failed;  // its file, and the title of a toast where it cannot be written
    Image pixels;
};

// Writes the picture beside the command, over no other file, and copies the command that names it.
template <class CommandWith>
void put_with_picture(Ui& ui, const CommandPicture& picture, const CommandWith& command_with) {
    CopiedCommand copied;
    const std::string problem = error_words([&] {
        const std::filesystem::path file = free_file(picture.name);
        if (file.empty()) fail("{}: all names like this one are taken", picture.name);
        write_png(file, picture.pixels);
        copied = command_with(file.string());
    });
    if (problem.empty()) return put_command(ui, copied);
    ui.toasts.add({.kind = ToastKind::error, .title = picture.failed, .detail = problem});
}

}  // namespace

CopiedCommand completion_command(const ViewState& ui, const std::string& mask) {
    if (std::string why = why_not_complete(ui); !why.empty()) return {"", why};
    const int64_t step = whole_step(ui);
    const CompletionChoice& choice = ui.selection.completion;
    CopiedCommand out{
        .command = "afterimage complete " + shell_word(checkpoint_file(ui.status.path, step)),
        .why_not = why_no_command(ui, step)};
    if (is_text_model(ui)) {
        out.command +=
            fmt::format(" --prompt {} --length {}", shell_word(choice.prompt), choice.length);
    } else {
        const CopiedCommand picture = picture_flags(ui);
        if (!picture.why_not.empty()) return picture;
        out.command += picture.command;
        const auto rows = rows_kept(choice);
        out.command += rows ? fmt::format(" --keep-rows {}", *rows) : " --mask " + shell_word(mask);
        if (!rows) out.note = "The mask is in " + mask + ".";
    }
    out.command += sampling_flags(choice.sample);
    if (!is_batch_asked(ui)) add_change(ui, out);
    out.command += is_text_model(ui) ? " -o completion.txt" : " -o completions";
    return out;
}

void completion_button(Ui& ui) {
    constexpr const char* kMask = "mask.png";
    CopiedCommand copied = completion_command(ui, kMask);
    const char* const tip =
        "Copies the command that completes this as it is set here. A mask that is painted is "
        "written into mask.png, over no other file.";
    if (!copied.why_not.empty() || !needs_mask_file(ui)) {
        copy_command_button(ui, copied, tip);
        return;
    }
    copied.is_whole = false;
    if (!copy_command_pressed(ui, copied, tip)) return;
    put_with_picture(ui, {kMask, "Mask not saved", mask_picture(ui.selection.completion)},
                     [&](const std::string& file) { return completion_command(ui, file); });
}

CopiedCommand distribution_command(const ViewState& ui, const Completion& completion,
                                   const std::string& file) {
    const int64_t step = whole_step(ui), position = position_looked_at(ui, completion);
    const std::vector<uint8_t>& sample = completion.samples[sample_looked_at(ui, completion)];
    if (position < 0) return {"", "Nothing is sampled yet."};
    CopiedCommand out{.command = "afterimage probe predictions " +
                                 shell_word(checkpoint_file(ui.status.path, step)),
                      .why_not = why_no_command(ui, step)};
    int64_t asked = position;
    if (is_text_model(ui)) {
        const std::vector<uint8_t> bytes = shown_bytes(ui, sample, size_t(position) + 1);
        const int64_t first = std::max<int64_t>(0, position + 1 - ui.status.tokens);
        const std::string words(bytes.begin() + first, bytes.end());
        if (words.find('\0') != std::string::npos)
            return {"", "The text holds a byte 0, which no command line can carry."};
        asked -= first;
        out.command += " --text " + shell_word(words);
    } else {
        out.command += " --image " + shell_word(file);
        out.note = "The sample is in " + file + ".";
    }
    out.command += fmt::format(" --position {} -o predictions.npy", asked);
    return out;
}

void distribution_button(Ui& ui, const Completion& completion, bool is_current) {
    constexpr const char* kSample = "sample.png";
    CopiedCommand copied = distribution_command(ui, completion, kSample);
    if (!is_current) copied = {"", "What is shown is being read anew."};
    copied.is_whole = is_text_model(ui);
    if (!copy_command_pressed(ui, copied,
                              "Copies the command that writes this distribution, as "
                              "log-probabilities. The sample of a picture is written into "
                              "sample.png, over no other file.",
                              ButtonKind::icon))
        return;
    if (copied.is_whole) return put_command(ui, copied);
    const std::vector<uint8_t>& sample = completion.samples[sample_looked_at(ui, completion)];
    put_with_picture(
        ui, {kSample, "Sample not saved", sample_picture(ui.status.config.model, sample)},
        [&](const std::string& file) { return distribution_command(ui, completion, file); });
}

}  // namespace aft::app
