#include "model/ops/cpu/exact/exact.h"

#include <omp.h>

#include <cmath>

#include "model/ops/common/exact.h"
#include "model/ops/cpu/exact/bias.h"
#include "model/ops/cpu/exact/flags.h"

namespace aft::ops::cpu {

namespace {

// Adjacent columns share the cache lines of K and V.
constexpr int64_t kColumnsPerTask = 16;

template <class T>
double gate(const T* q, int64_t at) {
    return q == nullptr ? 1 : 1 / (1 + std::exp(-wide(q[at])));
}
void put(float* y, double x) {
    *y = static_cast<float>(x);
}
void put(Bf16* y, double x) {
    *y = c10::BFloat16(static_cast<float>(x)).x;
}

ExactShape shape_of(const Call& call) {
    return {.batch = call.in.v.size(0),
            .length = call.in.v.size(1),
            .channels = call.in.v.size(2),
            .heads = call.in.k.size(2)};
}

template <class T>
class Exact {
  public:
    Exact(const Call& call, ExactFlags flags)
        : shape_(shape_of(call)),
          x_{pointer<T>(call.in.k), pointer<T>(call.in.v)},
          bias_(call),
          flags_(std::move(flags)),
          sums_(shape_) {
        for (int i = 0; i < omp_get_max_threads(); ++i) scratch_.emplace_back(shape_);
        if (bias_.has_chunks()) each_column([&](int64_t column) { sum_up(column, call); });
    }

    // Calls f for the blocks of targets with flagged entries, ascending.
    template <class F>
    void each_block(F f) {
        for (int64_t t = 0; t < shape_.length; t += bias_.rows_at_once()) {
            const IndexRange rows{t, std::min(shape_.length, t + bias_.rows_at_once())};
            if (!holds(rows)) continue;
            count_exact_block();
            f(bias_.rows(rows));
        }
    }
    // Calls f(column) for all columns with flagged entries, in parallel.
    template <class F>
    void each_column(F f) {
#pragma omp parallel for schedule(dynamic, kColumnsPerTask)
        for (int64_t column = 0; column < shape_.columns(); ++column)
            if (flags_.column(column)) f(column);
    }
    // Calls f(target, row of the block, what weigh() returned, the column) for each flagged entry
    // of a column.
    template <class F>
    void each_entry(const ExactRows& x, int64_t column, F f) {
        ExactColumn& c = scratch();
        const int64_t head = head_of(column);
        bool gathered = false;
        for (int64_t row = 0; row < x.rows.size(); ++row) {
            const int64_t t = x.rows.begin + row;
            if (!flags_.entry(shape_.key(column, t))) continue;
            if (!gathered)
                c.gather(x_, sums_, column,
                         {{x.direct.begin, x.direct.end},
                          {x.before.begin, x.before.end},
                          {x.after.begin, x.after.end}});
            gathered = true;
            f(t, row, c.weigh(x.bias(head, row), x.seen(head, row)), c);
        }
    }

    [[nodiscard]] int64_t head_of(int64_t column) const {
        return bias_.heads() == 1 ? 0 : column % shape_.heads;
    }
    [[nodiscard]] const ExactShape& shape() const { return shape_; }
    [[nodiscard]] ExactBias& bias() { return bias_; }
    [[nodiscard]] const ExactChunks& sums() const { return sums_; }
    [[nodiscard]] const ExactTensors<T>& tensors() const { return x_; }
    [[nodiscard]] ExactColumn& scratch() {
        return scratch_[static_cast<std::size_t>(omp_get_thread_num())];
    }

  private:
    [[nodiscard]] bool holds(IndexRange rows) const {
        for (int64_t t = rows.begin; t < rows.end; ++t)
            if (flags_.row(t)) return true;
        return false;
    }
    // For a causal operator only the chunks up to the last flagged entry.
    void sum_up(int64_t column, const Call& call) {
        int64_t end = shape_.length;
        while (call.options.causal && end > 0 && !flags_.entry(shape_.key(column, end - 1))) --end;
        scratch().sum_up(x_, column, (end + kTile - 1) / kTile, sums_);
    }

