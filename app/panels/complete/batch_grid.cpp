#include "app/panels/complete/batch_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/complete/batch_run.h"
#include "app/panels/complete/completion_state.h"
#include "app/panels/complete/sample_marks.h"
#include "app/panels/complete/sample_reading.h"
#include "app/panels/shared/overlay_image.h"
#include "app/state/picture_list.h"
#include "app/widgets/states.h"
#include "app/widgets/text.h"
#include "core/outside.h"
#include "core/text.h"

namespace aft::app {
namespace {

constexpr float kRowLabel = 48, kColumnHead = 22, kLeastTile = 40;

std::string picture_words(const ViewState& ui, const BatchPicture& picture) {
    const std::string index = std::to_string(picture.index);
    if (!picture.error.empty()) return index + " left out";
    if (!picture.item) return index + " ...";
    const auto& names = ui.status.class_names;
    const int64_t label = picture.item->label;
    const bool is_named = label >= 0 && label < int64_t(names.size());
    return is_named ? index + " " + printable_line(names[size_t(label)]) : index;
}

// Rows of a picture: itself and the samples of the batch that are shown.
int rows_of(const ViewState& ui) {
    const CompletionChoice& choice = ui.selection.completion;
    const auto samples = size_t(std::max<int64_t>(1, choice.batch.sample.samples));
    size_t most = 1;
    for (size_t i = 0; i < choice.batch.pictures.size(); ++i)
        most = std::max(most, shown_samples(marks_of(choice, i), samples).size());
    return int(most) + 1;
}

// The samples are not in one order then.
bool has_marks(const CompletionChoice& choice) {
    for (size_t i = 0; i < choice.batch.pictures.size(); ++i)
        if (!marks_words(marks_of(choice, i)).empty()) return true;
    return false;
}

std::string step_range_words(const CompletionBatch& batch) {
    int64_t low = -1, high = -1;
    for (const BatchPicture& one : batch.pictures) {
        if (!one.completion || one.completion->samples.empty()) continue;
        low = low < 0 ? one.completion->step : std::min(low, one.completion->step);
        high = std::max(high, one.completion->step);
    }
    if (low < 0) return "";
    return low == high
               ? ", step " + group_thousands(low)
               : fmt::format(", steps {} to {}", group_thousands(low), group_thousands(high));
}

std::string batch_words(const ViewState& ui) {
    const CompletionBatch& batch = ui.selection.completion.batch;
    const SampleOptions& used = batch.sample;
    std::vector<int64_t> indices;
    for (const BatchPicture& one : batch.pictures) indices.push_back(one.index);
    std::string words =
        fmt::format("{} {}, T {:.2f}", batch.split, picture_list_words(indices), used.temperature);
    if (used.top_p < 1) words += fmt::format(", top-p {:.2f}", used.top_p);
    if (used.top_k > 0) words += fmt::format(", top-k {}", used.top_k);
    if (used.particles > 1) words += fmt::format(", {} particles", used.particles);
    words +=
        fmt::format(", seed {}  \u00B7  {}{}", used.seed, ui.status.name, step_range_words(batch));
    if (ui.status.state == RunState::running) words += " (training continues)";
    return words;
}

// What Source shows is painted over since.
const char* mask_words(const ViewState& ui, const std::vector<uint8_t>& masked) {
    const auto mask = ui.selection.completion.mask.mask();
    return std::equal(mask.begin(), mask.end(), masked.begin(), masked.end())
               ? ""
               : " with the mask before";
}

// What was left out, and why.
void draw_left_out(Ui& ui) {
    const CompletionBatch& batch = ui.selection.completion.batch;
    std::string words;
    size_t count = 0;
    constexpr size_t kMostNamed = 3;
    for (const BatchPicture& one : batch.pictures) {
        if (one.error.empty() || ++count > kMostNamed) continue;
        words += fmt::format("{}{} {}: {}", words.empty() ? "" : "; ", batch.split, one.index,
                             one.error);
    }
    if (count == 0) return;
    if (count > kMostNamed) words += fmt::format("; and {} more", count - kMostNamed);
    banner(ui, {.kind = ToastKind::warning,
                .title = fmt::format("{} of {} pictures {} left out", count, batch.pictures.size(),
                                     count == 1 ? "is" : "are"),
                .sentence = words + "."});
}

}  // namespace

BatchGrid::BatchSizes BatchGrid::sizes(const PaneContext& ui, ImVec2 area) const {
    const ModelConfig& model = ui.status.config.model;
    const auto count = int(textures_.size());
    const auto rows = float(rows_of(ui));
    const float gap = ui.px(6), head = ui.px(kColumnHead), label = ui.px(kRowLabel);
    const ImVec2 picture = {float(model.width), float(model.height)};
    BatchSizes out{.columns = 1, .zoom = 0};
    for (int columns = 1; columns <= count; ++columns) {
        const auto bands = float((count + columns - 1) / columns);
        const float wide = (area.x - label) / float(columns) - 2 * gap;
        const float tall = (area.y / bands - head - 2 * gap) / rows - gap;
        const auto zoom = int(std::min(wide / picture.x, tall / picture.y));
        if (zoom > out.zoom) out = {.columns = columns, .zoom = zoom};
    }
    const int least = std::max(1, int(std::ceil(ui.px(kLeastTile) / picture.x)));
    if (out.zoom < least) {
        out.zoom = least;
        const float pitch = float(least) * picture.x + 2 * gap;
        out.columns = std::clamp(int((area.x - label) / pitch), 1, count);
    }
    const auto zoom = float(out.zoom);
    out.label = label;
    out.head = head;
    out.pitch = std::floor(std::min((area.x - label) / float(out.columns),
                                    zoom * picture.x + std::max(2 * gap, area.x * 0.04F)));
    out.line = zoom * picture.y + gap;
    out.band = head + rows * out.line + 2 * gap;
    return out;
}

// Only of what has changed.
void BatchGrid::update(const PaneContext& ui) {
    const CompletionChoice& choice = ui.selection.completion;
    const CompletionBatch& batch = choice.batch;
    if (textures_.size() != batch.pictures.size())
        textures_ = std::vector<BatchTextures>(batch.pictures.size());
    masked_ = pixel_mask(ui.status.config.model, batch.unknown);
    const bool is_other = shown_ != choice.overlay;
    shown_ = choice.overlay;
    double top = 0;
    for (size_t i = 0; i < textures_.size(); ++i) {
        BatchTextures& one = textures_[i];
        const auto& completion = batch.pictures[i].completion;
        if (is_other || one.of != completion) {
            one.of = completion;
            if (completion) one.overlay.update(ui, completion);
            one.top = completion ? one.overlay.coloring().range.high : 0;
            if (completion && one.samples.size() != completion->samples.size())
                one.samples = std::vector<viz::TokenTexture>(completion->samples.size());
        }
        top = std::max(top, one.top);
    }
    for (BatchTextures& one : textures_) one.overlay.set_top(top > 0 ? top : 1);
}

void BatchGrid::draw_given(PaneContext& ui, const BatchTile& tile, viz::ImageView& view) {
    const ModelConfig& model = ui.status.config.model;
    const BatchPicture& picture = ui.selection.completion.batch.pictures[tile.picture];
    if (picture.item)
        textures_[tile.picture].given.set(viz::TokenImage{.tokens = picture.item->tokens,
                                                          .height = model.height,
                                                          .width = model.width,
                                                          .channels = model.channels,
                                                          .levels = model.levels},
                                          ui);
    else
        view.alpha = 0;
    view.mask = masked_;
}

viz::ImageReply BatchGrid::draw_sample(PaneContext& ui, const BatchTile& tile,
                                       viz::ImageView& view) {
    const ModelConfig& model = ui.status.config.model;
    const CompletionChoice& choice = ui.selection.completion;
    const Completion& completion = *choice.batch.pictures[tile.picture].completion;
    BatchTextures& textures = textures_[tile.picture];
    const auto sample = size_t(tile.sample);
    const viz::TokenImage image = sample_image(model, completion, sample);
    viz::TokenTexture& texture = textures.samples[sample];
    if (!textures.overlay.is_on())
        texture.set(image, ui);
    else
        texture.set(overlay_image(image, textures.overlay.values(completion, sample),
                                  textures.overlay.coloring()),
                    ui);
    const auto cell = [&](int64_t i) {
        const int64_t pixel = i / model.channels;
        return viz::MapCell{pixel / model.width, pixel % model.width};
    };
    view.outlined = masked_;
    if (!completion.done && completion.position < completion.total)
        view.next = cell(completion.position);
    const bool is_chosen =
        tile.picture == choice.batch.looked_at && sample == sample_looked_at(ui, completion);
    if (is_chosen && choice.position >= 0) view.target = cell(choice.position);
    const viz::ImageReply reply = draw_image(view, texture, ui);
    if (is_chosen) viz::draw_ring(ui, reply.box, ui.theme.accent, 2);
    if (marks_of(choice, tile.picture).starred.contains(tile.sample))
        icon_at(ui, {reply.box.low.x + ui.px(10), reply.box.low.y + ui.px(10)}, icon::star,
                {14, ui.theme.warn});
    return reply;
}

void BatchGrid::draw_tile(PaneContext& ui, const BatchTile& tile, ImVec2 at, int zoom) {
    const ModelConfig& model = ui.status.config.model;
    CompletionChoice& choice = ui.selection.completion;
    const BatchPicture& picture = choice.batch.pictures[tile.picture];
    const std::string id = tile.sample < 0
                               ? fmt::format("picture {}", picture.index)
                               : fmt::format("picture {} sample {}", picture.index, tile.sample);
    const ImVec2 size = {float(zoom * model.width), float(zoom * model.height)};
    ImGui::SetCursorScreenPos(at);
    const bool is_seen = ImGui::IsRectVisible(at, {at.x + size.x, at.y + size.y});
    if (!is_seen && ui.numbers == nullptr) return ImGui::Dummy(size);
    viz::ImageView view;
    view.id = id.c_str();
    view.height = model.height;
    view.width = model.width;
    view.zoom = zoom;
    viz::ImageReply reply;
    if (tile.sample < 0) {
        draw_given(ui, tile, view);
        reply = draw_image(view, textures_[tile.picture].given, ui);
    } else {
        reply = draw_sample(ui, tile, view);
    }
    ui.recorder.area(
        {.kind = "picture",
         .path = ui.recorder.claim(tile.sample < 0
                                       ? fmt::format("Picture {0}##picture_{0}", picture.index)
                                       : fmt::format("Picture {0} sample {1}##picture_{0}_{1}",
                                                     picture.index, tile.sample + 1)),
         .min = reply.box.low,
         .max = reply.box.high,
         .value = tile.sample < 0
                      ? picture_words(ui, picture)
                      : fmt::format("{:.4f} bits/dim",
                                    sample_bits(*picture.completion, size_t(tile.sample))),
         .why_not = {}});
    if (reply.hovered.is_valid()) hovered_ = {reply.hovered, tile};
    if (reply.hovered.is_valid() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
        choice.batch.is_shown = false;
    if (!reply.clicked.is_valid()) return;
    look_at_picture(ui, tile.picture);
    if (tile.sample >= 0)
        look_at_pixel(choice, tile.sample, reply.clicked.row * model.width + reply.clicked.column,
                      model.channels);
}

void BatchGrid::draw_column(PaneContext& ui, size_t picture, ImVec2 at, const BatchSizes& sizes) {
    const CompletionChoice& choice = ui.selection.completion;
    const BatchPicture& of = choice.batch.pictures[picture];
    const bool is_looked_at = picture == choice.batch.looked_at;
    const bool is_out = !of.error.empty();
    text_at(ui, at, picture_words(ui, of),
            {text_size::label,
             is_out         ? ui.theme.warn
             : is_looked_at ? ui.theme.text1
                            : ui.theme.text2,
             is_looked_at ? Face::medium : Face::regular, sizes.pitch - ui.px(4)});
    at.y += sizes.head;
    draw_tile(ui, {picture, -1}, at, sizes.zoom);
    if (!of.completion || of.completion->samples.empty() || is_out) return;
    for (const size_t sample :
         shown_samples(marks_of(choice, picture), of.completion->samples.size())) {
        at.y += sizes.line;
        draw_tile(ui, {picture, int64_t(sample)}, at, sizes.zoom);
    }
}

void BatchGrid::draw_grid(PaneContext& ui) {
    const BatchSizes s = sizes(ui, ImGui::GetContentRegionAvail());
    const ImVec2 start = {ImGui::GetCursorScreenPos().x + ui.px(3),
                          ImGui::GetCursorScreenPos().y + ui.px(4)};
    const auto count = int(textures_.size());
    const int bands = (count + s.columns - 1) / s.columns, rows = rows_of(ui);
    const bool is_marked = has_marks(ui.selection.completion);
    for (int band = 0; band < bands; ++band) {
        const float top = start.y + float(band) * s.band;
        for (int row = 0; row < (is_marked ? 1 : rows); ++row)
            text_at(ui, {start.x, top + s.head + float(row) * s.line + ui.px(2)},
                    row == 0 ? "Given" : std::to_string(row), {text_size::hint, ui.theme.text3});
        for (int i = band * s.columns; i < std::min(count, (band + 1) * s.columns); ++i)
            draw_column(ui, size_t(i),
                        {std::floor(start.x + s.label + float(i % s.columns) * s.pitch), top}, s);
    }
    ImGui::SetCursorScreenPos({start.x, start.y + float(bands) * s.band});
    ImGui::Dummy({1, 1});
}

void BatchGrid::draw_foot(PaneContext& ui) const {
    const CompletionBatch& batch = ui.selection.completion.batch;
    const ModelConfig& model = ui.status.config.model;
    const bool is_on = hovered_.at.is_valid() && hovered_.tile.picture < batch.pictures.size();
    const BatchPicture& picture = batch.pictures[is_on ? hovered_.tile.picture : batch.looked_at];
    std::vector<ReadOut> values = {{"picture", picture_words(ui, picture)}};
    const auto& completion = picture.completion;
    if (is_on && hovered_.tile.sample >= 0 && completion) {
        const auto sample = size_t(hovered_.tile.sample);
        values.push_back({"sample", std::to_string(sample + 1)});
        for (ReadOut& value : pixel_read_outs(*completion, sample, hovered_.at, model))
            values.push_back(std::move(value));
    } else if (is_on) {
        values.push_back({"pixel", fmt::format("{}, {}", hovered_.at.row, hovered_.at.column)});
    }
    hover_line(ui, values, "A click takes the picture as source, a double click shows it alone");
}

void BatchGrid::draw(Ui& ui) {
    const CompletionBatch& batch = ui.selection.completion.batch;
    const int64_t samples = batch.sample.samples;
    update(ui);
    caption(ui,
            fmt::format("{} pictures, {} completion{} each{}", batch.pictures.size(), samples,
                        samples == 1 ? "" : "s", mask_words(ui, masked_)),
            batch_words(ui));
    draw_left_out(ui);
    const auto first = std::find_if(textures_.begin(), textures_.end(),
                                    [](const BatchTextures& t) { return t.of != nullptr; });
    if (first != textures_.end()) first->overlay.draw_key(ui);
    hovered_ = {};
    const LowCanvas canvas = low_canvas(ui, ui.px(60));
    if (ImGui::BeginChild("batch", {0, canvas.height}, ImGuiChildFlags_NavFlattened)) draw_grid(ui);
    ImGui::EndChild();
    if (canvas.has_line) draw_foot(ui);
}

}  // namespace aft::app
