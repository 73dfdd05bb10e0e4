#include "model/nn/cpu/rows.h"

#include <algorithm>
#include <vector>

#include "model/ops/cpu/simd/buffer.h"
#include "model/ops/cpu/simd/instruction_set.h"

namespace aft::nn::cpu {

namespace {

using ops::cpu::Buffer;

constexpr int64_t kChunk = 64;  // rows

const RowKernels& choose() {
    return ops::cpu::Tables<RowKernels>{portable_row_kernels(), avx2_row_kernels(),
                                        avx512_row_kernels()}
        .chosen();
}

int64_t chunks_of(int64_t rows) {
    return (rows + kChunk - 1) / kChunk;
}

// f(chunk, first row, number of rows)
template <class F>
void each_chunk(int64_t rows, int64_t width, const F& f) {
    constexpr int64_t kWorthAThread = 1 << 14;  // entries
    const int64_t chunks = chunks_of(rows);
#pragma omp parallel for schedule(static) if (chunks > 1 && rows * width >= kWorthAThread)
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
        f(chunk, chunk * kChunk, std::min(kChunk, rows - chunk * kChunk));
}

const float* moved(const float* p, int64_t by) {
    return p == nullptr ? nullptr : p + by;
}

// sums[c] = sum over the chunks of parts[chunk][c]
void add_up(const Buffer<float>& parts, int64_t width, float* sums) {
    std::vector<double> wide(static_cast<size_t>(width));
    for (int64_t at = 0; at < parts.size(); at += width)
        for (int64_t c = 0; c < width; ++c)
            wide[static_cast<size_t>(c)] += static_cast<double>(parts.data()[at + c]);
    for (int64_t c = 0; c < width; ++c) sums[c] = static_cast<float>(wide[static_cast<size_t>(c)]);
}

Gelu part_of(const Gelu& in, int64_t row, int64_t count) {
    Gelu part = in;
    part.x += row * in.width;
    part.y += row * in.width;
    part.rows = count;
    return part;
}

}  // namespace

const RowKernels& row_kernels() {
    static const RowKernels& chosen = choose();
    return chosen;
}

void norm_rows(const NormRows& in) {
    each_chunk(in.rows, in.width, [&](int64_t, int64_t row, int64_t count) {
        NormRows part = in;
        part.x += row * in.width;
        part.y += row * in.width;
        part.stats += 2 * row;
        part.rows = count;
        row_kernels().norm(part);
    });
}

void norm_gradient_rows(const NormGradient& in) {
    Buffer<float> parts(chunks_of(in.rows) * 2 * in.width);
    each_chunk(in.rows, in.width, [&](int64_t chunk, int64_t row, int64_t count) {
        NormGradient part = in;
        part.x += row * in.width;
        part.stats += 2 * row;
        part.dy += row * in.width;
        part.added = moved(in.added, row * in.width);
        part.dx += row * in.width;
        part.rows = count;
        part.sums = parts.data() + chunk * 2 * in.width;
        row_kernels().norm_gradient(part);
    });
    add_up(parts, 2 * in.width, in.sums);
}

void gelu_rows(const Gelu& in) {
    each_chunk(in.rows, in.width, [&](int64_t, int64_t row, int64_t count) {
        row_kernels().gelu(part_of(in, row, count));
    });
}

void gelu_gradient_rows(const GeluGradient& in) {
    const int64_t width = in.forward.width;
    Buffer<float> parts(chunks_of(in.forward.rows) * width);
    each_chunk(in.forward.rows, width, [&](int64_t chunk, int64_t row, int64_t count) {
        GeluGradient part = in;
        part.forward = part_of(in.forward, row, count);
        part.dy += row * width;
        part.dx += row * width;
        part.sums = parts.data() + chunk * width;
        row_kernels().gelu_gradient(part);
    });
    add_up(parts, width, in.sums);
}

void gate_rows(const Gate& in) {
    each_chunk(in.rows, in.width, [&](int64_t, int64_t row, int64_t count) {
        Gate part = in;
        part.q += row * in.width;
        part.x += row * in.width;
        part.y += row * in.width;
        part.rows = count;
        row_kernels().gate(part);
    });
}

void add_rows(const AddRows& in) {
    each_chunk(in.rows, in.width, [&](int64_t, int64_t row, int64_t count) {
        AddRows part = in;
        part.x += row * in.width;
        part.y += row * in.width;
        part.rows = count;
        row_kernels().add(part);
    });
}

void sum_columns(const AddRows& in) {
    Buffer<float> parts(chunks_of(in.rows) * in.width);
    each_chunk(in.rows, in.width, [&](int64_t chunk, int64_t row, int64_t count) {
        AddRows part = in;
        part.x += row * in.width;
        part.rows = count;
        part.sums = parts.data() + chunk * in.width;
        row_kernels().column_sums(part);
    });
    add_up(parts, in.width, in.sums);
}

double cross_entropy_rows(const CrossEntropy& in) {
    std::vector<double> parts(static_cast<size_t>(chunks_of(in.rows)));
    each_chunk(in.rows, in.width, [&](int64_t chunk, int64_t row, int64_t count) {
        CrossEntropy part = in;
        part.logits += row * in.width;
        part.target += row;
        if (in.gradient != nullptr) part.gradient += row * in.width;
        part.rows = count;
        parts[static_cast<size_t>(chunk)] = row_kernels().cross_entropy(part);
    });
    double total = 0;
    for (const double part : parts) total += part;
    return total;
}

}  // namespace aft::nn::cpu
