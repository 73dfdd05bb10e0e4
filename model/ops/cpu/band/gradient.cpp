// Gradient of aft-full and aft-local (paper Eq. 2, 7). With P the gradient of R = N / D and z = w +
// K, dR/dV_j = p_tj and dR/dz_tj = p_tj (V_j - R_t), p = E X / D. Shifting V and R by the mean of
// V:
//   A = P / D, C = A (mean - R)                       panel [A | C] of the targets
//   SA_j = sum_t E_tj A_t, SC alike                   the same product, weights transposed
//   dV = X SA, dK = (V - mean) dV + X SC
//   dE_tj = sum_c A_tc X_jc (V_jc - mean) + C_tc X_jc,  dw = E dE inside the window
// Tiles of kTile sources; a tile's weights are computed once for every sample and block of
// channels. With references that differ, a target's factors count 2^(reference_j - reference_t):
// the sums are rescaled from chunk to chunk, from the last target down, so that every factor is at
// most one. Cost: 8 d FLOP for each pair of the band and sample. B = 4, T = 3072, d = 256, window
// 256, causal: 59 ms on two cores whose peak is 237 GFLOP/s (forward 24 ms).
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/system/flush_to_zero.h"
#include "model/ops/cpu/band/band.h"
#include "model/ops/cpu/band/factors.h"

namespace aft::ops::cpu {

namespace {

// One tile of sources of one thread.
struct SourceTile {
    WeightScratch scratch;
    Buffer<float> weights;           // [targets, row] E, then dw
    Buffer<float> gradient;          // [targets, kTile] dE
    Buffer<float> sums;              // [kTile, 2C]
    Buffer<float> across, rescaled;  // transposed source panel; the same at other references
    int64_t begin = 0, row = 0;      // first source; floats of a row of weights
    IndexRange targets;              // whose window overlaps the tile
    IndexRange blocks[kBlocks];      // whose window overlaps each block of kRows sources
    PrefetchRange prefetch_range;    // panels

    SourceTile(const BandWeights& all, const BandKernels& k, int64_t most)
        : scratch(all.scratch()),
          weights((most + 2 * kTile) * (kTile + 3 * k.lanes), true),
          gradient((most + 2 * kTile) * kTile, true),
          sums(kTile * 2 * k.channels),
          across(kTile * 2 * k.channels),
          rescaled(kTile * 2 * k.channels),
          row(kTile + 3 * k.lanes) {}  // not a power of two: rows share out the cache's sets
};

template <class T>
class BandGradientPass {
  public:
    BandGradientPass(const BandShape& shape, const BandGradient<T>& x)
        : kernels_(band_kernels()),
          shape_(shape),
          x_(x),
          weights_(shape.bias, shape.length, shape.causal),
          scales_(weights_.padded()),
          split_(split()),
          sources_(shape, plan(false)),
          targets_(shape, plan(true)) {
        if (wants_bias())
            dw_ = Buffer<float>(split_.parts * split_.tiles * most_targets() * kTile, true);
    }

    Norms run() {
        std::vector<SourceTile> scratch;
        for (int i = 0; i < omp_get_max_threads(); ++i)
            scratch.emplace_back(weights_, kernels_, most_targets());
        measure(scratch);
        Norms total;
        for (int64_t group = 0; group < split_.groups; ++group) {
            now_ = {split_.blocks * group / split_.groups,
                    split_.blocks * (group + 1) / split_.groups};
            const Norms more = run_group(scratch);
            total.left += more.left;
            total.part += more.part;
        }
        if (wants_bias()) finish_bias();
        return total;
    }

  private:
    // Samples and blocks of channels in groups whose panels stay in the last-level cache: each
    // recomputes the weights (a twentieth of its time).
    static constexpr int64_t kGroup = 1 << 22;  // numbers of a panel

    // How the work is shared out. Few tiles: the samples are shared out too, in parts whose dw are
    // added up in their order.
    struct WorkSplit {
        int64_t blocks = 0, groups = 1;  // samples times blocks of channels
        int64_t tiles = 0, parts = 1;
    };
    [[nodiscard]] WorkSplit split() const {
        const int64_t blocks = Panels::all_blocks(shape_), tiles = weights_.padded() / kTile;
        const int64_t numbers = blocks * weights_.padded() * 2 * kernels_.channels;
        return {.blocks = blocks,
                .groups = std::clamp<int64_t>((numbers + kGroup - 1) / kGroup, 1, shape_.batch),
                .tiles = tiles,
                .parts = std::clamp<int64_t>((8 + tiles - 1) / tiles, 1, shape_.batch)};
    }

