#include "app/frame/cards/film_recorder.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "app/frame/cards/overlays.h"
#include "app/widgets/buttons.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/caught.h"
#include "core/clock.h"
#include "core/text.h"
#include "model/system.h"

namespace aft::app {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kFramesShown = 2;         // that show all of a place before it is taken
constexpr int kFramesBefore = 3;        // the card and the menu are gone by then
constexpr double kLongestRead_s = 120;  // of one place

bool is_last(const Completion& whole, int64_t position) {
    for (auto i = static_cast<size_t>(position) + 1; i < whole.unknown.size(); ++i)
        if (whole.unknown[i] != 0 && static_cast<int64_t>(i) < whole.position) return false;
    return true;
}

}  // namespace

Completion completion_until(const Completion& whole, int64_t position) {
    Completion part = whole;
    if (is_last(whole, position)) return part;
    part.position = position + 1;
    for (size_t sample = 0; sample < part.log_likelihood.size(); ++sample) {
        double bits = 0;
        for (size_t i = 0; i <= static_cast<size_t>(position); ++i)
            if (std::isfinite(part.surprise[sample][i])) bits += part.surprise[sample][i];
        part.log_likelihood[sample] = -bits * std::numbers::ln2;
    }
    return part;
}

FilmRecorder::~FilmRecorder() {
    if (recording_) recording_->stop.request_stop();
}

void FilmRecorder::start(Ui& ui, FilmRequest request) {
    const CompletionChoice& completion = ui.selection.completion;
    ui.film_frame = {};
    recording_.emplace();
    Recording& r = *recording_;
    r.request = std::move(request);
    r.before = {.session = ui.session,
                .step = ui.selection.step,
                .position = completion.position,
                .completion_id = completion.own_id,
                .completion = completion.own};
    r.shown = -kFramesBefore;
    r.since = Clock::now();
    if (r.request.kind == FilmKind::generation) ui.workspace = Workspace::complete;
    ui.want_frames(2);
}

// What the frame that comes is to show. Steps that the run has given up meanwhile are left out.
void FilmRecorder::show(ViewState& ui) {
    Recording& r = *recording_;
    const std::vector<int64_t>& places = r.request.places;
    const bool is_scrub = r.request.kind == FilmKind::scrub;
    const auto is_there = [&](int64_t step) {
        return std::binary_search(ui.history.begin(), ui.history.end(), step);
    };
    while (is_scrub && r.at < places.size() && !is_there(places[r.at])) ++r.at;
    if (r.at >= places.size()) return;
    if (is_scrub) {
        ui.selection.step = places[r.at];
        return;
    }
    CompletionChoice& choice = ui.selection.completion;
    choice.position = places[r.at];
    choice.level = -1;
    if (std::exchange(r.cut_at, static_cast<int64_t>(r.at)) != static_cast<int64_t>(r.at))
        r.cut = std::make_shared<Completion>(completion_until(*r.before.completion, places[r.at]));
    choice.own = r.cut;
}

// One thing at a time, in the order in which it is given.
void FilmRecorder::write(std::optional<Image> frame) {
    work_.start([output = recording_->output, frame = std::move(frame)](const auto& publish,
                                                                        const std::stop_token&) {
        std::string error = error_words(
            [&] {
                if (!output->writer)
                    output->writer.emplace(output->path, output->shape, output->stop);
                frame ? output->writer->add(*frame) : output->writer->finish();
            },
            plain_words);
        if (output->stop.stop_requested()) output->writer.reset();  // what is there goes
        publish({std::move(error)});
    });
}

void FilmRecorder::take(Ui& ui, Image frame) {
    Recording& r = *recording_;
    if (!r.output) {
        r.output = std::make_shared<FilmOutput>();
        r.output->path = r.request.path;
        r.output->shape = {frame.width, frame.height, r.request.frames_per_second};
        r.output->stop = r.stop.get_token();
    }
    const FilmShape& shape = r.output->shape;
    if (frame.width != shape.width || frame.height != shape.height) {
        frame = fit_frame(frame, shape.width, shape.height);
        if (!std::exchange(r.was_resized, true)) {
            const std::string words =
                fmt::format("What is filmed has changed its size: cropped or filled up to {} x {}.",
                            shape.width, shape.height);
            ui.toasts.add({.kind = ToastKind::warning, .title = words});
            ui.say("warning", words);
        }
    }
    write(std::move(frame));
    ++r.at;
    r.shown = 0;
    r.since = Clock::now();
}

void FilmRecorder::prepare(Ui& ui) {
    if (!recording_) return;
    Recording& r = *recording_;
    if (ui.session != r.before.session || !ui.has_model()) return fail(ui, "the model was closed");
    ui.want_frames(1);
    if (!ui.film_frame.error.empty()) return fail(ui, ui.film_frame.error);
    const auto written = r.output && !work_.is_busy() ? work_.latest() : nullptr;
    if (written && !written->error.empty()) return fail(ui, written->error);
    if (ui.film_frame.taken) take(ui, *std::exchange(ui.film_frame.taken, std::nullopt));
    show(ui);
    r.missed = ui.answers_missed();
    if (r.at < r.request.places.size() || work_.is_busy()) return;
    if (!r.output) return fail(ui, "none of these steps is stored any more");
    if (!std::exchange(r.is_ending, true)) return write(std::nullopt);
    const std::string path = r.request.path;
    end(ui);
    ui.toasts.add({.kind = ToastKind::done, .title = "Film saved", .detail = path});
    ui.say("info", "film saved: " + path);
}

