// relative-attention: what targets attend to by offset, averaged over targets and images (Zhai et
// al. 2021, Figures 1 left and 5); rows layers, columns heads.
#include <algorithm>

#include "app/figures/parts.h"
#include "core/check.h"
#include "core/outside.h"

namespace aft::app {

FigureRoom relative_attention_figure();

namespace {

constexpr int64_t kImages = 16;
constexpr double kBudget = 2e9;  // exponentials in all

std::string why_not(const FigureSubject& subject) {
    if (subject.task.is_bias_alone)
        return "it holds position biases alone; whole models for pictures can show it";
    if (subject.task.is_mixer_alone)
        return "it is a mixer alone, which takes no picture; models for pictures can show it";
    if (subject.task.is_text()) return "it is a model for text; models for pictures can show it";
    if (!subject.mixer.has_attention)
        return subject.mixer.no_attention +
               "; models whose rows over the sources can be shown, as softmax attention and AFT, "
               "can";
    return "";
}

// What decides about the shares that are drawn.
std::string decided_by(const MixerTraits& mixer, const std::string& part) {
    if (part != "both") return "by " + part + " alone";
    if (!mixer.has_prior()) return "by queries and keys";
    return mixer.has_bias() ? "by keys and position bias" : "by keys";
}

std::string of_maps(const MixerTraits& mixer, const std::string& reduce) {
    if (!mixer.has_prior()) return "softmax of each head";
    if (reduce == "head") return "mean over the channels of a head";
    if (reduce == "gate") return "mean over channels weighted by the gate";
    return reduce == "mean" ? "mean over all channels" : "one map a channel";
}

// As many targets as the budget allows, of large models evenly spread ones.
int64_t targets_of(const ModelFacts& facts, int64_t layers, int64_t images) {
    const int64_t cells = facts.grid_height * facts.grid_width;
    const double one = static_cast<double>(facts.tokens) * static_cast<double>(facts.dim) *
                       static_cast<double>(layers) * static_cast<double>(images);
    return std::clamp<int64_t>(static_cast<int64_t>(kBudget / one), 1, cells);
}

FigureResult make(const FigureRequest& request, const JobControl& control) {
    const FigureRoom room = relative_attention_figure();
    const ModelFacts facts = model_facts(request.models.front());
    check_can_show(room, facts);
    const int64_t images = request.limit > 0 ? request.limit : kImages;
    const std::string reduce = figure_option(room, request, "reduce");
    const std::string part = figure_option(room, request, "part");
    LayerProbes asked{.probe = "relative-attention",
                      .model = facts.path,
                      .device = request.device,
                      .layers = chosen_layers(request, facts),
                      .head = -1,
                      .options = {{"reduce", reduce}, {"part", part}, {"visible", "nan"}},
                      .data = figure_data(request, facts),
                      .index = request.index,
                      .count = images,
                      .is_at_most = request.limit <= 0};
    const int64_t targets = targets_of(facts, static_cast<int64_t>(asked.layers.size()), images);
    asked.options["targets"] = std::to_string(targets);
    LayerFields fields = probe_layers(asked, control);
    FigureResult out;
    out.scene.title = "Average relative 2-d attention";
    out.scene.notes = {
        model_words(facts),
        fmt::format("Share of a target's row at each offset of the source, {}; mean over {} of {} "
                    "targets and {} images ({}); {}",
                    decided_by(facts.mixer, part), targets, facts.grid_height * facts.grid_width,
                    fields.count, printable_line(fields.input_note), of_maps(facts.mixer, reduce)),
        fmt::format("{} x {} offsets, the target itself in the middle, up and left negative{}",
                    2 * facts.grid_height - 1, 2 * facts.grid_width - 1,
                    facts.prefix_tokens > 0        ? "; tokens before the grid left out"
                    : facts.has_start_token        ? "; start token left out; hatched: not visible"
                    : facts.task.is_autoregressive ? "; source 0 left out; hatched: not visible"
                                                   : "")};
    const int64_t maps = fields.layers.front().shape.front();
    const std::string axis = fields.layers.front().axes.front();
    add_map_rows(out, {.layers = asked.layers,
                       .fields = std::move(fields.layers),
                       .maps = chosen_heads(request, maps),
                       .stretch = facts.channels,
                       .map_name = axis,
                       .style = quantity_style("", "share"),
                       .shares_range = figure_option(room, request, "range") == "figure"});
    return out;
}

}  // namespace

FigureRoom relative_attention_figure() {
    return {.info = {"relative-attention",
                     "average relative 2-d attention over images, layers by heads (Fig. 1, 5)"},
            .example = "afterimage figure relative-attention runs/deit --limit 64 -o relative.svg",
            .options = {option_of("relative-attention", "reduce", "head"),
                        option_of("relative-attention", "part", "both"), range_option()},
            .takes_example = true,
            .why_not = why_not,
            .make = make};
}

}  // namespace aft::app
