#include "app/panels/biases/bias_rank_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/shared/loss_words.h"
#include "app/panels/shared/pinned_batch.h"
#include "app/widgets/buttons.h"
#include "app/widgets/fields.h"
#include "app/widgets/text.h"
#include "app/widgets/tooltip.h"
#include "core/json.h"
#include "core/text.h"
#include "model/jobs/recipe.h"
#include "viz/curves.h"

namespace aft::app {

namespace {

constexpr double kRankHold = 5;  // seconds between two looks while training runs

std::string why_no_loss(const ViewState& ui) {
    if (ui.status.task.is_mixer_alone || ui.status.task.is_bias_alone)
        return "There is no loss to measure: this file holds mixers or position biases alone.";
    if (ui.status.config.data.source.empty()) return "The data of this model are not known.";
    return pinned_batch(ui) ? "" : "Nothing is saved yet: save, or pause the training.";
}

// The recipe is written into a file first, as the command reads one.
std::string rank_command(const ViewState& ui, const Recipe& recipe, int64_t rank) {
    const std::string file = fmt::format("low-rank-{}.json", rank);
    return fmt::format("printf %s {} > {} && {}", shell_word(json_text(recipe_json(recipe), -1)),
                       file, eval_command(ui, file));
}

// Always one line, whole in its tooltip: what stands below it never moves.
void line_of_words(PaneContext& ui, const std::string& words) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    text_at(ui, at, words, {text_size::hint, ui.theme.text3, Face::regular, width});
    ImGui::Dummy({width, ui.px(text_size::hint)});
    if (text_extent(ui, words, text_size::hint).x > width)
        tooltip(ui, {.name = "Of this rank", .sentence = words});
}

}  // namespace

// 0 until the answer of the chosen layer and head is there.
int64_t RankCosts::full() const {
    const bool is_chosen = singular_.shown().layer == layer_ && singular_.shown().head == head_;
    return singular_.fields() && is_chosen ? singular_.fields()->fields.front().shape.at(1) : 0;
}

// 1, 2, 4, ..., all of them.
std::vector<int64_t> RankCosts::ranks() const {
    std::vector<int64_t> list;
    for (int64_t rank = 1; rank < full(); rank *= 2) list.push_back(rank);
    list.push_back(full());
    if (std::find(list.begin(), list.end(), chosen_) == list.end()) list.push_back(chosen_);
    std::sort(list.begin(), list.end());
    return list;
}

Recipe RankCosts::recipe_of(int64_t rank) const {
    return {.interventions = {{.name = "low-rank",
                               .layer = layer_,
                               .head = head_,
                               .options = {{"rank", std::to_string(rank)}}}}};
}

double RankCosts::held(int64_t rank) const {
    double sum = 0, all = 0;
    const std::vector<float>& values = singular_.fields()->fields.front().values;
    for (size_t i = 0; i < values.size(); ++i) {
        const double energy = double(values[i]) * values[i];
        all += energy;
        sum += int64_t(i) < rank ? energy : 0;
    }
    return all > 0 ? sum / all : 1;
}

void RankCosts::update(PaneContext& ui, int64_t layer, int64_t head) {
    layer_ = layer;
    head_ = head;
    ProbeRequest request;
    request.probe = "rank";
    request.step = ui.selection.step;
    request.layer = layer;
    request.head = head;
    AskTurn turn;
    (void)singular_.update(ui, request, turn, kRankHold);
    if (full() == 0) return;
    most_ = full();
    chosen_ = std::clamp<int64_t>(chosen_, 1, full());
    if (!is_on_ || !why_no_loss(ui).empty()) return;
    std::vector<Recipe> wanted = {{}, recipe_of(chosen_)};
    for (const int64_t rank : ranks()) wanted.push_back(recipe_of(rank));
    losses_.update(ui, *pinned_batch(ui), wanted);
    clamp_batch(ui, losses_.part_size());
}

std::string RankCosts::words_of(const ViewState& ui, int64_t rank) const {
    if (full() == 0)
        return singular_.error().empty() ? "Reading the singular values" : singular_.error();
    std::string words =
        fmt::format("rank {} of {}: {:.2f} % of the energy", rank, full(), 100 * held(rank));
    if (!is_on_ || !why_no_loss(ui).empty()) return words;
    if (!losses_.item_error().empty()) return words + "; no loss: " + losses_.item_error();
    const RecipeLosses* const of = losses_.of(recipe_of(rank));
    if (of != nullptr && !of->error.empty()) return words + "; no loss: " + of->error;
    const LossChange change = losses_.change(recipe_of(rank));
    if (!change) return words + "; the loss is being measured";
    return words + fmt::format(", loss {:+.5f} \u00B1 {:.5f} {} (standard error, {} examples)",
                               shown_loss(ui, change->mean), shown_loss(ui, change->standard_error),
                               loss_unit(ui), change->count);
}