    Norms run_group(std::vector<SourceTile>& scratch) {
        sources_.pack_all(Panels::Source<T>{x_.k, x_.v, x_.mean}, now_);
        pack_targets();
        std::vector<Norms> norms(static_cast<std::size_t>(split_.tiles * split_.parts));
#pragma omp parallel for schedule(dynamic)
        for (int64_t i = 0; i < split_.tiles * split_.parts; ++i)
            norms[static_cast<std::size_t>(i)] =
                tile(scratch[static_cast<std::size_t>(omp_get_thread_num())], i);
        Norms total;
        for (const Norms& n : norms) {
            total.left += n.left;
            total.part += n.part;
        }
        return total;
    }

    [[nodiscard]] Panels::Layout plan(bool sums) const {
        return {.blocks = (split_.blocks + split_.groups - 1) / split_.groups,
                .rows = weights_.padded(),
                .sums = sums};
    }
    [[nodiscard]] bool wants_bias() const { return x_.bias.dw != nullptr || x_.bias.du != nullptr; }
    [[nodiscard]] int64_t width() const { return sources_.width(); }
    [[nodiscard]] int64_t most_targets() const {  // of a tile, whole blocks of rows
        const int64_t reach = (shape_.causal ? 1 : 2) * shape_.bias.window + kTile + 2 * kStep;
        return (std::min(shape_.length, reach) + kTile) / kTile * kTile;
    }

    void measure(std::vector<SourceTile>& scratch) {
#pragma omp parallel for schedule(static)
        for (int64_t t = 0; t < shape_.length; t += kRows)
            weights_.measure(t, scales_, t,
                             scratch[static_cast<std::size_t>(omp_get_thread_num())].scratch);
    }

    void pack_targets() {
        const int64_t d = shape_.channels, length = shape_.length;
#pragma omp parallel for schedule(static)
        for (int64_t i = now_.begin; i < now_.end; ++i) {
            const ScopedFlushToZero flush;
            const Panels::ChannelBlock b = targets_.block(i, i - now_.begin);
            const int64_t at = b.sample * length * d + b.first;
            const auto from = [&](auto* p) { return p == nullptr ? nullptr : p + at; };
            kernels_.of<T>().row_factors({.q = from(x_.q),
                                          .dy = from(x_.dy),
                                          .average = from(x_.average),
                                          .denominator = from(x_.denominator),
                                          .mean = x_.mean + b.sample * d + b.first,
                                          .rows = length,
                                          .channels = b.channels,
                                          .stride = d,
                                          .scale = x_.scale,
                                          .dq = from(x_.dq),
                                          .panel = b.panel});
            std::fill(b.panel + length * width(), b.panel + weights_.padded() * width(), 0.0F);
            kernels_.outside_sums({.panel = b.panel,
                                   .weight = scales_.outside.data(),
                                   .reference = sources_.block(i, i - now_.begin).reference,
                                   .length = length,
                                   .causal = shape_.causal,
                                   .after = b.before,  // the names are the forward pass's
                                   .before = b.after});
        }
    }

    Norms tile(SourceTile& s, int64_t i) {
        const ScopedFlushToZero flush;
        const int64_t part = i % split_.parts, count = now_.end - now_.begin;
        start(s, i / split_.parts * kTile);
        Norms total;
        for (int64_t b = count * part / split_.parts; b < count * (part + 1) / split_.parts; ++b) {
            const Norms n = block(s, now_.begin + b);
            total.left += n.left;
            total.part += n.part;
        }
        if (wants_bias()) finish_tile(s, i);
        return total;
    }

    void start(SourceTile& s, int64_t begin) {
        s.begin = begin;
        s.targets = weights_.targets(begin, std::min(shape_.length, begin + kTile));
        for (int64_t t = s.targets.begin; t < s.targets.end; t += kRows)
            weights_.fill({.row = t,
                           .sources = {begin, begin + kTile},
                           .scales = scales_,
                           .at = t,
                           .out = s.weights.data() + (t - s.targets.begin) * s.row,
                           .out_row = s.row},
                          s.scratch);
        for (int64_t i = 0; i < kBlocks; ++i) {
            const int64_t first = begin + i * kRows, last = std::min(shape_.length, first + kRows);
            s.blocks[i] = {shape_.length, shape_.length};  // behind the last source: nothing to do
            if (first < last) s.blocks[i] = weights_.targets(first, last);
        }
        const int64_t rows = (s.targets.end - s.targets.begin + kTile) * kTile;
        std::fill(s.gradient.data(), s.gradient.data() + std::min(rows, s.gradient.size()), 0.0F);
    }

