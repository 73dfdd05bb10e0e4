// Rows of samples that are decoded together: a fixed group of kGroup samples, or the particles of
// one sample. Inside model/decode only; one thread.
#pragma once
#include <cstdint>
#include <vector>

#include "model/decode/decode.h"

namespace aft::decode {

struct Row {
    std::vector<uint8_t> tokens;           // [total]
    std::vector<float> surprise, entropy;  // [total], bits; NaN where not filled
    double log_likelihood = 0;             // nats over filled positions, temperature 1
    double log_weight = 0;                 // particles: likelihood of known tokens that followed
    uint64_t stream = 0;                   // of its random numbers
    bool padding = false;                  // computed, never shown
};

// What a row does at a position: -1 = sample a value, else take this one.
struct Given {
    int64_t value = -1;
    bool filled = false;  // counts into the likelihood (a forced value does, a known one does not)
    bool weighs = false;  // particles: a known value after the first filled one
};

class Batch {
  public:
    // prefix: state of one row that has taken the tokens of [window, first) but the last one.
    Batch(const Net& net, const NetState& prefix, std::vector<Row> rows, int64_t window);
    // Decides position `at` of every row. given: one per row.
    void advance(int64_t at, const std::vector<Given>& given, const SampleOptions& options);
    // Particles: draws rows by weight when the effective sample size falls under half of them.
    void resample(double uniform);
    [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
    // Particles: the row to show, by weight.
    [[nodiscard]] const Row& drawn(double uniform) const;
    [[nodiscard]] const Row& heaviest() const;

  private:
    void restart(int64_t at);
    [[nodiscard]] at::Tensor previous(int64_t at) const;
    const Net& net_;
    NetState state_;
    std::vector<Row> rows_;
    int64_t window_;  // position of the first token that the state has seen
};

// The state of one row that has seen the known tokens [begin, end) except the last, which the batch
// takes.
struct Stretch {
    int64_t begin = 0, end = 0;
};
[[nodiscard]] NetState prefix_state(const Net& net, const std::vector<uint8_t>& tokens,
                                    Stretch stretch, const JobControl& control);

}  // namespace aft::decode
