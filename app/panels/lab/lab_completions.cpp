#include "app/panels/lab/lab_completions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/lab/lab_words.h"
#include "app/panels/shared/completion_readings.h"
#include "app/panels/shared/overlay_image.h"
#include "app/widgets/text.h"
#include "core/text.h"

namespace aft::app {

namespace {

constexpr size_t kMostColumns = 5;
constexpr int64_t kMostText = 400;    // bytes of a text window that are looked at
constexpr double kRecipePause = 0.3;  // seconds without a change before it is completed

// As many decimals as show that one pixel differs by one level.
std::string levels_words(double mean) {
    return fmt::format("{:.3f}", mean);
}

// Below a picture: what the number is, as far as there is space.
struct MeanWords {
    const char *before, *behind;
};
constexpr MeanWords kMeanWords[] = {{"mean ", " levels"}, {"mean ", ""}, {"", ""}};

std::string words_of(double mean, const MeanWords& words) {
    return words.before + levels_words(mean) + words.behind;
}

// The longest ones that fit below every picture.
const MeanWords& fitting_words(const DrawContext& ui, const std::vector<double>& means,
                               float width) {
    for (const MeanWords& words : kMeanWords)
        if (std::ranges::all_of(means, [&](double mean) {
                return text_extent(ui, words_of(mean, words), text_size::hint).x <= width;
            }))
            return words;
    return kMeanWords[2];
}

constexpr float kLabLabel = 84, kLabFoot = 48, kLeastRow = 40;
constexpr const char* kLabRows[] = {"Untouched", "Changed", "Difference"};

// The mask of Complete fits this model, and something is to be filled in.
bool has_mask(const ViewState& ui) {
    const KeptMask mask = kept_mask(ui.selection.completion, ui.status.config.model);
    return !is_text_model(ui) &&
           std::any_of(mask.values.begin(), mask.values.end(), [](uint8_t m) { return m != 0; });
}

// What is to be filled in: the mask of Complete where it fits this model, else the lower half; of a
// text its second half.
std::vector<uint8_t> unknown_of(const ViewState& ui, size_t tokens) {
    const CompletionChoice& choice = ui.selection.completion;
    const ModelConfig& model = ui.status.config.model;
    std::vector<uint8_t> unknown(tokens, 0);
    const auto mask = choice.mask.mask();
    const bool fits = has_mask(ui) && int64_t(mask.size()) == model.height * model.width;
    const auto channels = size_t(std::max<int64_t>(1, model.channels));
    for (size_t i = 0; i < tokens; ++i)
        unknown[i] = fits ? mask[i / channels] : i >= tokens / 2 ? 1 : 0;
    return unknown;
}

size_t tokens_of(const ViewState& ui) {
    return size_t(is_text_model(ui) ? std::min(ui.status.tokens, kMostText) : ui.status.tokens);
}

}  // namespace

bool has_painted_mask(const ViewState& ui) {
    return has_mask(ui) &&
           !is_lower_half(kept_mask(ui.selection.completion, ui.status.config.model));
}

bool LabCompletions::SampleKey::is(const SampleKey& other) const {
    return path == other.path && step == other.step && first == other.first &&
           unknown == other.unknown && sample.seed == other.sample.seed &&
           sample.temperature == other.sample.temperature && sample.top_k == other.sample.top_k &&
           sample.top_p == other.sample.top_p;
}

// Other pictures, weights or random numbers: all of it anew. Another recipe: what it changes.
void LabCompletions::renew(const PaneContext& ui,
                           const std::vector<std::shared_ptr<const DataItem>>& items,
                           const Recipe& recipe) {
    SampleKey key{ui.status.path, lab_step(ui).value_or(MeasuredStep{.asked = -1}),
                  ui.selection.lab.first, unknown_of(ui, tokens_of(ui)),
                  ui.selection.completion.sample};
    key.sample.samples = 1;
    key.sample.particles = 1;
    const size_t count = std::min(items.size(), is_text_model(ui) ? size_t{1} : kMostColumns);
    bool is_same = key.is(key_) && columns_.size() <= count;
    for (size_t i = 0; i < columns_.size() && is_same; ++i) is_same = columns_[i].item == items[i];
    if (!is_same) {
        columns_.clear();
        asked_ = -1;
        key_ = std::move(key);
    }
    for (size_t i = columns_.size(); i < count; ++i) columns_.emplace_back().item = items[i];
    if (recipe == recipe_) return;
    recipe_ = recipe;
    recipe_since_ = ui.time;
    for (LabColumn& column : columns_) {
        column.samples[changed].is_done = column.has_difference = false;
    }
    if (asked_ >= 0 && asked_ % 2 == changed) asked_ = -1;
}

void LabCompletions::compare(const ModelConfig& model, LabColumn& column) {
    const auto &before = column.samples[untouched].tokens, &after = column.samples[changed].tokens;
    if (before.size() != after.size()) return;
    std::vector<float> off(before.size(), std::nanf(""));
    double sum = 0;
    int64_t count = 0;
    for (size_t i = 0; i < off.size(); ++i) {
        if (key_.unknown[i] == 0) continue;
        off[i] = std::abs(float(after[i]) - float(before[i]));
        sum += off[i];
        ++count;
    }
    column.mean_levels = count > 0 ? sum / double(count) : 0;
    column.has_difference = true;
    // The colours of overlays go to log2(levels): a difference of all levels is the brightest.
    const double top = std::log2(double(std::max<int64_t>(2, model.levels)));
    off_levels_.assign(off.begin(), off.end());
    for (float& value : off) value = float(value / double(model.levels - 1) * top);
    off_ = std::move(off);
}

void LabCompletions::take(const ViewState& ui) {
    if (asked_ < 0) return;
    if (is_sent_) {  // the frame has given it its id by now
        is_sent_ = false;
        return;
    }
    const auto now = ui.session->completions().latest();
    if (!now || now->id < ui.lab_completion) return;
    if (now->id != ui.lab_completion) {  // another workspace took its place: asked for again
        asked_ = -1;
        return;
    }
    LabSample& sample = columns_[size_t(asked_ / 2)].samples[size_t(asked_ % 2)];
    if (!now->samples.empty()) sample.tokens = now->samples.front();
    if (!now->done) return;
    sample.is_done = true;
    if (!now->error.empty()) sample.tokens.clear();
    asked_ = -1;
}

void LabCompletions::ask(PaneContext& ui) {
    if (asked_ >= 0 || is_completing(ui)) return;
    for (size_t i = 0; i < columns_.size() && i < shown_; ++i)
        for (const Version version : {untouched, changed}) {
            LabSample& sample = columns_[i].samples[version];
            const DataItem& item = *columns_[i].item;
            if (sample.is_done || item.tokens.size() < key_.unknown.size()) continue;
            if (version == changed) {
                if (recipe_.is_untouched()) continue;
                if (ui.time - recipe_since_ < kRecipePause)
                    return ui.want_frame_at(recipe_since_ + kRecipePause);
            }
            CompletionRequest request;
            request.tokens = item.tokens;
            request.tokens.resize(key_.unknown.size());
            request.unknown = key_.unknown;
            request.sample = key_.sample;
            request.sample.seed += i;
            request.step = key_.step.asked;
            if (version == changed) request.recipe = recipe_;
            ui.commands.send(StartCompletion{CompletionOwner::lab, std::move(request)});
            asked_ = int64_t(2 * i) + version;
            is_sent_ = true;
            return;
        }
}

// Beside the row's name, in the place of pictures of this height.
static void draw_incomplete(const DrawContext& ui, float tall) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    text_at(ui, {at.x, at.y + tall / 2 - ui.px(8)}, "Drawn when both are complete.",
            {text_size::hint, ui.theme.text3});
}