    [[nodiscard]] PrefetchRange factors_of(int64_t i, int64_t chunk) {
        const float* from = targets_.block(i, i - now_.begin).row(chunk * kTile);
        return {reinterpret_cast<const char*>(from), kTile * width() * 4};
    }

    Norms block(SourceTile& s, int64_t i) {
        const Panels::ChannelBlock b = sources_.block(i, i - now_.begin);
        const Panels::ChannelBlock t = targets_.block(i, i - now_.begin);
        const float* panel = b.panel + s.begin * width();
        if (wants_bias()) kernels_.transpose(panel, kTile, s.across.data());
        const auto chunk_of = [&](int64_t row) { return std::min(row / kTile, split_.tiles - 1); };
        int64_t started = kBlocks;  // blocks of sources from this one on have begun
        const int64_t first = s.targets.begin / kTile, last = chunk_of(s.targets.end);
        for (int64_t chunk = last, at = last; chunk >= first; at = chunk--) {
            if (chunk != at && !b.alike(chunk, at))
                kernels_.rescale({.rows = s.sums.data() + started * kRows * width(),
                                  .count = (kBlocks - started) * kRows,
                                  .from = b.reference + chunk * kernels_.channels,
                                  .to = b.reference + at * kernels_.channels});
            for (; started > 0 && chunk_of(s.blocks[started - 1].end) >= chunk; --started)
                begin_sums(s, t, started - 1);
            if (chunk > first)
                s.prefetch_range = factors_of(i, chunk - 1);
            else
                s.prefetch_range = i + 1 < now_.end ? factors_of(i + 1, last) : PrefetchRange{};
            add_sums(s, t, chunk);
            if (wants_bias()) add_gradient(s, b, chunk, t.panel);
        }
        const int64_t d = shape_.channels;
        const int64_t out = (b.sample * shape_.length + s.begin) * d + b.first;
        return kernels_.of<T>().finish_keys({.panel = panel,
                                             .sums = s.sums.data(),
                                             .rows = std::min(kTile, shape_.length - s.begin),
                                             .channels = b.channels,
                                             .stride = d,
                                             .scale = 1 / x_.scale,
                                             .dk = x_.dk + out,
                                             .dv = x_.dv + out});
    }

    // Contribution of the targets outside the window, uniform over the block (running sums).
    void begin_sums(SourceTile& s, const Panels::ChannelBlock& t, int64_t i) {
        const float one = 1;
        Multiply m{
            .a = &one, .steps = 1, .sum = s.sums.data() + i * kRows * width(), .sum_row = width()};
        std::fill(m.sum, m.sum + kRows * width(), 0.0F);
        const auto [begin, end] = s.blocks[i];
        if (begin == end) return;  // behind the last source
        if (end < shape_.length) {
            m.b = t.before + end / kStep * width();
            kernels_.multiply(m);
        }
        if (!shape_.causal && begin > 0) {
            m.b = t.after + begin / kStep * width();
            kernels_.multiply(m);
        }
    }

    void add_sums(SourceTile& s, const Panels::ChannelBlock& t, int64_t chunk) {
        for (int64_t i = 0; i < kBlocks; ++i) {
            const int64_t from = std::max(chunk * kTile, s.blocks[i].begin);
            const int64_t to = std::min((chunk + 1) * kTile, s.blocks[i].end);
            if (from >= to) continue;
            const float* weights = s.weights.data() + (from - s.targets.begin) * s.row;
            ProductExtras extras;
            s.prefetch_range.next(to - from, 2 * width(), extras);
            kernels_.multiply({.a = weights + i * kRows,
                               .a_row = 1,
                               .a_step = s.row,
                               .b = t.panel + from * width(),
                               .b_step = width(),
                               .steps = to - from,
                               .sum = s.sums.data() + i * kRows * width(),
                               .sum_row = width(),
                               .extras = extras});
        }
    }

    // Whether no target of [t, t + rows) has source [j, j + lanes) in its window.
    [[nodiscard]] bool apart(int64_t t, int64_t j) const {
        const int64_t last = t + kernels_.outer_rows - 1, end = j + kernels_.outer_lanes - 1;
        if (shape_.causal ? last < j : j - last >= shape_.bias.window) return true;
        return t - end >= shape_.bias.window;
    }

