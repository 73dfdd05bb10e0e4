#include "app/panels/complete/completion_progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/panels/complete/batch_run.h"
#include "app/panels/shared/completion_readings.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/text.h"

namespace aft::app {

CompletionProgress progress_of(const ViewState& ui, const Completion& completion) {
    const FilledPositions filled = filled_positions(completion);
    return {.decided = filled.decided,
            .total = filled.at.size(),
            .count = fmt::format("{} of {}", group_thousands(int64_t(filled.decided)),
                                 group_thousands(int64_t(filled.at.size()))),
            .is_done = completion.done,
            .is_stopped = completion.stopped,
            .seconds = completion.seconds,
            .what = is_text_model(ui)                      ? "bytes"
                    : ui.status.config.model.channels == 1 ? "pixels"
                                                           : "sub-pixels"};
}

CompletionProgress progress_of(const CompletionBatch& batch) {
    CompletionProgress out;
    const auto masked = size_t(std::count(batch.unknown.begin(), batch.unknown.end(), uint8_t{1}));
    size_t finished = 0, left_out = 0;
    for (const BatchPicture& one : batch.pictures) {
        if (!one.error.empty()) {
            ++left_out;
            continue;
        }
        out.total += masked;
        const bool is_whole = is_finished(one);
        finished += is_whole ? 1 : 0;
        if (is_whole)
            out.decided += masked;
        else if (one.completion)
            out.decided += filled_positions(*one.completion).decided;
        if (one.completion) out.seconds += one.completion->seconds;
    }
    out.is_done = !has_unfinished(batch);
    out.is_stopped = !batch.is_running && !out.is_done;
    out.count = fmt::format("{} of {}", finished, batch.pictures.size() - left_out);
    out.what = "pictures";
    return out;
}

void draw_progress(PaneContext& ui, const CompletionProgress& progress) {
    const double share =
        progress.total == 0 ? 1 : static_cast<double>(progress.decided) / double(progress.total);
    const std::string& count = progress.count;
    const float count_width = text_extent(ui, count, text_size::body, Face::medium).x;
    const float least = text_extent(ui, progress.what, text_size::hint).x + ui.px(84);
    const float words_width = count_width + ui.px(8) + least;
    const bool wraps = ImGui::GetContentRegionAvail().x < words_width;
    if (wraps) ImGui::NewLine();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const auto bar = [&](float width, float height) {
        if (ImGui::BeginChild("bar", {width, ui.px(height)}))
            progress_bar(ui, share, progress.is_stopped ? ui.theme.warn : ui.theme.ok, height);
        ImGui::EndChild();
    };
    float x = at.x;
    if (wraps) {  // below its words
        ImGui::SetCursorScreenPos({at.x, at.y + ui.px(22)});
        bar(words_width - ui.px(12), 4);
    } else if (ImGui::GetContentRegionAvail().x > ui.px(620)) {
        ImGui::SetCursorScreenPos({at.x, at.y + ui.px(9)});
        bar(ui.px(150), 8);
        x += ui.px(162);
    }
    text_at(ui, {x, at.y + ui.px(5)}, count, {text_size::body, ui.theme.text1, Face::medium});
    const float after = x + count_width + ui.px(8);
    std::string rest = progress.what;
    if (progress.is_stopped) {
        rest += ", stopped";
    } else if (progress.is_done) {
        rest += ", " + duration(progress.seconds);
    } else if (share > 0.02 && progress.seconds > 0.2) {
        rest += ", " + duration(progress.seconds / share * (1 - share)) + " left";
    }
    text_at(ui, {after, at.y + ui.px(6)}, rest, {text_size::hint, ui.theme.text3});
    ImGui::SetCursorScreenPos({after + least, at.y});
    ImGui::Dummy({1, ui.px(26)});
    ui.recorder.item("value", ui.recorder.claim("Progress##progress"), count + " " + rest);
}

}  // namespace aft::app
