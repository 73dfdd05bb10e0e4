// Completions beside the curves: one picture of the validation data, its lower half masked, filled
// in again with the same random numbers as training continues. They are asked for only while this
// pane is seen, and seldom enough to leave the trainer its share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <set>

#include "app/panels/panel.h"
#include "app/panels/shared/completion_readings.h"
#include "app/panels/shared/copy_command.h"
#include "app/panels/shared/model_state.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/data_spec.h"
#include "core/text.h"
#include "model/model_files.h"
#include "viz/image_grid.h"

namespace aft::app {

PanelRoom train_samples_panel();

namespace {

constexpr int64_t kPictures = 6, kTexts = 2, kPrompt = 48, kLength = 144;
constexpr size_t kShownMoments = 6;
constexpr double kLeastPause = 4;  // seconds between the end of one and the begin of the next

class TrainSamplesPanel final : public Panel {
  public:
    void draw(Ui& ui) override;
    void inspector(Ui& ui) override;
    [[nodiscard]] std::vector<std::string> figures() const override { return {"completions"}; }

  private:
    struct SampleMoment {
        std::shared_ptr<const Completion> completion;
        std::vector<viz::TokenTexture> textures;
    };
    void forget(const ModelView& ui);
    void show(const std::shared_ptr<const Completion>& completion);
    void take(PaneContext& ui);
    void ask(PaneContext& ui);
    [[nodiscard]] int64_t earlier_checkpoint(const ViewState& ui) const;
    void draw_source(PaneContext& ui, ImVec2 at, int zoom);
    void draw_moment(PaneContext& ui, SampleMoment& moment, ImVec2 at, int zoom);
    void draw_pictures(PaneContext& ui);
    void draw_texts(PaneContext& ui);
    [[nodiscard]] std::string caption_words(const ModelView& ui) const;

