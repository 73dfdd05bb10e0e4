// Rows of samples that are decoded together: some samples, or the particles of one sample. Inside
// model/decode only; one thread.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "model/decode/decode.h"
#include "model/decode/decoder.h"

namespace aft::decode {

struct SampleRow {
    std::vector<uint8_t> tokens;           // [total]
    std::vector<float> surprise, entropy;  // [total], bits; NaN where not filled
    double log_likelihood = 0;             // nats over filled positions, temperature 1
    double log_weight = 0;                 // particles: likelihood of known tokens that followed
    uint64_t stream = 0;                   // of its random numbers
    bool padding = false;                  // computed, never shown
};

// The input of a row at a position: -1 = sample a value, else take this one.
struct Given {
    int64_t value = -1;
    bool filled = false;  // counts into the likelihood (a forced value does, a known one does not)
    bool weighs = false;  // particles: a known value after the first filled one
};

// Tokens [begin, end) of a sequence. The state covers all but the last, which is the next input.
struct Stretch {
    int64_t begin = 0, end = 0;
};

// Where a batch begins: position of the first token that the state has seen, and the model's
// length.
struct ContextWindow {
    int64_t begin = 0, length = 0;
};

// Tokens of all rows together in one call: with many rows the weights are shared anyway.
inline constexpr int64_t kMostFed = 256;

class SampleBatch {
  public:
    // prefix: state of one row that has taken the tokens of [window, first) but the last one.
    // A sequence longer than the window continues with the last half of it.
    SampleBatch(Decoder& decoder, const DecoderState& prefix, std::vector<SampleRow> rows,
                ContextWindow window);
    // Decides position `at` of every row. given: one per row.
    void advance(int64_t at, const std::vector<Given>& given, const SampleOptions& options);
    // Prefill: advances over known positions from `at` on, which need no sampling and change no
    // particle weight, in blocks where the decoder can. given: of each position, one per row.
    void follow(int64_t at, const std::vector<std::vector<Given>>& given);
    // Particles: draws rows by weight when the effective sample size falls under half of them.
    void resample(double uniform);
    [[nodiscard]] const std::vector<SampleRow>& rows() const { return rows_; }
    // Particles: the row to show, by weight.
    [[nodiscard]] const SampleRow& drawn(double uniform) const;
    [[nodiscard]] const SampleRow& heaviest() const;

  private:
    void restart(int64_t at);
    void follow_window(int64_t at, std::span<const std::vector<Given>> given);
    // Input tokens of the decoder at positions [begin, end): [rows, end - begin].
    [[nodiscard]] std::vector<int64_t> fed(Stretch stretch) const;
    Decoder* decoder_;
    std::unique_ptr<DecoderState> state_;
    std::vector<SampleRow> rows_;
    ContextWindow window_;
};

[[nodiscard]] std::unique_ptr<DecoderState> prefix_state(Decoder& decoder,
                                                         const std::vector<uint8_t>& tokens,
                                                         Stretch stretch,
                                                         const JobControl& control);

}  // namespace aft::decode
