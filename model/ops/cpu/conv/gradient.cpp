// Gradient of aft-conv, from the averages R = N / D of the forward pass (slide.inl). With P the
// gradient of R, mu the mean of V, taken off V and R alike so that little cancels, A = P / D and C
// = sum over the head's channels of A (mu - R):
//
//   SA_j = sum_o exp(w_o) A_{j-o} + what is outside, SC_j alike: the forward sums, mirrored
//   dV_j = X_j SA_j,  dK_j = sum_c X_j (V_j - mu) SA_j + X_j SC_j
//   dw_o = exp(w_o) sum_{b,t} [sum_c A_t X_{t+o} (V_{t+o} - mu) + C_t X_{t+o}]
//
// Cost: twice the forward pass; 10.4 ms with B = 16, 14x14, d = h = 384, s = 15 on two cores,
// autograd of a grouped convolution 109 ms. A task is one group of heads and some of the samples,
// the same ones whatever the number of threads; the products of dw are summed in float32 over
// kTerms positions at most (one sum each, so none is copied), then in float64.
#include <omp.h>

#include <algorithm>

#include "core/system/flush_to_zero.h"
#include "model/ops/cpu/conv/plan.h"

namespace aft::ops::cpu {

namespace {

constexpr int64_t kTerms = 4096;  // positions whose products are summed in float32
constexpr int64_t kTasks = 16;    // at least, if there are as many samples

struct ConvGradientScratch {
    Buffer<float> sources, targets, sums, heads, lanes, outside;
    float* products = nullptr;   // [blocks, taps, 2 lanes], of the part
    float* next_part = nullptr;  // where the next goes
    int64_t terms = 0;           // positions in them

    ConvGradientScratch(const ConvPlan& plan, const ConvLayout& layout, int64_t pair)
        : sources(plan.groups().panel_size()),
          targets(plan.groups().panel_size()),
          sums(plan.groups().panel_size()),
          heads((layout.rows + 1) * layout.head_row, true),
          lanes((layout.values + layout.keys + 1) * pair, true),
          outside(plan.spread_scratch()) {}
};

template <class T>
class ConvGradientPass {
  public:
    ConvGradientPass(const ConvShape& shape, const ConvGradient<T>& x)
        : kernels_(conv_kernels()),
          shape_(shape),
          x_(x),
          plan_(shape, x.w),
          pair_(2 * kernels_.lanes),
          products_(plan_.groups().full().blocks * plan_.taps().count * pair_),
          slots_(std::clamp((kTasks + plan_.groups().count() - 1) / plan_.groups().count(),
                            int64_t{1}, shape.batch)),
          parts_(parts_of_slot()),
          sums_(plan_.groups().count() * slots_ * parts_ * products_),
          totals_(plan_.groups().count() * products_) {}

    Norms run() {
        const int64_t tasks = plan_.groups().count() * slots_;
        std::vector<Norms> norms(static_cast<std::size_t>(tasks));
        std::vector<ConvGradientScratch> scratch;
        for (int i = 0; i < omp_get_max_threads(); ++i)
            scratch.emplace_back(plan_, plan_.groups().layout(0), pair_);
#pragma omp parallel for schedule(dynamic)
        for (int64_t i = 0; i < tasks; ++i)
            norms[static_cast<std::size_t>(i)] =
                task(i, scratch[static_cast<std::size_t>(omp_get_thread_num())]);
        finish_weights();
        Norms total;
        for (const Norms& n : norms) {
            total.left += n.left;
            total.part += n.part;
        }
        return total;
    }

  private:
    // Sums of products in float32 of one slot.
    [[nodiscard]] int64_t parts_of_slot() const {
        const int64_t samples = (shape_.batch + slots_ - 1) / slots_;
        if (shape_.length > kTerms) return samples * ((shape_.length + kTerms - 1) / kTerms);
        const int64_t together = kTerms / shape_.length;
        return (samples + together - 1) / together;
    }

