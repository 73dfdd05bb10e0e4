// Panels of the banded operators: the right-hand operand of their products (paper Eq. 2).
//
//   row j: [X_j V_j | X_j],  X_j = 2^(K_j log2 e - b + 60),  b an integer, per channel and chunk of
//   96
//
// Cost: one exponential for each entry of K, which is read twice (the second time from a cache).
// Numerics: b is an integer that never falls from chunk to chunk; where it rises the running sums
// are rescaled by a power of two, exactly. With window 256, B = 4, T = 3072, d = 256 packing had 7
// of 100 samples of a profile of the forward pass, products 77, on two cores of a Xeon with
// AVX-512.
#include <algorithm>
#include <cstring>

#include "core/system/flush_to_zero.h"
#include "model/ops/cpu/band/band.h"
#include "model/ops/cpu/band/bf16_kernels.h"
#include "model/ops/cpu/range.h"

namespace aft::ops::cpu {

Panels::Panels(const BandShape& shape, const Layout& plan)
    : kernels_(band_kernels()),
      shape_(shape),
      plan_(plan),
      panels_(plan.bf16 ? 0 : plan.blocks * plan.rows * width()),
      references_(plan.blocks * plan.rows / kTile * kernels_.channels, true),
      states_(plan.blocks * width()),
      before_(plan.sums ? plan.blocks * sums_size() : 0),
      after_(plan.sums && !shape.causal ? plan.blocks * sums_size() : 0),
      bf16_panels_(plan.bf16 ? plan.blocks * plan.rows * width() : 0) {}

int64_t Panels::sums_size() const {
    return plan_.rows / (plan_.bf16 ? bf16_kernels()->step : kStep) * width();
}

int64_t Panels::all_blocks(const BandShape& shape) {
    const int64_t C = band_kernels().channels;
    return shape.batch * ((shape.channels + C - 1) / C);
}

Panels::ChannelBlock Panels::block(int64_t i, int64_t slot) {
    const int64_t C = kernels_.channels, per_sample = (shape_.channels + C - 1) / C;
    const int64_t at = i % per_sample * C;
    return {.sample = i / per_sample,
            .first = at,
            .channels = std::min(C, shape_.channels - at),
            .rows = plan_.rows,
            .width = width(),
            .every = plan_.bf16 ? bf16_kernels()->step : kStep,
            .panel = plan_.bf16 ? nullptr : panels_.data() + slot * plan_.rows * width(),
            .reference = references_.data() + slot * (plan_.rows / kTile) * C,
            .state = states_.data() + slot * width(),
            .bf16 = plan_.bf16 ? bf16_panels_.data() + slot * plan_.rows * width() : nullptr,
            .before = before_.size() > 0 ? before_.data() + slot * sums_size() : nullptr,
            .after = after_.size() > 0 ? after_.data() + slot * sums_size() : nullptr};
}

template <class T>
PackKeys<T> Panels::arguments(const ChannelBlock& b, const Source<T>& x, int64_t chunk) const {
    const int64_t d = shape_.channels, row = chunk * kTile;
    const int64_t at = (b.sample * shape_.length + row) * d + b.first;
    return {.k = x.k + at,
            .v = x.v + at,
            .mean = x.mean == nullptr ? nullptr : x.mean + b.sample * d + b.first,
            .stride = d,
            .rows = std::min(kTile, shape_.length - row),
            .channels = b.channels,
            .previous = chunk == 0 ? nullptr : b.reference_of(chunk - 1),
            .fixed = !shape_.causal,
            .reference = b.reference_of(chunk),
            .panel = b.panel == nullptr ? nullptr : b.panel + row % b.rows * b.width,
            .bf16 = b.bf16 == nullptr ? nullptr : b.bf16 + row % b.rows * b.width,
            .state = b.state,
            .before = b.before == nullptr ? nullptr : b.before + b.step(row),
            .phase = shape_.phase()};
}

template <class T>
void Panels::pack_chunk(const ChannelBlock& b, const Source<T>& x, int64_t chunk) const {
    if (chunk == 0) std::fill(b.state, b.state + b.width, 0.0F);
    if (plan_.bf16)
        bf16_kernels()->pack_keys(arguments(b, x, chunk));
    else
        kernels_.of<T>().pack_keys(arguments(b, x, chunk));
    check_keys(b.reference_of(chunk), kernels_.channels);
}

template <class T>
void Panels::pack(const ChannelBlock& b, const Source<T>& x) const {
    const int64_t chunks = (shape_.length + kTile - 1) / kTile;
    if (!shape_.causal) {  // one reference for all
        PackKeys<T> all_rows = arguments(b, x, 0);
        all_rows.rows = shape_.length;
        kernels_.of<T>().key_reference(all_rows);
        for (int64_t chunk = 1; chunk < chunks; ++chunk)
            std::copy_n(b.reference, kernels_.channels, b.reference_of(chunk));
    }
    for (int64_t chunk = 0; chunk < chunks; ++chunk) pack_chunk(b, x, chunk);
    if (b.after != nullptr)
        (plan_.bf16 ? bf16_kernels()->sum_after : kernels_.sum_after)(
            {.panel = b.panel, .bf16 = b.bf16, .rows = shape_.length, .after = b.after});
}

template <class T>
void Panels::pack_all(const Source<T>& x, const IndexRange& blocks) {
#pragma omp parallel for schedule(static)
    for (int64_t i = blocks.begin; i < blocks.end; ++i) {
        const ScopedFlushToZero flush;
        pack(block(i, i - blocks.begin), x);
    }
}

bool Panels::ChannelBlock::alike(int64_t chunk, int64_t other) const {
    return std::memcmp(reference_of(chunk), reference_of(other),
                       static_cast<std::size_t>(width / 2) * sizeof(float)) == 0;
}

template void Panels::pack_chunk(const ChannelBlock& block, const Source<float>& x,
                                 int64_t chunk) const;
template void Panels::pack_chunk(const ChannelBlock& block, const Source<Bf16>& x,
                                 int64_t chunk) const;
template void Panels::pack(const ChannelBlock& block, const Source<float>& x) const;
template void Panels::pack(const ChannelBlock& block, const Source<Bf16>& x) const;
template void Panels::pack_all(const Source<float>& x, const IndexRange& blocks);
template void Panels::pack_all(const Source<Bf16>& x, const IndexRange& blocks);

}  // namespace aft::ops::cpu