void RankCosts::draw_tools(PaneContext& ui) {
    const std::string unread = full() > 0 ? "" : "The singular values are not read yet.";
    label_column(ui, "Rank", 44, "How many singular values w keeps.");
    (void)slider(ui,
                 {.name = "Rank##rank",
                  .min = 1,
                  .max = double(std::max(most_, chosen_)),
                  .standard = 4,
                  .logarithmic = true,
                  .why_not = unread,
                  .tip = "How many singular values w keeps: marked in the plots.",
                  .formula = "w = \u03A3 \u03C3\u1D62 a\u1D62 b\u1D62\u1D40 \u2192 its first terms",
                  .width = 240},
                 chosen_);
    ImGui::SameLine(0, ui.px(12));
    (void)toggle(ui, "Loss against rank##loss_against_rank", is_on_,
                 {.words = "Loss against rank",
                  .why_not = why_no_loss(ui),
                  .tip = "Measures on the Lab's pinned batch what the loss gains when this w keeps "
                         "1, 2, 4, ... singular values."});
    ImGui::SameLine(0, ui.px(12));
    const std::string no_loss = why_no_loss(ui), why = no_loss.empty() ? unread : no_loss;
    if (button(ui, {.name = "Copy loss command##copy_loss_command",
                    .why_not = why.empty() ? why_no_eval_command(ui) : why,
                    .tip = "Copies the command that writes the recipe of this rank and measures "
                           "its loss."}))
        ImGui::SetClipboardText(rank_command(ui, recipe_of(chosen_), chosen_).c_str());
    const std::string words = words_of(ui, chosen_);
    line_of_words(ui, words);
    ui.recorder.item("value", ui.recorder.claim("Of this rank##of_this_rank"), words);
    const std::string measured = is_on_ ? measured_words(ui, losses_.step()) : "";
    if (is_on_) line_of_words(ui, measured);
    if (!measured.empty())
        ui.recorder.item("value", ui.recorder.claim("Measured step##measured_step"), measured);
    if (losses_.is_busy()) ui.want_frames(2);
}

void RankCosts::draw_plots(PaneContext& ui, float tall) {
    if (full() == 0) return;
    const bool has_loss = is_on_ && why_no_loss(ui).empty();
    const float all = std::min(ImGui::GetContentRegionAvail().x, ui.px(has_loss ? 1280 : 640));
    const float wide = has_loss ? (all - ui.px(12)) / 2 : all;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    draw_energy(ui, {wide, tall});
    if (!has_loss) return;
    ImGui::SetCursorScreenPos({at.x + wide + ui.px(12), at.y});
    ImGui::BeginGroup();  // its lines begin here
    draw_loss(ui, {wide, tall});
    ImGui::EndGroup();
}

void RankCosts::draw_energy(PaneContext& ui, ImVec2 size) {
    std::vector<double> ranks, shares;
    const std::vector<float>& values = singular_.fields()->fields.front().values;
    double sum = 0, all = 0;
    for (const float value : values) all += double(value) * value;
    for (size_t i = 0; i < values.size(); ++i) {
        sum += double(values[i]) * values[i];
        ranks.push_back(double(i + 1));
        shares.push_back(all > 0 ? 100 * sum / all : 100);
    }
    viz::CurvePlot plot;
    plot.id = "##energy_curve";
    plot.title = "Energy held";
    plot.unit = "%, by rank";
    plot.x_word = "rank";
    plot.size = size;
    plot.log_x = true;
    plot.now = double(chosen_);
    plot.curves = {{.x = ranks,
                    .y = shares,
                    .color = ui.theme.series[0],
                    .dots = ranks.size() <= 64,
                    .decimals = 2}};
    const viz::CurveReply reply = viz::draw_curves(plot, ui);
    if (reply.clicked) chosen_ = std::clamp<int64_t>(std::llround(*reply.clicked), 1, full());
}

void RankCosts::draw_loss(PaneContext& ui, ImVec2 size) {
    std::vector<double> x, y, low, high;
    for (const int64_t rank : ranks()) {
        const LossChange change = losses_.change(recipe_of(rank));
        if (!change || !std::isfinite(change->mean)) continue;
        const double half = shown_loss(ui, change->standard_error);
        x.push_back(double(rank));
        y.push_back(shown_loss(ui, change->mean));
        low.push_back(y.back() - (std::isfinite(half) ? half : 0));
        high.push_back(y.back() + (std::isfinite(half) ? half : 0));
    }
    ui.recorder.item("plot", ui.recorder.claim("Loss over rank##loss_over_rank"),
                     fmt::format("{} points", x.size()));
    if (x.size() < 2) return;
    viz::CurvePlot plot;
    plot.id = "##loss_over_rank";
    plot.title = "Change of the loss";
    plot.unit = loss_unit(ui) + ", band: standard error";
    plot.x_word = "rank";
    plot.size = size;
    plot.log_x = true;
    plot.zero_line = true;
    plot.now = double(chosen_);
    plot.curves = {{.x = x,
                    .y = y,
                    .low = low,
                    .high = high,
                    .color = ui.theme.series[1],
                    .dots = true,
                    .decimals = 5}};
    plot.card = [&](double at) {
        size_t nearest = 0;
        for (size_t i = 0; i < x.size(); ++i)
            if (std::abs(std::log(x[i] / at)) < std::abs(std::log(x[nearest] / at))) nearest = i;
        viz::CurveCard card{.x = x[nearest], .x_word = "rank"};
        card.rows = {
            {.name = "loss", .value = fmt::format("{:+.5f}", y[nearest])},
            {.name = "standard error", .value = fmt::format("{:.5f}", high[nearest] - y[nearest])},
            {.name = "energy", .value = fmt::format("{:.2f} %", 100 * held(int64_t(x[nearest])))}};
        return card;
    };
    const viz::CurveReply reply = viz::draw_curves(plot, ui);
    if (reply.clicked) chosen_ = std::clamp<int64_t>(std::llround(*reply.clicked), 1, full());
}

}  // namespace aft::app