    Norms task(int64_t i, ConvGradientScratch& s) {
        const ScopedFlushToZero flush;
        const int64_t group = i / slots_, slot = i % slots_;
        Norms total;
        s.next_part = sums_.data() + i * parts_ * products_;
        s.terms = kTerms;
        for (int64_t b = shape_.batch * slot / slots_; b < shape_.batch * (slot + 1) / slots_;
             ++b) {
            const Norms n = sample(group, b, s);
            total.left += n.left;
            total.part += n.part;
            for (int64_t t = 0; t < shape_.length; t += kTerms) {
                if (s.terms + std::min(kTerms, shape_.length - t) > kTerms) begin_part(s);
                add_products(s, t);
            }
        }
        std::fill(s.next_part, sums_.data() + (i + 1) * parts_ * products_, 0.0F);
        return total;
    }

    void begin_part(ConvGradientScratch& s) const {
        s.products = s.next_part;
        s.next_part += products_;
        std::fill(s.products, s.next_part, 0.0F);
        s.terms = 0;
    }

    Norms sample(int64_t group, int64_t b, ConvGradientScratch& s) {
        const ConvLayout layout = plan_.groups().layout(group);
        const int64_t row = b * layout.rows, first = plan_.groups().first_channel(group);
        const int64_t at = row * layout.stride + first;
        const int64_t key_at = row * layout.key_stride + plan_.groups().first_head(group);
        const float* const mean = x_.mean + b * layout.stride + first;
        kernels_.of<T>().pack({.layout = &layout,
                               .k = x_.k + key_at,
                               .v = x_.v + at,
                               .mean = mean,
                               .panel = s.sources.data(),
                               .heads = s.heads.data()});
        kernels_.of<T>().factors({.layout = &layout,
                                  .q = x_.q == nullptr ? nullptr : x_.q + at,
                                  .dy = x_.dy + at,
                                  .average = x_.average + at,
                                  .denominator = x_.denominator + key_at,
                                  .mean = mean,
                                  .scale = x_.scale,
                                  .dq = x_.q == nullptr ? nullptr : x_.dq + at,
                                  .panel = s.targets.data(),
                                  .heads = s.heads.data(),
                                  .lanes = s.lanes.data()});
        for (int64_t block = 0; block < plan_.groups().full().blocks; ++block)
            plan_.spread({.group = group,
                          .block = block,
                          .transposed = true,
                          .panel = s.targets.data() + block * plan_.groups().full().block,
                          .sums = s.sums.data() + block * plan_.groups().full().block,
                          .scratch = s.outside.data()});
        return kernels_.of<T>().gradients({.layout = &layout,
                                           .panel = s.sources.data(),
                                           .sums = s.sums.data(),
                                           .scale = 1 / x_.scale,
                                           .dk = x_.dk + key_at,
                                           .dv = x_.dv + at,
                                           .heads = s.heads.data(),
                                           .lanes = s.lanes.data()});
    }

    // Adds the products of targets [begin, begin + kTerms), row by row of the grid.
    void add_products(ConvGradientScratch& s, int64_t begin) {
        const int64_t W = shape_.grid_width;
        const int64_t end = std::min(begin + kTerms, shape_.length);
        for (int64_t t = begin; t < end;) {
            // A part of a row, or as many whole rows as there are.
            const int64_t x = t % W, whole = x == 0 ? (end - t) / W : 0;
            const int64_t count = whole > 0 ? whole * W : std::min(W - x, end - t);
            for (int64_t block = 0; block < plan_.groups().full().blocks; ++block)
                add_block(s, block, {t, std::max<int64_t>(1, whole), whole > 0 ? W : count});
            t += count;
        }
        s.terms += end - begin;
    }

    struct Targets {
        int64_t first = 0, rows = 0, columns = 0;
    };

