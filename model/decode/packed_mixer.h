// The mixers of a packed net, one token of one row at a time: running sums, or older chunks
// accumulated for a block of targets and the block's own sources for each. Owned by the packed
// decoder; its threads call step() for their own channels or rows. No LibTorch.
#pragma once
#include <vector>

#include "model/decode/block_weights.h"
#include "model/decode/packed_state.h"

namespace aft::decode {

struct MixedToken {
    AttentionState& state;
    size_t layer = 0;
    int64_t position = 0;
    int64_t begin = 0, end = 0;                            // channels
    const float *q = nullptr, *k = nullptr, *v = nullptr;  // [width]; q: none = no gate
    float* y = nullptr;                                    // [width]; none: only the state is kept
};

class PackedMixer {
  public:
    explicit PackedMixer(const PackedNet& net)
        : net_(net), kernels_(ops::cpu::decode_kernels()), weights_(net.layers.size()) {}
    // Selects the block of `position`. If is_stale() then: every thread calls prepare(), a barrier,
    // mark_prepared(), and only then step().
    void seek(int64_t position);
    [[nodiscard]] bool is_stale() const { return stale_; }
    void prepare(int64_t thread, int64_t threads);
    void mark_prepared() { stale_ = false; }
    void step(const MixedToken& token);

  private:
    void begin_block(const MixedToken& token);
    void accumulate_chunks(const MixedToken& token, int64_t first);
    [[nodiscard]] std::vector<ops::cpu::DecodeAccumulate> accumulations(const MixedToken& token,
                                                                        int64_t first) const;
    void accumulate_wide(const MixedToken& token, int64_t chunk, const ops::cpu::DecodeChunk& part);
    void finalize_chunk(const ops::cpu::DecodeChunk& chunk) const;
    const PackedNet& net_;
    const ops::cpu::DecodeKernels& kernels_;
    std::vector<LayerWeights> weights_;  // of the block that begins at begin_, unless stale_
    int64_t begin_ = -1;
    bool stale_ = false;
};

}  // namespace aft::decode
