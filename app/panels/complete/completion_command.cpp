#include "app/panels/complete/completion_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/panels/complete/batch_run.h"
#include "app/panels/complete/completion_state.h"
#include "app/panels/shared/completion_inputs.h"
#include "app/panels/shared/whole_step.h"
#include "app/state/picture_list.h"
#include "core/text.h"
#include "model/model_files.h"

namespace aft::app {

namespace {

constexpr const char* kCommandMask = "mask.png";

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

}  // namespace

CopiedCommand completion_command(const ViewState& ui) {
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
        out.command +=
            rows ? fmt::format(" --keep-rows {}", *rows) : fmt::format(" --mask {}", kCommandMask);
        if (!rows)
            out.note = fmt::format("It reads the mask from {}: write it with Load or save mask.",
                                   kCommandMask);
    }
    out.command += sampling_flags(choice.sample) +
                   (is_text_model(ui) ? " -o completion.txt" : " -o completions");
    return out;
}

}  // namespace aft::app
