// One token at a time through a net, for several rows (samples) side by side: what a completion
// runs on. Worker thread (or a job's); blocks. A decoder looks into its net, which must outlive it
// and keep its weights. No LibTorch here.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/ops/cpu/decode/kernels.h"

namespace aft {

class Net;

namespace decode {

using ops::cpu::WeightFormat;

// The attention state of the rows so far; a clone can be kept and resumed at any time.
class DecoderState {
  public:
    virtual ~DecoderState() = default;
    [[nodiscard]] virtual std::unique_ptr<DecoderState> clone() const = 0;
    virtual void select(const std::vector<int64_t>& rows) = 0;  // keeps these, in this order
    [[nodiscard]] virtual int64_t rows() const = 0;
    int64_t position = 0;  // tokens taken so far
};

class Decoder {
  public:
    virtual ~Decoder() = default;
    [[nodiscard]] virtual std::unique_ptr<DecoderState> start(int64_t rows) const = 0;
    // tokens: the one before state.position of each row (-1 = start) -> logits [rows, levels],
    // there until the next call. Advances the state.
    virtual std::span<const float> step(std::span<const int64_t> tokens, DecoderState& state) = 0;
    // tokens [rows, n], in order: the same state and logits [rows, n, levels] as by n steps, which
    // is what it does where a decoder has nothing faster. logits: none = not wanted.
    virtual void feed(std::span<const int64_t> tokens, DecoderState& state,
                      std::vector<float>* logits);
    // Fixed batch size needed for batch-invariant results; 0 = any.
    [[nodiscard]] virtual int64_t group() const = 0;
    [[nodiscard]] virtual std::string name() const = 0;  // "packed fp32, avx512", "LibTorch"
};

struct DecoderOptions {
    WeightFormat weights = WeightFormat::fp32;
    int64_t threads = 1;
    bool eager = false;  // LibTorch's own operations, whatever the net
    bool operator==(const DecoderOptions&) const = default;
};

// The one place where the way is chosen: packed weights and our kernels for aft-simple, aft-local
// and aft-full on the CPU, else LibTorch. A usage Error if reduced weights are asked for there.
[[nodiscard]] std::unique_ptr<Decoder> make_decoder(const Net& net, const DecoderOptions& options);

// Keeps the decoder of one net between completions: packing costs as much as many tokens.
class KeptDecoder {
  public:
    // version: another number whenever the net or its weights have changed.
    [[nodiscard]] Decoder& of(const Net& net, const DecoderOptions& options, uint64_t version);

  private:
    std::unique_ptr<Decoder> decoder_;
    DecoderOptions options_;
    uint64_t version_ = 0;
};

[[nodiscard]] WeightFormat parse_weight_format(const std::string& name);  // fp32, bf16, int8

// Log-likelihood in nats of a whole sequence, at most as long as the model.
[[nodiscard]] double sequence_likelihood(Decoder& decoder, const std::vector<uint8_t>& tokens);

// For feed(): logits [rows, each, levels] of tokens from `first` on, to be put into
// [rows, of, levels], which is made as large as that.
struct LogitsPlace {
    size_t rows = 1, first = 0, each = 1, of = 1;
};
void place_logits(std::span<const float> found, const LogitsPlace& place,
                  std::vector<float>& logits);

// Their rooms; use make_decoder.
[[nodiscard]] std::unique_ptr<Decoder> make_eager_decoder(const Net& net);
[[nodiscard]] const char* why_not_packed(const Net& net);  // nullptr = can be packed
[[nodiscard]] std::unique_ptr<Decoder> make_packed_decoder(const Net& net,
                                                           const DecoderOptions& options);

}  // namespace decode
}  // namespace aft
