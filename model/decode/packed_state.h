// The attention state of the rows of a packed decoder, per layer. Chunks of sources never change
// once they are full, so clones and selected rows share them: a copy costs the sums and one open
// chunk. Owned by the decoder's thread; while a token is computed each thread fills its own
// channels. No LibTorch.
#pragma once
#include <memory>
#include <vector>

#include "model/decode/decoder.h"
#include "model/ops/cpu/decode/kernels.h"
#include "model/ops/cpu/simd/buffer.h"

namespace aft::decode {

using ops::cpu::Buffer;
using ops::cpu::kDecodeBlock;

struct StateShape {
    int64_t layers = 1, width = 0;  // channels up to whole panels
    bool has_bias = false;
    int64_t history = 0;  // sources with a bias of their own
};

// kDecodeBlock sources of one row and layer.
struct HistoryChunk {
    Buffer<float> k, v, x, reference;  // kDecodeBlock x width as the kernels lay it; [width]
    explicit HistoryChunk(int64_t width);
    HistoryChunk(const HistoryChunk& other);
    HistoryChunk& operator=(const HistoryChunk&) = delete;
    // Channels [begin, end), the first `count` sources.
    [[nodiscard]] ops::cpu::DecodeChunk view(int64_t begin, int64_t end, int64_t count);
};

// The attention state of one row in one layer.
struct AttentionState {
    std::vector<float> sums;  // [3, width]: all sources, or with biases those past the history
    // [kDecodeBlock, 3, width]: of each target, from sources before its block
    std::vector<float> targets;
    // Full; chunk i of the sequence at i - first.
    std::vector<std::shared_ptr<HistoryChunk>> chunks;
    int64_t first = 0;
    std::shared_ptr<HistoryChunk> open;  // of this row alone
};

class PackedState final : public DecoderState {
  public:
    PackedState(const StateShape& shape, int64_t rows);
    [[nodiscard]] std::unique_ptr<DecoderState> clone() const override;
    void select(const std::vector<int64_t>& rows) override;

    // At the first token of a block: closes the open chunk, drops what lies before the history.
    void open_block();
    [[nodiscard]] int64_t rows() const override { return rows_; }
    [[nodiscard]] AttentionState& at(int64_t layer, int64_t row) {
        return states_[static_cast<size_t>(layer * rows_ + row)];
    }

  private:
    StateShape shape_;
    int64_t rows_ = 0;
    std::vector<AttentionState> states_;  // [layers, rows]
};

}  // namespace aft::decode