    void add_block(ConvGradientScratch& s, int64_t block, const Targets& targets) {
        const ConvWindow& w = plan_.window(false);
        const int64_t panel = plan_.groups().full().block * block;
        const int64_t y = targets.first / w.width, x = targets.first % w.width;
        for (int64_t dy = -w.up; dy <= w.down; ++dy) {
            const int64_t right = w.causal && dy == 0 ? 0 : w.right, taps = w.left + right + 1;
            const int64_t top = std::max(y, -dy);
            const int64_t end = std::min(y + targets.rows, w.height - dy);
            if (top >= end) continue;
            // No wider than the grid: then a slide is cut off at one of its ends only.
            const int64_t widest = std::min(kernels_.slide, w.width);
            const int64_t tiles = (taps + widest - 1) / widest, tile = (taps + tiles - 1) / tiles;
            for (int64_t dx = -w.left; dx <= right; dx += tile) {
                const int64_t count = std::min(tile, right + 1 - dx);
                const int64_t at = block * plan_.taps().count + plan_.taps().at(dy, dx);
                kernels_.slides[count](
                    {.a = s.targets.data() + panel + (top * w.width + x) * pair_,
                     .a_step = pair_,
                     .a_row = w.width * pair_,
                     .second = kernels_.lanes,
                     .b = s.sources.data() + panel + (top + dy) * w.width * pair_,
                     .b_row = w.width * pair_,
                     .n = targets.columns,
                     .base = x + dx,
                     .width = w.width,
                     .rows = end - top,
                     .sum = s.products + at * pair_,
                     .count = count});
            }
        }
    }

    void finish_weights() {
        const int64_t part = plan_.taps().count * pair_, blocks = products_ / part;
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < plan_.groups().count() * blocks; ++i) {
            const int64_t group = i / blocks, at = i % blocks * part;
            double* const to = totals_.data() + group * products_ + at;
            std::fill(to, to + part, 0.0);
            for (int64_t slot = 0; slot < slots_ * parts_; ++slot) {
                const float* const from =
                    sums_.data() + (group * slots_ * parts_ + slot) * products_ + at;
#pragma omp simd
                for (int64_t o = 0; o < part; ++o) to[o] += static_cast<double>(from[o]);
            }
        }
#pragma omp parallel for schedule(static)
        for (int64_t head = 0; head < shape_.heads; ++head) finish_head(head);
    }

    void finish_head(int64_t head) {
        const int64_t taps = plan_.taps().count, seen = plan_.taps().seen();
        const int64_t group = plan_.groups().group_of(head), size = products_;
        const double* const from = totals_.data() + group * size;
        std::vector<double> total(static_cast<std::size_t>(taps));
        for (int64_t column = 0; column < size / taps; ++column) {
            if (plan_.groups().head_of(group, column) != head) continue;
            const double* at = from + column / pair_ * taps * pair_ + column % pair_;
            for (double& sum : total) {
                sum += *at;
                at += pair_;
            }
        }
        for (int64_t o = 0; o < taps; ++o) {
            const double weight = o < seen ? static_cast<double>(plan_.weights_of(head)[o]) : 0;
            const double sum = total[static_cast<std::size_t>(o)];
            x_.dw[head * taps + o] =
                static_cast<float>(weight * sum / static_cast<double>(x_.scale));
        }
    }

    const ConvKernels& kernels_;
    const ConvShape& shape_;
    const ConvGradient<T>& x_;
    const ConvPlan plan_;
    const int64_t pair_, products_, slots_, parts_;  // products of a group
    Buffer<float> sums_;                             // [groups, slots, parts, products]
    Buffer<double> totals_;                          // [groups, products]
};

}  // namespace

template <class T>
Norms conv_gradient(const ConvShape& shape, const ConvGradient<T>& x) {
    return ConvGradientPass<T>(shape, x).run();
}
template Norms conv_gradient(const ConvShape& shape, const ConvGradient<float>& x);
template Norms conv_gradient(const ConvShape& shape, const ConvGradient<Bf16>& x);

}  // namespace aft::ops::cpu
