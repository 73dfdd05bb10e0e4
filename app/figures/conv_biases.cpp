// conv-biases: position kernels of AFT-conv as exp(w) - 1, per head (Zhai et al. 2021, Figures 1
// right, 6, 7, 8); rows layers, columns the first 16 heads or chosen ones.
#include <algorithm>

#include "app/figures/parts.h"
#include "core/check.h"
#include "core/outside.h"

namespace aft::app {

FigureRoom conv_biases_figure();

namespace {

std::string why_not(const FigureSubject& subject) {
    if (subject.mixer.has_kernel() && subject.mixer.window > 0) return "";
    if (subject.mixer.has_kernel())
        return "its kernels have several sizes; models with kernels of one size can show it";
    const bool has_bias = subject.mixer.has_bias();
    return fmt::format(
        "{}; models with a kernel, as AFT-conv, can show it{}",
        has_bias ? "its position bias is no kernel over offsets" : subject.mixer.no_bias,
        has_bias ? "; this one has full-biases" : "");
}

FigureResult make(const FigureRequest& request, const JobControl& control) {
    const FigureRoom room = conv_biases_figure();
    const ModelFacts facts = model_facts(request.models.front());
    check_can_show(room, facts);
    const std::string quantity = figure_option(room, request, "quantity");
    const std::vector<int64_t> layers = chosen_layers(request, facts);
    LayerFields fields = probe_layers({.probe = "kernel",
                                       .model = facts.path,
                                       .device = request.device,
                                       .layers = layers,
                                       .head = -1,
                                       .options = {{"quantity", quantity}},
                                       .data = ""},
                                      control);
    int64_t heads = fields.layers.front().shape.front();
    for (const Field& field : fields.layers) heads = std::min(heads, field.shape.front());
    const std::vector<int64_t> shown_heads = chosen_heads(request, heads);
    FigureResult out;
    const QuantityStyle style = quantity_style(quantity, quantity == "w" ? "nats" : "");
    out.scene.title = "Learned position biases, " + style.words;
    const int64_t s = facts.mixer.window;
    out.scene.notes = {
        model_words(facts),
        fmt::format(
            "Effective w after any reparameterisation; {} taps a side, the target itself "
            "{}; {} of {} heads, {} of {} layers",
            s, facts.is_causal && !facts.mixer.is_centred ? "is the last one" : "in the middle",
            shown_heads.size(), heads, layers.size(), facts.layers)};
    add_map_rows(out, {.layers = layers,
                       .fields = std::move(fields.layers),
                       .maps = shown_heads,
                       .rows = facts.mixer.bias == BiasLayout::kernel_2d ? s : 1,
                       .columns = s,
                       .hatches_nan = false,
                       .style = style,
                       .shares_range = figure_option(room, request, "range") == "figure"});
    return out;
}

}  // namespace

FigureRoom conv_biases_figure() {
    return {.info = {"conv-biases", "exp(w) - 1 of kernels, layers by heads (Fig. 1, 6, 7, 8)"},
            .example = "afterimage figure conv-biases runs/shapes --heads 0,1,2,3 -o kernels.svg",
            .options = {option_of("kernel", "quantity", "exp-1"), range_option()},
            .why_not = why_not,
            .make = make};
}

}  // namespace aft::app