    uint64_t opened_ = 0;
    int64_t rewinds_ = 0;
    std::shared_ptr<const DataItem> item_;
    std::deque<SampleMoment> moments_;  // newest first
    viz::TokenTexture original_;
    std::vector<uint8_t> mask_;  // [height, width], 1 = to be filled
    struct Asked {
        uint64_t id = 0;  // of the completion asked for last
        bool is_running = false;
        int64_t step = -1, at = -1;  // shown step; step in the request
        std::set<int64_t> tried{};   // earlier steps asked for
        double next_at = 0;
    } asked_;
    size_t rows_ = 3;  // that fit, as drawn last
    std::string error_;
};

std::string moment_words(const ModelView& ui, const Completion& completion) {
    double bits = 0;
    for (size_t i = 0; i < completion.samples.size(); ++i) bits += sample_bits(completion, i);
    bits /= double(std::max<size_t>(1, completion.samples.size()));
    std::string words = "step " + group_thousands(completion.step);
    if (!completion.done) return words + ", filling in";
    if (std::isfinite(bits))
        words +=
            fmt::format(", {} bits/{}", plain_number(bits, 3), is_text_model(ui) ? "byte" : "dim");
    return words;
}

void TrainSamplesPanel::forget(const ModelView& ui) {
    opened_ = ui.opened;
    rewinds_ = ui.status.rewinds;  // steps that were shown may come a second time
    item_ = nullptr;
    moments_.clear();
    error_.clear();
    asked_.id = 0;
    asked_.is_running = false;
    asked_.step = -1;
    asked_.tried.clear();
    asked_.next_at = 0;
}

// What has come of the completion asked for; another one may have taken its place.
// Among those shown, the newest step first; one of the same step goes.
void TrainSamplesPanel::show(const std::shared_ptr<const Completion>& completion) {
    const auto same = std::find_if(moments_.begin(), moments_.end(), [&](const SampleMoment& m) {
        return m.completion->step == completion->step;
    });
    if (same != moments_.end()) {
        same->completion = completion;
        return;
    }
    const auto place = std::find_if(moments_.begin(), moments_.end(), [&](const SampleMoment& m) {
        return m.completion->step < completion->step;
    });
    moments_.insert(place,
                    {completion, std::vector<viz::TokenTexture>(completion->samples.size())});
    if (moments_.size() > kShownMoments) moments_.pop_back();
}

// What has come of the completion asked for; another one may have taken its place.
void TrainSamplesPanel::take(PaneContext& ui) {
    if (!asked_.is_running) return;
    asked_.id = ui.train_completion;
    const auto now = ui.session->completions().latest();
    if (!now || now->id < asked_.id) return;
    if (now->id == asked_.id) {
        const bool is_earlier = asked_.tried.contains(asked_.at);
        error_ = is_earlier ? "" : now->error;
        if (!now->samples.empty()) show(now);
        if (!now->done && now->error.empty()) return;
    }
    asked_.is_running = false;
    if (now->id != asked_.id || now->stopped) {  // another one has taken its place
        std::erase_if(moments_,
                      [&](const SampleMoment& m) { return m.completion->id == asked_.id; });
        asked_.tried.erase(asked_.at);
        asked_.step = -1;
    }
    asked_.next_at = ui.time + std::max(kLeastPause, rest_after(ui, *now));
}

// The newest saved step below the oldest one shown, where a row is free. -1 = no row, or there is
// none.
int64_t TrainSamplesPanel::earlier_checkpoint(const ViewState& ui) const {
    if (moments_.empty() || moments_.size() >= std::min(rows_, kShownMoments)) return -1;
    const std::vector<int64_t> saved = ui.session->saved_steps();  // in ascending order
    const auto at = std::lower_bound(saved.begin(), saved.end(), moments_.back().completion->step);
    if (at == saved.begin()) return -1;
    const int64_t step = *std::prev(at);
    return asked_.tried.contains(step) ? -1 : step;
}

void TrainSamplesPanel::ask(PaneContext& ui) {
    if (asked_.is_running || ui.session->completions().is_busy()) return;
    const bool is_training = ui.status.state == RunState::running && ui.selection.step < 0;
    int64_t step = ui.shown_step(), at = ui.selection.step;
    if (step == asked_.step) {  // with time to spare: how it was at earlier checkpoints
        step = at = is_training ? -1 : earlier_checkpoint(ui);
        if (step < 0) return;
        asked_.tried.insert(step);
    }
    if (is_training && ui.time < asked_.next_at) {
        ui.want_frame_at(asked_.next_at);
        return;
    }
    CompletionRequest request;
    request.tokens = item_->tokens;
    request.sample = {.samples = is_text_model(ui) ? kTexts : kPictures};
    request.step = at;
    if (is_text_model(ui)) {
        const auto length = size_t(std::min<int64_t>(kLength, ui.status.tokens));
        request.tokens.resize(std::min(request.tokens.size(), length));
        request.unknown.assign(request.tokens.size(), 1);
        std::fill_n(request.unknown.begin(), std::min(request.unknown.size(), size_t(kPrompt)),
                    uint8_t{0});
    } else {
        request.unknown.assign(request.tokens.size(), 0);
        std::fill(request.unknown.begin() + std::ptrdiff_t(request.unknown.size() / 2),
                  request.unknown.end(), uint8_t{1});
    }
    ui.commands.send(StartCompletion{CompletionOwner::train, std::move(request)});
    asked_.is_running = true;
    asked_.at = at;
    if (step == ui.shown_step()) asked_.step = step;
}

std::string TrainSamplesPanel::caption_words(const ModelView& ui) const {
    std::string words = is_text_model(ui) ? fmt::format("the first {} bytes are given", kPrompt)
                                          : "lower half masked";
    words += ", same random numbers at every step  \u00B7  " + ui.status.name;
    if (!moments_.empty()) words += ", step " + group_thousands(moments_.front().completion->step);
    if (ui.status.state == RunState::running) words += " (training continues)";
    return words;
}

void TrainSamplesPanel::draw_source(PaneContext& ui, ImVec2 at, int zoom) {
    const ModelConfig& model = ui.status.config.model;
    const float tall = float(zoom * model.height);
    mask_.assign(size_t(model.height * model.width), 0);
    std::fill(mask_.begin() + std::ptrdiff_t(mask_.size() / 2), mask_.end(), uint8_t{1});
    original_.set(viz::TokenImage{.tokens = item_->tokens,
                                  .height = model.height,
                                  .width = model.width,
                                  .channels = model.channels,
                                  .levels = model.levels},
                  ui);
    viz::ImageView view;
    view.height = model.height;
    view.width = model.width;
    view.zoom = zoom;
    for (const bool is_masked : {false, true}) {
        view.id = is_masked ? "given" : "original";
        if (is_masked) view.mask = mask_;
        ImGui::SetCursorScreenPos(at);
        const viz::ImageReply reply = draw_image(view, original_, ui);
        text_at(ui, {at.x, at.y + tall + ui.px(5)}, is_masked ? "Given" : "Original",
                {text_size::label, ui.theme.text2});
        ui.recorder.area(
            {.kind = "picture",
             .path = ui.recorder.claim(is_masked ? "Given##given" : "Original##original"),
             .min = reply.box.low,
             .max = reply.box.high,
             .value = item_->caption,
             .why_not = {}});
        at.y += tall + ui.px(36);
        if (at.y + tall > ImGui::GetWindowPos().y + ImGui::GetWindowHeight()) return;
    }
}

void TrainSamplesPanel::draw_moment(PaneContext& ui, SampleMoment& moment, ImVec2 at, int zoom) {
    const ModelConfig& model = ui.status.config.model;
    const Completion& completion = *moment.completion;
    const bool is_running = !completion.done && completion.position < completion.total;
    const std::string words = moment_words(ui, completion);
    for (size_t i = 0; i < completion.samples.size() && i < moment.textures.size(); ++i) {
        moment.textures[i].set(viz::TokenImage{.tokens = completion.samples[i],
                                               .height = model.height,
                                               .width = model.width,
                                               .channels = model.channels,
                                               .levels = model.levels,
                                               .known = is_running ? completion.position : -1,
                                               .unknown = completion.unknown},
                               ui);
        const std::string id = fmt::format("moment {} {}", completion.id, i);
        viz::ImageView view;
        view.id = id.c_str();
        view.height = model.height;
        view.width = model.width;
        view.zoom = zoom;
        view.outlined = mask_;
        ImGui::SetCursorScreenPos(
            {at.x + float(i) * (float(zoom * model.width) + ui.px(12)), at.y});
        (void)draw_image(view, moment.textures[i], ui);
    }
    const float tall = float(zoom * model.height);
    const bool is_newest = &moment == &moments_.front();
    text_at(ui, {at.x, at.y + tall + ui.px(5)}, words,
            {text_size::label, is_newest ? ui.theme.text1 : ui.theme.text2,
             is_newest ? Face::medium : Face::regular});
    ui.recorder.area(
        {.kind = "pictures",
         .path = ui.recorder.claim(fmt::format("Step {0}##step_{0}", completion.step)),
         .min = at,
         .max = {at.x + float(completion.samples.size()) * float(zoom * model.width), at.y + tall},
         .value = words,
         .why_not = {}});
}

void TrainSamplesPanel::draw_pictures(PaneContext& ui) {
    const ModelConfig& model = ui.status.config.model;
    const ImVec2 available = ImGui::GetContentRegionAvail();
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float gap = ui.px(12), foot = ui.px(36), apart = ui.px(28);
    const float wide = (available.x - apart - gap * float(kPictures)) / float(kPictures + 1);
    const float tall = available.y / 2 - foot;
    const int zoom = viz::fit_zoom({wide, tall}, model.height, model.width, 4096);
    draw_source(ui, corner, zoom);
    const float step = float(zoom * model.height) + foot;
    rows_ = std::max<size_t>(1, size_t((available.y + ui.px(8)) / step));
    ImVec2 at = {corner.x + float(zoom * model.width) + apart, corner.y};
    for (SampleMoment& moment : moments_) {
        if (at.y + step - ui.px(8) > corner.y + available.y + 1 && &moment != &moments_.front())
            break;
        draw_moment(ui, moment, at, zoom);
        at.y += step;
    }
}

void TrainSamplesPanel::draw_texts(PaneContext& ui) {
    ImGui::BeginChild("texts");
    for (const SampleMoment& moment : moments_) {
        const Completion& completion = *moment.completion;
        section(ui, {moment_words(ui, completion), fmt::format("step_{}", completion.step)}, {},
                &moment != &moments_.front());
        for (const std::vector<uint8_t>& sample : completion.samples) {
            const auto prompt = size_t(
                std::count(completion.unknown.begin(), completion.unknown.end(), uint8_t{0}));
            const auto decided = size_t(std::max<int64_t>(0, completion.position));
            const FontScope mono(ui.fonts, Face::mono, text_size::label);
            ImGui::PushTextWrapPos(0);
            ImGui::PushStyleColor(ImGuiCol_Text, ui.theme.text1);
            const std::string all = shown_text(ui, sample, 0, prompt) + "\u2502" +
                                    shown_text(ui, sample, prompt, decided);
            ImGui::TextUnformatted(all.c_str());
            ImGui::PopStyleColor();
            ImGui::PopTextWrapPos();
            ImGui::Dummy({1, ui.px(4)});
        }
    }
    ImGui::EndChild();
}

// Of the newest one that is shown.
CopiedCommand samples_command(const ViewState& ui, const Completion& completion,
                              const DataItem& item) {
    const ModelConfig& model = ui.status.config.model;
    const auto prompt =
        size_t(std::count(completion.unknown.begin(), completion.unknown.end(), uint8_t{0}));
    CopiedCommand out{.command = "afterimage complete " +
                                 shell_word(checkpoint_file(ui.status.path, completion.step)),
                      .why_not = why_no_command(ui, completion.step)};
    if (is_text_model(ui)) {
        const std::vector<uint8_t> bytes = shown_bytes(ui, item.tokens, prompt);
        out.command += fmt::format(" --prompt {} --length {}",
                                   shell_word(std::string(bytes.begin(), bytes.end())),
                                   completion.unknown.size() - prompt);
        if (std::find(bytes.begin(), bytes.end(), uint8_t{0}) != bytes.end())
            return {"", "The prompt holds a byte 0, which no command line can carry."};
    } else {
        const auto row = size_t(std::max<int64_t>(1, model.width * model.channels));
        if (prompt % row != 0) return {"", "The given half ends within a row: it has no command."};
        DataSpec spec = split_data_spec(ui.status.config.data.source);
        if (spec.options.find("split=") == std::string::npos)
            spec.options += spec.options.empty() ? "?split=validation" : "&split=validation";
        out.command += fmt::format(" --data {} --index 0 --keep-rows {}", shell_word(spec.text()),
                                   prompt / row);
    }
    out.command += fmt::format(" --samples {} --seed {} -o completions", completion.samples.size(),
                               SampleOptions{}.seed);
    return out;
}

void TrainSamplesPanel::inspector(Ui& ui) {
    if (!is_front() || moments_.empty() || !item_) return;
    const Completion& newest = *moments_.front().completion;
    section(ui, "Completions##completions", "step " + group_thousands(newest.step));
    copy_command_button(ui, samples_command(ui, newest, *item_),
                        "Copies the command that draws the newest of these completions again.");
}

void TrainSamplesPanel::draw(Ui& ui) {
    if (mixer_alone_state(ui, Drawing::picture)) return;
    if (ui.has_model() && !ui.status.task.is_autoregressive) {
        empty_state(ui, {.drawing = Drawing::picture,
                         .title = "This model classifies pictures",
                         .sentence = classifier_words(ui)});
        return;
    }
    if (completion_state(ui)) return;
    if (opened_ != ui.opened || rewinds_ != ui.status.rewinds) forget(ui);
    ItemError problem;
    if (!item_) item_ = ui.session->items().example("validation", 0, &problem);
    if (!problem.words.empty()) {
        Banner spec{.title = is_text_model(ui) ? "There is no validation text"
                                               : "There is no validation picture",
                    .sentence = problem.words + "."};
        if (ui.actions.why_not(ui, "file.choose_data").empty())
            spec.actions.push_back("file.choose_data");
        spec.actions.push_back("file.reread_sample");
        banner(ui, spec);
        return;
    }
    if (!item_) {
        (void)progress_line(ui, "Reading the validation data", -1);
        return;
    }
    if (!is_text_model(ui) && int64_t(item_->tokens.size()) != ui.status.tokens) {
        hint(ui, "The validation picture has another size than the model.");
        return;
    }
    take(ui);
    ask(ui);
    caption(ui, "Completions of " + item_->caption, caption_words(ui));
    if (asked_.is_running) (void)progress_line(ui, "", -1);
    if (!error_.empty())
        banner(ui, {.title = "The completion could not be made", .sentence = error_});
    is_text_model(ui) ? draw_texts(ui) : draw_pictures(ui);
}

}  // namespace

PanelRoom train_samples_panel() {
    return {
        {"Completions", "a sample of the validation data, completed again as training continues"},
        "completions",
        icon::picture,
        "The same masked picture, or the same prompt, and the same random numbers at every step: "
        "what differs is what was learnt. The newest step stands on top.",
        {{Workspace::train, Slot::canvas, 1}},
        make_panel<TrainSamplesPanel>};
}

}  // namespace aft::app
