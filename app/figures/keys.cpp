// keys: an image, and below it the key maps exp(K) folded to the grid (Zhai et al. 2021, Figures 9
// to 12); rows layers, columns heads, or channels where keys have no heads.
#include <cmath>

#include "app/figures/parts.h"
#include "core/check.h"
#include "core/outside.h"

namespace aft::app {

FigureRoom keys_figure();

namespace {

// [maps, T] without the class token, or by place in the picture: source j of a causal model is the
// value j - 1, and its last place has no source.
Field on_grid(const Field& field, const ModelFacts& facts) {
    const int64_t T = field.shape.back(), cells = facts.grid_height * facts.grid_width;
    const int64_t first = facts.task.is_autoregressive ? 1 : facts.prefix_tokens;
    Field out = field;
    out.shape.back() = cells;
    out.values.assign(static_cast<size_t>(field.shape.front() * cells), std::nanf(""));
    for (int64_t map = 0; map < field.shape.front(); ++map)
        for (int64_t i = 0; i < cells && first + i < T; ++i)
            out.values[static_cast<size_t>(map * cells + i)] =
                field.values[static_cast<size_t>(map * T + first + i)];
    return out;
}

std::string why_not(const FigureSubject& subject) {
    if (subject.task.is_bias_alone)
        return "it holds position biases alone; whole models for pictures can show it";
    if (subject.task.is_mixer_alone)
        return "it is a mixer alone, which takes no picture; models for pictures can show it";
    if (subject.task.is_text()) return "it is a model for text; models for pictures can show it";
    if (!subject.mixer.has_key_maps)
        return subject.mixer.no_keys +
               "; models with one key map for all targets, as AFT, can show it";
    return "";
}

FigureResult make(const FigureRequest& request, const JobControl& control) {
    const FigureRoom room = keys_figure();
    const ModelFacts facts = model_facts(request.models.front());
    check_can_show(room, facts);
    const std::vector<int64_t> layers = chosen_layers(request, facts);
    LayerFields fields = probe_layers({.probe = "keys",
                                       .model = facts.path,
                                       .device = request.device,
                                       .layers = layers,
                                       .head = -1,
                                       .options = {},
                                       .data = figure_data(request, facts),
                                       .index = request.index},
                                      control);
    FigureResult out;
    const int64_t maps = fields.layers.front().shape.front();
    const std::vector<int64_t> shown_maps = chosen_heads(request, maps);
    const std::string axis = fields.layers.front().axes.front();
    out.scene.title = "Key maps exp(K)";
    out.scene.notes = {
        model_words(facts),
        fmt::format("Input: {}; {} x {} grid; {} of {} {}s", printable_line(fields.input_note),
                    facts.grid_height, facts.grid_width, shown_maps.size(), maps, axis),
        "Each map without its log-mean-exp, so that its mean is 1"};
    FigureGrid input;
    input.rows.push_back({"input", {picture_tile(fields.inputs.front(), "")}, {}});
    out.scene.parts.emplace_back(std::move(input));
    std::vector<Field> folded;
    for (const Field& field : fields.layers) folded.push_back(on_grid(field, facts));
    add_map_rows(out, {.layers = layers,
                       .fields = std::move(folded),
                       .maps = shown_maps,
                       .rows = facts.grid_height,
                       .columns = facts.grid_width,
                       .stretch = facts.channels,
                       .map_name = axis,
                       .style = quantity_style("exp", ""),
                       .shares_range = figure_option(room, request, "range") == "figure"});
    return out;
}

}  // namespace

FigureRoom keys_figure() {
    return {.info = {"keys", "an image and its key maps exp(K), layers by heads (Fig. 9 to 12)"},
            .example = "afterimage figure keys runs/shapes --index 3 -o keys.png --scale 2",
            .options = {range_option()},
            .takes_example = true,
            .why_not = why_not,
            .make = make};
}

}  // namespace aft::app
