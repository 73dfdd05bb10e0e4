// Forward of aft-conv (slide.inl has the formula): a task is one sample and one group of heads.
// [exp(K) V | exp(K)] of all positions lies in the second-level cache, one block of it in the
// first.
#include "model/ops/cpu/conv/conv.h"

#include <omp.h>

#include "core/system/flush_to_zero.h"
#include "model/ops/cpu/conv/plan.h"
#include "model/ops/cpu/range.h"

namespace aft::ops::cpu {

namespace {

// The sums of a block take the place of the panel's block before it, which is not read any more:
// all of it stays in the second-level cache.
struct ConvScratch {
    Buffer<float> sums, heads, outside;
    explicit ConvScratch(const ConvPlan& plan, const ConvLayout& layout)
        : sums(plan.groups().panel_size() + plan.groups().full().block),
          heads((layout.rows + 1) * layout.head_row, true),
          outside(plan.spread_scratch()) {}
};

template <class T>
class ConvForwardPass {
  public:
    ConvForwardPass(const ConvShape& shape, const ConvForward<T>& x)
        : kernels_(conv_kernels()), shape_(shape), x_(x), plan_(shape, x.w) {}

    bool run() {
        std::vector<ConvScratch> scratch;
        for (int i = 0; i < omp_get_max_threads(); ++i)
            scratch.emplace_back(plan_, plan_.groups().layout(0));
        bool safe = true;
#pragma omp parallel for schedule(dynamic) reduction(&& : safe)
        for (int64_t i = 0; i < tasks(); ++i)
            safe = task(i, scratch[static_cast<std::size_t>(omp_get_thread_num())]) && safe;
        return safe;
    }

  private:
    // Where a task's part of the tensors starts.
    struct TaskOffsets {
        int64_t group = 0, value = 0, key = 0;
    };
    [[nodiscard]] int64_t tasks() const { return shape_.batch * plan_.groups().count(); }
    [[nodiscard]] TaskOffsets place(int64_t task) const {
        const int64_t group = task % plan_.groups().count(),
                      row = task / plan_.groups().count() * shape_.length;
        return {group, row * shape_.channels + plan_.groups().first_channel(group),
                row * shape_.heads + plan_.groups().first_head(group)};
    }

    bool task(int64_t i, ConvScratch& s) {
        const ScopedFlushToZero flush;
        const TaskOffsets at = place(i);
        const ConvLayout layout = plan_.groups().layout(at.group);
        const auto from = [](auto* p, int64_t by) { return p == nullptr ? nullptr : p + by; };
        float* const panel = s.sums.data() + layout.block;
        kernels_.of<T>().pack({.layout = &layout,
                               .k = x_.k + at.key,
                               .v = x_.v + at.value,
                               .panel = panel,
                               .heads = s.heads.data()});
        check_keys(s.heads.data() + layout.rows * layout.head_row, layout.heads, kKeyShift);
        for (int64_t block = 0; block < layout.blocks; ++block)
            plan_.spread({.group = at.group,
                          .block = block,
                          .panel = panel + block * layout.block,
                          .sums = s.sums.data() + block * layout.block,
                          .scratch = s.outside.data()});
        return kernels_.of<T>().finish({.layout = &layout,
                                        .sums = s.sums.data(),
                                        .q = from(x_.q, at.value),
                                        .heads = s.heads.data(),
                                        .y = x_.y + at.value,
                                        .average = from(x_.average, at.value),
                                        .denominator = from(x_.denominator, at.key)});
    }

    const ConvKernels& kernels_;
    const ConvShape& shape_;
    const ConvForward<T>& x_;
    const ConvPlan plan_;
};

}  // namespace

template <class T>
bool conv_forward(const ConvShape& shape, const ConvForward<T>& x) {
    return ConvForwardPass<T>(shape, x).run();
}
template bool conv_forward(const ConvShape& shape, const ConvForward<float>& x);
template bool conv_forward(const ConvShape& shape, const ConvForward<Bf16>& x);

}  // namespace aft::ops::cpu
