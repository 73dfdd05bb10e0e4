// Parts that the probe rooms share: options, ranges, inputs, fields, and rows of the effective
// position bias. Called by rooms of model/probe and by jobs, on their thread. Never builds
// T x T x d.
#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "model/probe/probe.h"

namespace aft::probe {

// The value of an option, or its default; usage Error lists what is allowed.
[[nodiscard]] std::string option(const ProbeRoom& room, const ProbeRequest& request,
                                 const std::string& key);
// Number N of an option in [low, high]; -1 if it is not given.
[[nodiscard]] int64_t number(const ProbeRequest& request, const std::string& key, int64_t low,
                             int64_t high);
// "head 9 is not in this model: 0 to 3"
void check_range(const char* what, int64_t value, int64_t count);

// What the request's layer has computed for its input. usage Error with `why_not` (both of the
// mixer's traits) where it lacks what the probe shows.
[[nodiscard]] const LayerTaps& layer_taps(const ProbeContext& context, const ProbeRequest& request,
                                          bool has_it, const std::string& why_not);

// What Net::forward takes: int64 [1, T'], or for classification float [1, C, H, W].
[[nodiscard]] at::Tensor net_input(const ModelConfig& model, const std::vector<uint8_t>& tokens);

struct FieldText {
    std::string name, unit;
    std::vector<std::string> axes;
    std::map<std::string, std::string> notes;
};
[[nodiscard]] Field make_field(const at::Tensor& values, FieldText text, int64_t step);

// Effective bias w of a layer, row block by row block: target t attends to source j. Laid out as
// the mixer's traits say; read through its bias() and stored_bias().
struct BiasRows {
    at::Tensor values;   // [heads, rows, T], float64
    at::Tensor visible;  // [rows, T], bool; [heads, rows, T] where w = -inf hides sources
    at::Tensor inside;   // [rows, T], bool: w is a parameter there (else fixed 0)
    [[nodiscard]] at::Tensor visible_of(int64_t head) const;  // [rows, T]
};
class BiasTable {
  public:
    // Usage Error for mixers without a position bias.
    BiasTable(const Net& net, int64_t layer);
    // Of a layer's w, as Mixer::bias() has it, or of its factors, without a net.
    BiasTable(const ModelConfig& model, const StoredBias& stored, int64_t layer = 0);
    [[nodiscard]] BiasRows rows(int64_t first, int64_t end) const;  // targets [first, end)
    [[nodiscard]] int64_t heads() const { return heads_; }
    [[nodiscard]] int64_t tokens() const { return tokens_; }
    [[nodiscard]] bool has_heads() const { return has_heads_; }  // [h, T, T], else [T, T]
    [[nodiscard]] bool is_causal() const { return is_causal_; }
    [[nodiscard]] int64_t grid_width() const { return width_; }  // columns of the token grid
    // Of the layer; has_masks where its w holds -inf, too.
    [[nodiscard]] const MixerTraits& traits() const { return traits_; }

  private:
    void take(const at::Tensor& w);
    [[nodiscard]] at::Tensor kernel_index(const at::Tensor& t, const at::Tensor& j) const;
    // Of a band stored by offset: values and inside.
    void fill_offsets(const at::Tensor& t, const at::Tensor& j, BiasRows& out) const;
    MixerTraits traits_;
    // CPU, as stored: float64 is made of what rows() needs. w: [T, T], [h, T, T], a band [h, T, s]
    // or kernels [h, s(, s)].
    at::Tensor w_, u_, r_;
    int64_t heads_ = 1, tokens_ = 0, width_ = 1;  // width: of the token grid
    bool has_heads_ = false, is_causal_ = true;
};

// Where a constant may be added to a row without any effect, because every visible source is
// inside, removes the row's log-mean-exp. Returns rows that were free, [rows] bool, or [heads,
// rows] where heads hide different sources. For mixers whose traits say free_rows.
at::Tensor fix_gauge(BiasRows& rows);

}  // namespace aft::probe