void LabCompletions::draw_picture(PaneContext& ui, const PicturePlace& place) {
    const auto [column, row, zoom] = place;
    const ModelConfig& model = ui.status.config.model;
    LabColumn& of = columns_[column];
    const DataItem& item = *of.item;
    viz::TokenTexture* texture = &of.difference;
    const viz::TokenImage base{.tokens = item.tokens,
                               .height = model.height,
                               .width = model.width,
                               .channels = model.channels,
                               .levels = model.levels,
                               .known = 0,
                               .unknown = key_.unknown};
    if (row < 2) {
        LabSample& sample = of.samples[size_t(row)];
        viz::TokenImage image = base;
        if (sample.tokens.size() == key_.unknown.size()) {
            image.tokens = sample.tokens;
            image.known = -1;
        }
        texture = &sample.texture;
        texture->set(image, ui);
    } else if (of.samples[untouched].is_done && of.samples[changed].is_done &&
               !of.samples[changed].tokens.empty()) {
        if (!of.has_difference) {
            compare(model, of);
            viz::TokenImage image = base;
            image.known = -1;
            of.difference.set(overlay_image(image, off_), ui);
            of.difference.note_values({.name = {},
                                       .shape = {model.height, model.width, model.channels},
                                       .values = off_levels_});
        }
    } else {
        if (column == 0) draw_incomplete(ui, float(zoom * model.height));
        return;
    }
    const std::string id = fmt::format("lab {} {}", row, column);
    viz::ImageView view;
    view.id = id.c_str();
    view.height = model.height;
    view.width = model.width;
    view.zoom = zoom;
    const LabSample& last = of.samples[changed];
    const bool is_old = row == 1 && !last.is_done && last.tokens.size() == key_.unknown.size();
    view.alpha = is_old ? 0.55F : 1.0F;
    view.outlined = masked_;
    const viz::ImageReply reply = draw_image(view, *texture, ui);
    const bool is_there = row == 2 || of.samples[size_t(row)].is_done;
    ui.recorder.area(
        {.kind = "picture",
         .path = ui.recorder.claim(fmt::format("{0} {1}##lab_{2}_{1}", kLabRows[row], column, row)),
         .min = reply.box.low,
         .max = reply.box.high,
         .value = !is_there ? "loading"
                  : row < 2 ? item.caption
                            : "mean " + levels_words(of.mean_levels) + " levels",
         .why_not = {}});
}

