// Traits: what a mixer and a task are, as far as others must know it. Probes, decoding, checkpoints
// and panels decide by these, never by a room's name. Stated by the rooms (model/mixers,
// model/tasks), published in Status and in the results of jobs. Plain types. No LibTorch. Any
// thread.
#pragma once
#include <cstdint>
#include <string>

namespace aft {

struct ModelConfig;

// How the position bias of a layer is laid out. none: there is none that one map a head could show.
// matrix: w [T, T],
// or [heads, T, T]. band: the same, with parameters for |t - j| < window only, shown by offset.
// kernel_1d: [heads, s] over offsets in the sequence. kernel_2d: [heads, s, s] over offsets in the
// picture. attention: positions have no weights of their own, queries are compared with keys.
enum class BiasLayout { none, matrix, band, kernel_1d, kernel_2d, attention };

// How a causal model predicts token by token. prefix: it keeps no state of its own, every token
// computes all tokens before it again. streaming: from the mixer's state, with LibTorch's
// operations. packed: with the decoding kernels (model/decode), which know
// no bias, w [T, T] and w = u r^T, inside a window or not.
enum class DecoderKind { prefix, streaming, packed };

struct MixerTraits {
    BiasLayout bias = BiasLayout::none;
    int64_t heads = 1;   // of the mixer
    int64_t window = 0;  // |t - j| < window has a bias (0: everywhere); kernels: taps along an axis
    bool outside_hidden = false;  // sources outside the window are invisible, else their w is 0
    bool free_rows = false;       // a constant added to a row of w changes nothing
    double bias_values = 0;  // of one layer in ParameterGroup::position_bias, shown as a map or not
    // Stored by offset with the target in the middle, causal or not: bands as [heads, T, s], and
    // kernels of odd s. Maps alone; others store bands as pairs, and causal kernels end there.
    bool is_centred = false;
    bool has_masks = false;  // w = -inf hides a source from a target

    bool has_gate = false;                  // sigmoid(Q) multiplies the result
    bool has_attention = false;             // rows over the sources of one target can be shown
    bool has_key_maps = false;              // exp(K) is one map over the sources for all targets
    bool keys_by_head = false;              // these maps are of heads, else of channels
    bool on_grid = false;                   // reads the token grid: an input is whole rows of it
    bool causal = true, non_causal = true;  // which tasks it serves
    DecoderKind decoder = DecoderKind::prefix;

    std::string op = {};  // what `afterimage op` calls its operator; empty: it has none of it
    std::string words;    // the mixer in a line: "aft-local, window 32"
    // One sentence without its full stop, for views that have nothing to show, and behind "layer 0
    // is linear: "; empty where they do. "Linear attention has no position bias".
    std::string no_bias, no_gate, no_keys, no_attention;

    [[nodiscard]] bool has_bias() const {
        return bias != BiasLayout::none && bias != BiasLayout::attention;
    }
    [[nodiscard]] bool has_kernel() const {
        return bias == BiasLayout::kernel_1d || bias == BiasLayout::kernel_2d;
    }
    // A row over the sources without the keys exists (all alike where there is no bias).
    [[nodiscard]] bool has_prior() const { return bias != BiasLayout::attention; }
};

// values: sub-pixels of a picture in raster order. bytes: of a text. patches: of a picture.
// vectors: of whoever calls a mixer that stands alone.
enum class TokenKind { values, bytes, patches, vectors };

struct TaskTraits {
    TokenKind tokens = TokenKind::values;
    // Every token is predicted from those before it, the model can complete; else one answer for
    // the whole input.
    bool is_autoregressive = true;
    bool has_classes = false;     // a label for each input; how many: the setting model.classes
    bool is_mixer_alone = false;  // blocks are a mixer each: no embedding, norms, MLPs and head
    bool is_bias_alone = false;   // of a mixer its position bias: nothing can be computed with it
    std::string metric, metric_words;  // its key in the metrics; "bits/dim"
    bool loss_in_bits = true;          // on screen; else nats
    std::string examples = "images";   // counted: "images/s"
    // One sentence without its full stop, for those who would train such a model; empty where it
    // can be trained.
    std::string no_training = {};

    [[nodiscard]] bool is_text() const { return tokens == TokenKind::bytes; }
    [[nodiscard]] bool is_trainable() const { return no_training.empty(); }
    // The key under which the metrics hold the loss as it is shown: in bits, else in nats.
    [[nodiscard]] std::string loss_key() const { return loss_in_bits ? metric : "loss"; }
};

// The input that costs are counted for.
struct CostShape {
    int64_t tokens = 0;                       // T
    int64_t grid_height = 0, grid_width = 0;  // of the token grid; read where traits say on_grid
};

// What a layer costs for one example of that shape: counted from the settings as the code computes
// it in float32 on the processor, not measured. FLOPs are those of products and running sums, a
// multiply-add is 2; norms, activations, exponentials and masks are not counted.
struct LayerCost {
    double parameters = 0;  // values, those that are never trained included
    double forward_flops = 0, backward_flops = 0;
    double kept_bytes = 0;    // activations that wait for the backward pass; no dropout
    double decode_flops = 0;  // of the last token, where tokens are computed one by one
    double state_bytes = 0;   // of the decoder after the last token
};

struct MixerCost {
    LayerCost layer;
    // The orders of the published method, as Table 1 of Zhai et al. 2021 writes them: "T^2 d". What
    // is counted in `layer` grows with T, or with T^2 where they say T^2 or sqrt(T).
    std::string time, space;
};

// Of a config. Usage Error if there is no such mixer or task. The mixer's may depend on its
// settings: aft-local without a window has no bias.
[[nodiscard]] MixerTraits mixer_traits(const ModelConfig& model);
// Of one layer: maps alone may have others in each; of their model as a whole the layout is the
// common one, else matrix, and heads are the most.
[[nodiscard]] MixerTraits mixer_traits(const ModelConfig& model, int64_t layer);
[[nodiscard]] const TaskTraits& task_traits(const ModelConfig& model);
// Of one layer made for that many tokens; the config's own number of tokens does not count. Without
// tokens one by one (not causal) nothing is decoded: 0.
[[nodiscard]] MixerCost mixer_cost(const ModelConfig& model, const CostShape& shape);

}  // namespace aft