    ExactShape shape_;
    ExactTensors<T> x_;
    ExactBias bias_;
    ExactFlags flags_;
    ExactChunks sums_;
    std::vector<ExactColumn> scratch_;
};

template <class T>
void make(const Call& call, ExactFlags flags, const BackendResult& result) {
    Exact<T> exact(call, std::move(flags));
    const ExactShape& shape = exact.shape();
    const T* const q = pointer<T>(call.in.q);
    T* const y = writable<T>(result.y);
    auto* const average = writable<float>(result.average);
    auto* const denominator = writable<float>(result.denominator);
    exact.each_block([&](const ExactRows& x) {
        exact.each_column([&](int64_t column) {
            const int64_t head = exact.head_of(column);
            exact.each_entry(x, column, [&](int64_t t, int64_t row, double total, ExactColumn& c) {
                for (int64_t s = 0; s < shape.width(); ++s) {
                    const int64_t at = shape.value(column, t) + s;
                    const double R = c.average(s, x.seen(head, row)) / total;
                    put(y + at, gate(q, at) * R);
                    if (average != nullptr) average[at] = static_cast<float>(R);
                }
                if (denominator != nullptr) denominator[shape.key(column, t)] = kNeedsExact;
            });
        });
    });
}

class ExactBackward {
  public:
    ExactBackward(const Call& call, const BackendResult& kept, const at::Tensor& dy,
                  const Gradients& to)
        : exact_(call, ExactFlags::needs_exact(shape_of(call), pointer<float>(kept.denominator))),
          gradients_(exact_.shape()),
          q_(pointer<float>(call.in.q)),
          dy_(pointer<float>(dy)),
          to_{writable<float>(to.k), writable<float>(to.v)},
          wants_bias_(!call.is_simple()),
          parts_(std::max<int64_t>(1, kParts / exact_.bias().heads())) {}

    BiasTensors run() {
        exact_.each_block([&](const ExactRows& x) { block(x); });
        if (exact_.bias().has_chunks())
            exact_.each_column([&](int64_t column) {
                exact_.scratch().spread(exact_.tensors(), column, {exact_.sums(), gradients_}, to_);
            });
        return exact_.bias().gradient();
    }

  private:
    static constexpr int64_t kParts = 8;  // of the columns, each with dw of its own

    void block(const ExactRows& x) {
        const int64_t heads = exact_.bias().heads(), size = x.rows.size() * x.width();
        std::vector<Buffer<double>> dw;
        for (int64_t i = 0; wants_bias_ && i < heads * parts_; ++i) dw.emplace_back(size, true);
#pragma omp parallel for schedule(dynamic)
        for (int64_t i = 0; i < heads * parts_; ++i)
            part(x, i, wants_bias_ ? dw[static_cast<std::size_t>(i)].data() : nullptr);
        if (!wants_bias_) return;
        std::vector<Buffer<double>> total;
        for (int64_t i = 0; i < heads * parts_; ++i) {
            const Buffer<double>& more = dw[static_cast<std::size_t>(i)];
            Buffer<double>& sum = i % parts_ == 0 ? total.emplace_back(size, true) : total.back();
            for (int64_t at = 0; at < size; ++at) sum.data()[at] += more.data()[at];
        }
        exact_.bias().add_gradient(x, total);
    }

    // Part i % parts of the columns of one head, or of all columns where they share their biases.
    void part(const ExactRows& x, int64_t i, double* dw) {
        const ExactShape& shape = exact_.shape();
        const int64_t step = exact_.bias().heads(), count = shape.columns() / step;
        const int64_t head = i / parts_, number = i % parts_;
        for (int64_t c = count * number / parts_; c < count * (number + 1) / parts_; ++c)
            column(x, head + c * step, dw);
    }

    void column(const ExactRows& x, int64_t column, double* dw) {
        const ExactShape& shape = exact_.shape();
        const int64_t head = exact_.head_of(column);
        bool is_used = false;
        exact_.each_entry(x, column, [&](int64_t t, int64_t row, double total, ExactColumn& c) {
            is_used = true;
            for (int64_t s = 0; s < shape.width(); ++s) {
                const int64_t at = shape.value(column, t) + s;
                c.back({.channel = s,
                        .P = static_cast<double>(dy_[at]) * gate(q_, at) / total,
                        .average = c.average(s, x.seen(head, row)) / total,
                        .dw = dw == nullptr ? nullptr : dw + row * x.width()},
                       x.seen(head, row));
            }
        });
        if (is_used) exact_.scratch().scatter(to_, gradients_);
    }

    Exact<float> exact_;
    ExactChunks gradients_;
    const float *q_, *dy_;
    ExactColumn::ColumnGradients to_;
    bool wants_bias_ = true;
    int64_t parts_ = 1;
};

void add(at::Tensor& to, const at::Tensor& x) {
    if (to.defined() && x.defined()) to.add_(x);
}

}  // namespace

void apply_exact_fallback(const Call& call, const BackendResult& result) {
    const ExactShape shape = shape_of(call);
    if (call.is_bf16())
        make<Bf16>(call, ExactFlags::not_finite(shape, pointer<Bf16>(result.y)), result);
    else
        make<float>(call, ExactFlags::not_finite(shape, pointer<float>(result.y)), result);
}

void compute_exactly(const Call& call, const BackendResult& result) {
    ExactFlags all(shape_of(call), ExactFlags::Which::all);
    if (call.is_bf16())
        make<Bf16>(call, std::move(all), result);
    else
        make<float>(call, std::move(all), result);
}

void add_exact_gradient(const Call& call, const BackendResult& kept, const at::Tensor& dy,
                        Gradients& to) {
    const BiasTensors bias = ExactBackward(call, kept, dy, to).run();
    add(to.w, bias.w);
    add(to.u, bias.u);
    add(to.r, bias.r);
}

}  // namespace aft::ops::cpu
