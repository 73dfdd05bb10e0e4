#include "model/decode/packed_mixer.h"

namespace aft::decode {

using ops::cpu::DecodeAccumulate;
using ops::cpu::DecodeChunk;

void PackedMixer::seek(int64_t position) {
    const int64_t begin = position - position % kDecodeBlock;
    if (!net_.has_bias || begin == begin_) return;
    begin_ = begin;
    stale_ = true;
}

void PackedMixer::prepare(int64_t thread, int64_t threads) {
    for (auto i = static_cast<size_t>(thread); i < weights_.size();
         i += static_cast<size_t>(threads))
        fill(net_, static_cast<int64_t>(i), begin_, weights_[i]);
}

void PackedMixer::step(const MixedToken& token) {
    AttentionState& state = token.state;
    if (!net_.has_bias)
        return kernels_.step({.source = {token.k, token.v},
                              .q = token.q,
                              .sums = state.sums.data(),
                              .y = token.y,
                              .stride = net_.width,
                              .begin = token.begin,
                              .end = token.end});
    const int64_t target = token.position % kDecodeBlock;
    if (target == 0) begin_block(token);
    const DecodeChunk open = state.open->view(token.begin, token.end, target + 1);
    kernels_.append(open, {token.k, token.v}, target);
    if (token.y == nullptr) return;
    const BiasRow& row = weights_[token.layer].own[static_cast<size_t>(target)];
    kernels_.accumulate_exact({.chunk = open,
                               .exponent = row.exponent,
                               .mantissa = row.mantissa,
                               .sums = state.targets.data(),
                               .target = target,
                               .open = true,
                               .q = token.q,
                               .y = token.y});
}

void PackedMixer::finalize_chunk(const DecodeChunk& chunk) const {
    (net_.bf16_chunks ? kernels_.finalize_chunk_bf16 : kernels_.finalize_chunk)(chunk);
}

// The state of all targets of the block, from the sources before it.
void PackedMixer::begin_block(const MixedToken& token) {
    AttentionState& state = token.state;
    const int64_t begin = token.begin, end = token.end;
    if (!state.chunks.empty()) finalize_chunk(state.chunks.back()->view(begin, end, kDecodeBlock));
    int64_t chunk = state.first;
    for (; chunk < weights_[token.layer].first; ++chunk)  // they have left the history
        if (!net_.forget)
            kernels_.accumulate_unbiased(
                state.chunks[static_cast<size_t>(chunk - state.first)]->view(begin, end,
                                                                             kDecodeBlock),
                state.sums.data());
    kernels_.broadcast_state(state.open->view(begin, end, 0), state.sums.data(),
                             state.targets.data());
    accumulate_chunks(token, chunk);
}

// In bf16 a vector of channels goes through all chunks, so that its sums stay in the first-level
// cache (aft-full at t = 3000, int8 weights: 805 to 719 us a token); float32 reads twice as much of
// each chunk and is quicker by whole chunks. Biases too far apart for a tile come last.
void PackedMixer::accumulate_chunks(const MixedToken& token, int64_t first) {
    const auto accumulate =
        net_.bf16_chunks ? kernels_.accumulate_chunk_bf16 : kernels_.accumulate_chunk;
    const std::vector<DecodeAccumulate> all = accumulations(token, first);
    const int64_t step = net_.bf16_chunks ? kernels_.lanes : token.end - token.begin;
    for (int64_t at = token.begin; at < token.end; at += step)
        for (size_t i = 0; i < all.size(); ++i) {
            DecodeAccumulate part = all[i];
            part.chunk.begin = at;
            part.chunk.end = at + step;
            if (net_.bf16_chunks && i + 1 < all.size()) part.next = all[i + 1].chunk.x;
            accumulate(part);
        }
    for (size_t i = 0; i < all.size(); ++i)
        accumulate_wide(token, first + static_cast<int64_t>(i), all[i].chunk);
}

std::vector<DecodeAccumulate> PackedMixer::accumulations(const MixedToken& token,
                                                         int64_t first) const {
    AttentionState& state = token.state;
    const LayerWeights& weights = weights_[token.layer];
    std::vector<DecodeAccumulate> all;
    all.reserve(state.chunks.size());
    for (auto i = static_cast<size_t>(first - state.first); i < state.chunks.size(); ++i) {
        const int64_t chunk = state.first + static_cast<int64_t>(i);
        const int64_t at = (chunk - weights.first) * kDecodeBlock;
        all.push_back(
            {.chunk = state.chunks[i]->view(token.begin, token.end, kDecodeBlock),
             .weights = net_.bf16_chunks ? nullptr : weights.tiles.data() + at * kDecodeBlock,
             .pairs = net_.bf16_chunks ? weights.pairs.data() + at * kDecodeBlock / 2 : nullptr,
             .largest = weights.largest.data() + at,
             .first = 0,
             .targets = kDecodeBlock,
             .sums = state.targets.data()});
    }
    return all;
}

void PackedMixer::accumulate_wide(const MixedToken& token, int64_t chunk, const DecodeChunk& part) {
    const LayerWeights& weights = weights_[token.layer];
    const int64_t at = (chunk - weights.first) * kDecodeBlock;
    for (int64_t t = 0; t < kDecodeBlock; ++t) {
        if (weights.wide[static_cast<size_t>(at + t)] == 0) continue;
        const BiasRow row = bias_row(net_, static_cast<int64_t>(token.layer), begin_ + t, chunk);
        kernels_.accumulate_exact({.chunk = part,
                                   .exponent = row.exponent,
                                   .mantissa = row.mantissa,
                                   .sums = token.state.targets.data(),
                                   .target = t});
    }
}

}  // namespace aft::decode
