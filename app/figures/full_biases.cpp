// full-biases: exp(w) of every layer as one T x T picture (Zhai et al. 2021, Figure 3), from top
// left to bottom right.
#include <algorithm>

#include "app/figures/parts.h"
#include "core/check.h"
#include "core/outside.h"

namespace aft::app {

FigureRoom full_biases_figure();

namespace {

constexpr int64_t kMostCells = 256;  // of a map's side
constexpr double kPercentile = 99.8;

std::map<std::string, std::string> probe_options(const FigureRoom& room,
                                                 const FigureRequest& request,
                                                 const ModelFacts& facts) {
    std::map<std::string, std::string> options{
        {"quantity", figure_option(room, request, "quantity")},
        {"gauge", figure_option(room, request, "gauge")},
        {"visible", "nan"}};
    const int64_t block = (facts.tokens + kMostCells - 1) / kMostCells;
    if (block > 1) options["blocks"] = std::to_string(block);
    return options;
}

struct MapCaption {
    std::string words;
    int64_t block = 1;
};

MapCaption caption_of(const ModelFacts& facts, const Field& field) {
    MapCaption out;
    if (const auto block = field.notes.find("block"); block != field.notes.end())
        out.block = std::stoll(block->second);
    const auto gauge = field.notes.find("gauge");
    const std::string source = facts.prefix_tokens == 2 ? "0 and 1 are class and distillation token"
                               : facts.prefix_tokens == 1     ? "0 is the class token"
                               : facts.has_start_token        ? "source 0 is the start token"
                               : facts.task.is_autoregressive ? "source 0 is token 0"
                                                              : "in raster order";
    // Maps alone may be of another size in each layer.
    const std::string size =
        facts.task.is_bias_alone ? "" : fmt::format("{0} x {0}, ", facts.tokens);
    out.words = fmt::format(
        "{}targets down, sources across, {}; gauge {}{}{}", size, source,
        gauge == field.notes.end() ? "raw" : gauge->second,
        facts.is_causal ? "; hatched: not visible" : "",
        out.block > 1 ? fmt::format("; a cell is the mean of {0} x {0}", out.block) : "");
    return out;
}

void add_layers(FigureResult& to, const std::vector<int64_t>& layers,
                const std::vector<Field>& fields, const QuantityStyle& style) {
    FigureGrid grid;
    const size_t across = layers.size() <= 3 ? layers.size() : 4;
    for (size_t n = 0; n < layers.size(); ++n) {
        if (n % across == 0) grid.rows.push_back({"", {}, {}});
        const Field& field = fields[n];
        FigureTile tile;
        tile.label = fmt::format("layer {}", layers[n]);
        const size_t axes = field.shape.size();
        tile.rows = field.shape[axes - 2];
        tile.columns = field.shape[axes - 1];
        tile.values.assign(field.values.begin(),
                           field.values.begin() + static_cast<ptrdiff_t>(tile.rows * tile.columns));
        tile.key = color_key(style, tile.values, kPercentile);
        to.ranges.push_back({tile.label, value_span(tile.values), tile.key->coloring.range});
        tile.label += ", values " + span_words(to.ranges.back().values);
        grid.rows.back().tiles.push_back(std::move(tile));
    }
    to.scene.parts.emplace_back(std::move(grid));
}

std::string why_not(const FigureSubject& subject) {
    const MixerTraits& mixer = subject.mixer;
    if (mixer.has_bias() && !mixer.has_kernel()) return "";
    return fmt::format(
        "{}; models with a bias of their own for each pair of positions, as AFT-full and "
        "AFT-local, can show it",
        mixer.has_kernel() ? "its bias is a kernel (figure conv-biases)" : mixer.no_bias);
}

FigureResult make(const FigureRequest& request, const JobControl& control) {
    const FigureRoom room = full_biases_figure();
    const ModelFacts facts = model_facts(request.models.front());
    check_can_show(room, facts);
    const std::vector<int64_t> layers = chosen_layers(request, facts);
    const int64_t head =
        request.heads.empty() ? -1 : chosen_heads(request, facts.mixer.heads).front();
    const LayerFields fields = probe_layers({.probe = "bias",
                                             .model = facts.path,
                                             .device = request.device,
                                             .layers = layers,
                                             .head = head,
                                             .options = probe_options(room, request, facts),
                                             .data = ""},
                                            control);
    const std::string quantity = figure_option(room, request, "quantity");
    const QuantityStyle style = quantity_style(quantity, quantity == "w" ? "nats" : "");
    FigureResult out;
    out.scene.title = "Position biases, " + style.words;
    out.scene.notes = {
        model_words(facts), caption_of(facts, fields.layers.front()).words,
        fmt::format("Colours: {}, a range for each map", scale_words(style, kPercentile))};
    add_layers(out, layers, fields.layers, style);
    return out;
}

}  // namespace

FigureRoom full_biases_figure() {
    return {.info = {"full-biases", "exp(w) of every layer, one T x T picture each (Fig. 3)"},
            .example = "afterimage figure full-biases runs/mirror -o biases.png --scale 2",
            .options = {option_of("bias", "quantity", "exp"), option_of("bias", "gauge", "fixed")},
            .why_not = why_not,
            .make = make};
}

}  // namespace aft::app
