#include <cstring>

#include "model/ops/cpu/band.h"

namespace aft::ops::cpu {

Panels::Panels(const BandShape& shape, bool with_sums)
    : kernels_(kernels()),
      shape_(shape),
      per_sample_((shape.channels + kernels_.channels - 1) / kernels_.channels),
      chunks_((shape.length + kTile - 1) / kTile),
      steps_(chunks_ * (kTile / kStep) + 1),
      panels_(count() * chunks_ * kTile * width()),
      references_(count() * chunks_ * kernels_.channels, true),
      before_(with_sums ? count() * steps_ * width() : 0),
      after_(with_sums && !shape.causal ? count() * steps_ * width() : 0) {}

Panels::Block Panels::block(int64_t i) {
    const int64_t at = i % per_sample_ * kernels_.channels;
    return {.sample = i / per_sample_,
            .first = at,
            .channels =
                shape_.channels - at < kernels_.channels ? shape_.channels - at : kernels_.channels,
            .panel = panels_.data() + i * chunks_ * kTile * width(),
            .reference = references_.data() + i * chunks_ * kernels_.channels,
            .before = before_.size() > 0 ? before_.data() + i * steps_ * width() : nullptr,
            .after = after_.size() > 0 ? after_.data() + i * steps_ * width() : nullptr};
}

void Panels::pack(const float* k, const float* v, const float* mean) {
    const int64_t d = shape_.channels, sample = shape_.length * d;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count(); ++i) {
        const Block b = block(i);
        kernels_.pack_keys({.k = k + b.sample * sample + b.first,
                            .v = v + b.sample * sample + b.first,
                            .mean = mean == nullptr ? nullptr : mean + b.sample * d + b.first,
                            .stride = d,
                            .length = shape_.length,
                            .channels = b.channels,
                            .causal = shape_.causal,
                            .panel = b.panel,
                            .reference = b.reference,
                            .before = b.before,
                            .after = b.after});
    }
}

bool Panels::alike(const Block& block, int64_t chunk, int64_t other) const {
    const int64_t C = kernels_.channels;
    return std::memcmp(block.reference + chunk * C, block.reference + other * C,
                       static_cast<std::size_t>(C) * sizeof(float)) == 0;
}

}  // namespace aft::ops::cpu