    void add_gradient(SourceTile& s, const Panels::ChannelBlock& b, int64_t chunk,
                      const float* factors) {
        const float* across = s.across.data();
        const int64_t C = kernels_.channels, own = s.begin / kTile, lanes = kernels_.outer_lanes;
        if (!b.alike(chunk, own)) {
            for (int64_t i = 0; i < kTile / lanes; ++i)
                for (int64_t c = 0; c < width(); ++c) {
                    const float by =
                        std::exp2(b.reference[own * C + c % C] - b.reference[chunk * C + c % C]);
                    const int64_t at = (i * width() + c) * lanes;
                    for (int64_t l = 0; l < lanes; ++l)
                        s.rescaled.data()[at + l] = across[at + l] * by;
                }
            across = s.rescaled.data();
        }
        const int64_t begin = std::max(chunk * kTile, s.targets.begin);
        const int64_t end = std::min((chunk + 1) * kTile, s.targets.end);
        for (int64_t j = 0; j < kTile; j += lanes)
            for (int64_t t = begin; t < end; t += kernels_.outer_rows) {
                if (apart(t, s.begin + j)) continue;
                kernels_.outer({.a = factors + t * width(),
                                .a_row = width(),
                                .a_step = 1,
                                .b = across + j * width(),
                                .b_step = lanes,
                                .steps = width(),
                                .sum = s.gradient.data() + (t - s.targets.begin) * kTile + j,
                                .sum_row = kTile});
            }
    }

    // dw of one part and tile: [most targets, kTile]
    [[nodiscard]] float* part_of_bias(int64_t part, int64_t tile) {
        return dw_.data() + (part * split_.tiles + tile) * most_targets() * kTile;
    }

    void finish_tile(const SourceTile& s, int64_t i) {
        float* out = part_of_bias(i % split_.parts, i / split_.parts);
        const float scale = 1 / x_.scale;
        for (int64_t t = s.targets.begin; t < s.targets.end; ++t) {
            const IndexRange seen = weights_.window(t);
            const int64_t at = t - s.targets.begin;
            const int64_t first = std::clamp<int64_t>(seen.begin - s.begin, 0, kTile);
            const int64_t last = std::clamp<int64_t>(seen.end - s.begin, 0, kTile);
            for (int64_t j = first; j < last; ++j)
                out[at * kTile + j] +=
                    s.weights.data()[at * s.row + j] * s.gradient.data()[at * kTile + j] * scale;
        }
    }

    void finish_bias() {
        const int64_t size = most_targets() * kTile;
#pragma omp parallel for schedule(static)
        for (int64_t tile = 0; tile < split_.tiles; ++tile) {
            float* out = part_of_bias(0, tile);
            for (int64_t part = 1; part < split_.parts; ++part)
                for (int64_t i = 0; i < size; ++i) out[i] += part_of_bias(part, tile)[i];
            if (x_.bias.dw != nullptr) copy_bias(out, tile * kTile);
        }
        if (x_.bias.du != nullptr)
            factor_gradients(shape_, weights_, {.dw = dw_.data(), .most = most_targets()}, x_.bias);
    }

    void copy_bias(const float* from, int64_t begin) {
        const int64_t count = std::min(kTile, shape_.length - begin);
        const IndexRange targets = weights_.targets(begin, begin + count);
        for (int64_t t = targets.begin; t < targets.end; ++t)
            std::copy_n(from + (t - targets.begin) * kTile, count,
                        x_.bias.dw + t * shape_.length + begin);
    }

    const BandKernels& kernels_;
    const BandShape& shape_;
    const BandGradient<T>& x_;
    BandWeights weights_;
    RowScales scales_;
    WorkSplit split_;
    IndexRange now_;            // the group's blocks
    Panels sources_, targets_;  // [X (V - mean) | X], [A | C]
    Buffer<float> dw_;          // [parts, tiles, most targets, kTile]
};

}  // namespace

template <class T>
Norms band_gradient(const BandShape& shape, const BandGradient<T>& x) {
    return BandGradientPass<T>(shape, x).run();
}
template Norms band_gradient(const BandShape& shape, const BandGradient<float>& x);
template Norms band_gradient(const BandShape& shape, const BandGradient<Bf16>& x);

}  // namespace aft::ops::cpu
