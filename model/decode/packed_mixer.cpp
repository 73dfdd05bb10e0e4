#include "model/decode/packed_mixer.h"

namespace aft::decode {

using ops::cpu::DecodeChunk;
using ops::cpu::DecodePull;

void PackedMixer::turn_to(int64_t position) {
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

void PackedMixer::take(const MixedToken& token) {
    Heard& heard = token.heard;
    if (!net_.has_bias)
        return kernels_.take({.source = {token.k, token.v},
                              .q = token.q,
                              .sums = heard.sums.data(),
                              .y = token.y,
                              .stride = net_.width,
                              .begin = token.begin,
                              .end = token.end});
    const int64_t target = token.position % kDecodeBlock;
    if (target == 0) begin_block(token);
    const DecodeChunk open = heard.open->part(token.begin, token.end, target + 1);
    kernels_.append(open, {token.k, token.v}, target);
    if (token.y == nullptr) return;
    const BiasRow& row = weights_[token.layer].own[static_cast<size_t>(target)];
    kernels_.exact({.chunk = open,
                    .whole = row.whole,
                    .part = row.part,
                    .sums = heard.targets.data(),
                    .target = target,
                    .open = true,
                    .q = token.q,
                    .y = token.y});
}

void PackedMixer::seal(const DecodeChunk& chunk) const {
    (net_.hears16 ? kernels_.seal16 : kernels_.seal)(chunk);
}

// What all targets of the block hear from before it.
void PackedMixer::begin_block(const MixedToken& token) {
    Heard& heard = token.heard;
    const int64_t begin = token.begin, end = token.end;
    if (!heard.chunks.empty()) seal(heard.chunks.back()->part(begin, end, kDecodeBlock));
    int64_t chunk = heard.first;
    for (; chunk < weights_[token.layer].first; ++chunk)  // they have left the history for good
        if (!net_.forget)
            kernels_.fold(heard.chunks[static_cast<size_t>(chunk - heard.first)]->part(
                              begin, end, kDecodeBlock),
                          heard.sums.data());
    kernels_.begin(heard.open->part(begin, end, 0), heard.sums.data(), heard.targets.data());
    hear_chunks(token, chunk);
}

// In bf16 a vector of channels goes through all chunks, so that its sums stay in the first-level
// cache (aft-full at t = 3000, int8 weights: 805 to 719 us a token); float32 reads twice as much of
// each chunk and is quicker by whole chunks. Biases too far apart for a tile come last.
void PackedMixer::hear_chunks(const MixedToken& token, int64_t first) {
    const auto pull = net_.hears16 ? kernels_.pull16 : kernels_.pull;
    const std::vector<DecodePull> all = pulls(token, first);
    const int64_t step = net_.hears16 ? kernels_.lanes : token.end - token.begin;
    for (int64_t at = token.begin; at < token.end; at += step)
        for (size_t i = 0; i < all.size(); ++i) {
            DecodePull part = all[i];
            part.chunk.begin = at;
            part.chunk.end = at + step;
            if (net_.hears16 && i + 1 < all.size()) part.next = all[i + 1].chunk.x;
            pull(part);
        }
    for (size_t i = 0; i < all.size(); ++i)
        hear_wide(token, first + static_cast<int64_t>(i), all[i].chunk);
}

std::vector<DecodePull> PackedMixer::pulls(const MixedToken& token, int64_t first) const {
    Heard& heard = token.heard;
    const LayerWeights& weights = weights_[token.layer];
    std::vector<DecodePull> all;
    all.reserve(heard.chunks.size());
    for (auto i = static_cast<size_t>(first - heard.first); i < heard.chunks.size(); ++i) {
        const int64_t chunk = heard.first + static_cast<int64_t>(i);
        const int64_t at = (chunk - weights.first) * kDecodeBlock;
        all.push_back(
            {.chunk = heard.chunks[i]->part(token.begin, token.end, kDecodeBlock),
             .weights = net_.hears16 ? nullptr : weights.tiles.data() + at * kDecodeBlock,
             .pairs = net_.hears16 ? weights.pairs.data() + at * kDecodeBlock / 2 : nullptr,
             .largest = weights.largest.data() + at,
             .first = 0,
             .targets = kDecodeBlock,
             .sums = heard.targets.data()});
    }
    return all;
}

void PackedMixer::hear_wide(const MixedToken& token, int64_t chunk, const DecodeChunk& part) {
    const LayerWeights& weights = weights_[token.layer];
    const int64_t at = (chunk - weights.first) * kDecodeBlock;
    for (int64_t t = 0; t < kDecodeBlock; ++t) {
        if (weights.wide[static_cast<size_t>(at + t)] == 0) continue;
        const BiasRow row = bias_row(net_, static_cast<int64_t>(token.layer), begin_ + t, chunk);
        kernels_.exact({.chunk = part,
                        .whole = row.whole,
                        .part = row.part,
                        .sums = token.heard.targets.data(),
                        .target = t});
    }
}

}  // namespace aft::decode