void FilmRecorder::note_drawn(Ui& ui, bool is_covered) {
    if (!recording_ || recording_->at >= recording_->request.places.size()) return;
    Recording& r = *recording_;
    const int64_t place = r.request.places[r.at];
    const bool is_shown = r.request.kind == FilmKind::scrub
                              ? ui.selection.step == place
                              : ui.selection.completion.position == place;
    const ImVec2 size(ui.picture.high.x - ui.picture.low.x, ui.picture.high.y - ui.picture.low.y);
    if (r.workspace == Workspace::home) r.workspace = ui.workspace;
    const bool is_away = ui.workspace != r.workspace;             // until the user is back
    if (ui.answers_missed() != r.missed) r.since = Clock::now();  // it comes on
    if (is_covered || is_away || size.x < 1 || size.y < 1) {
        r.since = Clock::now();
        r.shown = std::min(r.shown, 0);
        return;
    }
    const bool is_read = is_shown && ui.session != nullptr && ui.answers_missed() == r.missed &&
                         !is_reading(ui.recorder.last());
    r.shown = r.shown < 0 ? r.shown + 1 : is_read ? r.shown + 1 : 0;
    ui.film_frame.is_due = r.shown >= kFramesShown && !work_.is_busy();
    if (!is_read && seconds_since(r.since) > kLongestRead_s)
        fail(ui, fmt::format("what is shown is still being read after {:.0f} s", kLongestRead_s));
}

void FilmRecorder::end(Ui& ui) {
    const FilmBefore before = std::move(recording_->before);
    recording_->stop.request_stop();
    std::shared_ptr<FilmOutput> output = std::move(recording_->output);
    recording_.reset();
    // What is removed may be many files: not here. Where a frame is being written, that does it.
    if (output && !work_.is_busy())
        work_.start([output = std::move(output)](const auto& publish, const std::stop_token&) {
            output->writer.reset();
            publish({});
        });
    ui.film_frame = {};
    ui.want_frames(2);
    if (ui.session != before.session) return;
    CompletionChoice& choice = ui.selection.completion;
    ui.selection.step = before.step;
    choice.position = before.position;
    if (choice.own_id == before.completion_id) choice.own = before.completion;
}

void FilmRecorder::cancel(Ui& ui) {
    if (!recording_) return;
    end(ui);
    ui.toasts.add(
        {.kind = ToastKind::info, .title = "Film cancelled", .detail = "Nothing of it was kept."});
}

void FilmRecorder::fail(Ui& ui, const std::string& why) {
    end(ui);
    ui.toasts.add({.kind = ToastKind::error, .title = "Film not saved", .detail = why});
    ui.say("error", "film not saved: " + why);
}

void FilmRecorder::draw(Ui& ui, const FrameAreas& areas, ImVec2 display) {
    if (!recording_) return;
    const Recording& r = *recording_;
    const BarScope bar("Film", {.at = {0, display.y - areas.status},
                                .size = {display.x, areas.status},
                                .ground = ui.theme.raised});
    ImGui::BringWindowToDisplayFront(ImGui::GetCurrentWindow());
    ui.recorder.set_pane("Film##film");
    const size_t count = r.request.places.size();
    const std::string words =
        r.at < count ? fmt::format("Recording frame {} of {}", r.at + 1, count) : "Ending the film";
    const float middle = display.y - areas.status / 2;
    icon_at(ui, {ui.px(18), middle}, icon::dot, {14, ui.theme.error});
    ImGui::SetCursorScreenPos({ui.px(30), middle - ui.px(text_size::hint) / 2});
    text(ui, words, {text_size::hint, ui.theme.text1});
    ui.recorder.item("progress", ui.recorder.claim("Progress##progress"), words);
    const float right = std::max(ui.px(240), display.x - ui.px(110));
    ImGui::SetCursorScreenPos({ui.px(220), middle - ui.px(3)});
    ImGui::BeginChild("bar", {right - ui.px(230), ui.px(6)});
    progress_bar(ui, static_cast<double>(r.at) / static_cast<double>(count), ui.theme.accent);
    ImGui::EndChild();
    ImGui::SetCursorScreenPos({right, middle - ui.px(11)});
    if (button(ui, {.name = "Cancel##cancel",
                    .kind = ButtonKind::ghost,
                    .tip = "Stops recording; nothing is kept of the film.",
                    .shortcut = "Esc",
                    .width = 96,
                    .height = 22}))
        cancel(ui);
}

}  // namespace aft::app