void LabCompletions::draw_pictures(PaneContext& ui) {
    const ModelConfig& model = ui.status.config.model;
    masked_ = pixel_mask(model, key_.unknown);
    const ImVec2 corner = ImGui::GetCursorScreenPos(), area = ImGui::GetContentRegionAvail();
    const float gap = ui.px(10), label = ui.px(kLabLabel), foot = ui.px(kLabFoot);
    const float tall = (area.y - foot - 3 * gap) / 3;
    const float wide = (area.x - label) / float(std::max<size_t>(1, columns_.size())) - gap;
    const ImVec2 available{std::max(wide, ui.px(kLeastRow)), std::max(tall, ui.px(kLeastRow))};
    const int zoom = std::max(1, viz::fit_zoom(available, model.height, model.width, 4096));
    const ImVec2 picture{float(zoom) * float(model.width), float(zoom) * float(model.height)};
    shown_ = size_t(std::max(1.0F, (area.x - label + gap) / (picture.x + gap)));
    for (int row = 0; row < 3; ++row) {
        const float y = corner.y + float(row) * (picture.y + gap);
        text_at(ui, {corner.x, y + picture.y / 2 - ui.px(8)}, kLabRows[row],
                {text_size::label, row == 1 ? ui.theme.text1 : ui.theme.text2,
                 row == 1 ? Face::medium : Face::regular});
        for (size_t i = 0; i < columns_.size() && i < shown_; ++i) {
            ImGui::SetCursorScreenPos({corner.x + label + float(i) * (picture.x + gap), y});
            draw_picture(ui, {i, row, zoom});
        }
    }
    std::vector<double> means;
    for (size_t i = 0; i < columns_.size() && i < shown_; ++i)
        if (columns_[i].has_difference) means.push_back(columns_[i].mean_levels);
    const MeanWords& mean_words = fitting_words(ui, means, picture.x + gap - ui.px(12));
    const float y = corner.y + 3 * (picture.y + gap);
    for (size_t i = 0; i < columns_.size() && i < shown_; ++i)
        if (columns_[i].has_difference)
            text_at(ui, {corner.x + label + float(i) * (picture.x + gap), y},
                    words_of(columns_[i].mean_levels, mean_words),
                    {text_size::hint, ui.theme.text2, Face::regular, picture.x + gap});
    const bool is_bare = !means.empty() && *mean_words.before == '\0';
    const std::string key =
        fmt::format("{}: dark 0, bright {}",
                    is_bare ? "Numbers: mean absolute difference in levels; colours"
                            : "Absolute difference in levels",
                    model.levels - 1);
    const bool fits = text_extent(ui, key, text_size::hint).x <= area.x - label;
    text_at(ui, {fits ? corner.x + label : corner.x, y + ui.px(22)}, key,
            {text_size::hint, ui.theme.text3, Face::regular, fits ? area.x - label : area.x});
    ImGui::SetCursorScreenPos(corner);
    ImGui::Dummy({area.x, 3 * (picture.y + gap) + foot});
}

void LabCompletions::draw_texts(PaneContext& ui) {
    if (columns_.empty()) return;
    for (const Version version : {untouched, changed}) {
        const LabSample& sample = columns_.front().samples[version];
        section(ui, {kLabRows[version], fmt::format("text_{}", int(version))},
                sample.is_done ? "" : "not there yet", version == changed);
        const FontScope mono(ui.fonts, Face::mono, text_size::label);
        ImGui::PushTextWrapPos(0);
        ImGui::PushStyleColor(ImGuiCol_Text, ui.theme.text1);
        const size_t prompt = size_t(std::count(key_.unknown.begin(), key_.unknown.end(), 0));
        const std::string words =
            sample.tokens.size() < key_.unknown.size()
                ? std::string()
                : shown_text(ui, sample.tokens, 0, prompt) + "\u2502" +
                      shown_text(ui, sample.tokens, prompt, key_.unknown.size());
        ImGui::TextUnformatted(words.c_str());
        ImGui::PopStyleColor();
        ImGui::PopTextWrapPos();
        ui.recorder.item("text", ui.recorder.claim("Text##completed_text"), words);
    }
}

void LabCompletions::draw(PaneContext& ui,
                          const std::vector<std::shared_ptr<const DataItem>>& items,
                          const Recipe& recipe) {
    renew(ui, items, recipe);
    take(ui);
    ask(ui);
    if (is_text_model(ui))
        draw_texts(ui);
    else
        draw_pictures(ui);
}

}  // namespace aft::app
