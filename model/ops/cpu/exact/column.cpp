#include "model/ops/cpu/exact/column.h"

#include <algorithm>
#include <cmath>

namespace aft::ops::cpu {

namespace {

int64_t size(const IndexRange& s) {
    return s.end - s.begin;
}

}  // namespace

ExactColumn::ExactColumn(const ExactShape& shape)
    : kernels_(exact_kernels()),
      shape_(shape),
      capacity_(shape.length + shape.chunks()),
      own_{.k = Buffer<double>(capacity_),
           .mass = Buffer<double>(capacity_),
           .v = Buffer<double>(capacity_ * shape.width()),
           .p = Buffer<double>(capacity_),
           .dk = Buffer<double>(capacity_),
           .dv = Buffer<double>(capacity_ * shape.width())},
      nothing_(kTile, true),
      unused_(capacity_, true) {}

IndexRange ExactColumn::chunk_sources(int64_t chunk) const {
    return {chunk * kTile, std::min(shape_.length, (chunk + 1) * kTile)};
}
int64_t ExactColumn::chunk_key(int64_t chunk) const {
    return column_ * shape_.chunks() + chunk;
}
int64_t ExactColumn::chunk_value(int64_t channel, int64_t chunk) const {
    return (column_ * shape_.width() + channel) * shape_.chunks() + chunk;
}

template <class T>
void ExactColumn::gather_sources(const ExactTensors<T>& x, IndexRange sources) {
    const int64_t n = size(sources);
    const T* k = x.k + shape_.key(column_, sources.begin);
    const T* v = x.v + shape_.value(column_, sources.begin);
    for (int64_t i = 0; i < n; ++i) own_.k.data()[i] = wide(k[i * shape_.heads]);
    for (int64_t s = 0; s < shape_.width(); ++s)
        for (int64_t i = 0; i < n; ++i)
            own_.v.data()[s * capacity_ + i] = wide(v[i * shape_.channels + s]);
}

template <class T>
void ExactColumn::gather(const ExactTensors<T>& x, const ExactChunks& chunks, int64_t column,
                         const SourceRanges& part) {
    column_ = column;
    part_ = part;
    gather_sources(x, part.direct);
    int64_t at = size(part.direct);
    for (const IndexRange& more : {part.before, part.after}) {
        const int64_t first = chunk_key(more.begin);
        std::copy_n(chunks.keys.data() + first, size(more), own_.k.data() + at);
        std::copy_n(chunks.masses.data() + first, size(more), own_.mass.data() + at);
        for (int64_t s = 0; s < shape_.width(); ++s)
            std::copy_n(chunks.values.data() + chunk_value(s, more.begin), size(more),
                        own_.v.data() + s * capacity_ + at);
        at += size(more);
    }
    std::fill_n(own_.dk.data(), at, 0.0);
    for (int64_t s = 0; s < shape_.width(); ++s)
        std::fill_n(own_.dv.data() + s * capacity_, at, 0.0);
}

double ExactColumn::weigh(const double* bias, const std::vector<IndexRange>& seen) {
    const auto terms = [&](const IndexRange& s) {
        return ExactTerms{bias + s.begin, own_.k.data() + s.begin, size(s)};
    };
    double top = -HUGE_VAL, total = 0;
    for (const IndexRange& s : seen) top = std::max(top, kernels_.largest(terms(s)));
    for (const IndexRange& s : seen) {
        double* const p = own_.p.data() + s.begin;
        const double sum = kernels_.weights({terms(s), top, p});
        if (s.begin < size(part_.direct)) {
            total += sum;
            continue;
        }
        for (int64_t i = 0; i < size(s); ++i) total += p[i] *= own_.mass.data()[s.begin + i];
    }
    return total;
}

double ExactColumn::average(int64_t channel, const std::vector<IndexRange>& seen) const {
    double sum = 0;
    for (const IndexRange& s : seen)
        sum += kernels_.average(own_.p.data() + s.begin,
                                own_.v.data() + channel * capacity_ + s.begin, size(s));
    return sum;
}

void ExactColumn::back(const Back& from, const std::vector<IndexRange>& seen) {
    const int64_t row = from.channel * capacity_;
    double* const dw = from.dw != nullptr ? from.dw : unused_.data();
    for (const IndexRange& s : seen)
        kernels_.back({.p = own_.p.data() + s.begin,
                       .v = own_.v.data() + row + s.begin,
                       .P = from.P,
                       .average = from.average,
                       .count = size(s),
                       .dv = own_.dv.data() + row + s.begin,
                       .dk = own_.dk.data() + s.begin,
                       .dw = dw + s.begin});
}

void ExactColumn::scatter_sources(const ColumnGradients& to) const {
    float* const dk = to.dk + shape_.key(column_, part_.direct.begin);
    float* const dv = to.dv + shape_.value(column_, part_.direct.begin);
    const int64_t n = size(part_.direct);
    for (int64_t i = 0; i < n; ++i) dk[i * shape_.heads] += static_cast<float>(own_.dk.data()[i]);
    for (int64_t s = 0; s < shape_.width(); ++s)
        for (int64_t i = 0; i < n; ++i)
            dv[i * shape_.channels + s] += static_cast<float>(own_.dv.data()[s * capacity_ + i]);
}

void ExactColumn::scatter(const ColumnGradients& to, ExactChunks& chunks) const {
    scatter_sources(to);
    int64_t at = size(part_.direct);
    for (const IndexRange& more : {part_.before, part_.after})
        for (int64_t chunk = more.begin; chunk < more.end; ++chunk, ++at) {
            chunks.keys.data()[chunk_key(chunk)] += own_.dk.data()[at];
            for (int64_t s = 0; s < shape_.width(); ++s)
                chunks.values.data()[chunk_value(s, chunk)] += own_.dv.data()[s * capacity_ + at];
        }
}

template <class T>
void ExactColumn::sum_up(const ExactTensors<T>& x, int64_t column, int64_t chunks,
                         ExactChunks& out) {
    column_ = column;
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        const IndexRange sources = chunk_sources(chunk);
        gather_sources(x, sources);
        const ExactTerms terms{nothing_.data(), own_.k.data(), size(sources)};
        const double top = kernels_.largest(terms);
        const double total = kernels_.weights({terms, top, own_.p.data()});
        const bool weighs =
            top > -HUGE_VAL || std::any_of(own_.k.data(), own_.k.data() + size(sources),
                                           [](double k) { return std::isnan(k); });
        out.keys.data()[chunk_key(chunk)] = top;
        out.masses.data()[chunk_key(chunk)] = weighs ? total : 0;
        for (int64_t s = 0; s < shape_.width(); ++s) {
            // With zero weight a value that is not finite still reaches the targets that see it.
            const double sum = kernels_.average(weighs ? own_.p.data() : nothing_.data(),
                                                own_.v.data() + s * capacity_, size(sources));
            out.values.data()[chunk_value(s, chunk)] = weighs ? sum / total : sum;
        }
    }
}

template <class T>
void ExactColumn::spread(const ExactTensors<T>& x, int64_t column, const ChunkGradients& chunks,
                         const ColumnGradients& to) {
    column_ = column;
    for (int64_t chunk = 0; chunk < shape_.chunks(); ++chunk) {
        const double dL = chunks.of.keys.data()[chunk_key(chunk)];
        bool is_used = dL != 0;
        for (int64_t s = 0; s < shape_.width(); ++s)
            is_used = is_used || chunks.of.values.data()[chunk_value(s, chunk)] != 0;
        if (!is_used) continue;
        const IndexRange direct = chunk_sources(chunk);
        const std::vector<IndexRange> all{{0, size(direct)}};
        gather(x, chunks.sums, column, {direct, {}, {}});
        const double total = weigh(nothing_.data(), all);
        for (int64_t s = 0; s < shape_.width(); ++s)
            back({.channel = s,
                  .P = chunks.of.values.data()[chunk_value(s, chunk)] / total,
                  .average = chunks.sums.values.data()[chunk_value(s, chunk)]},
                 all);
        for (int64_t i = 0; i < size(direct); ++i)
            own_.dk.data()[i] += dL / total * own_.p.data()[i];
        scatter_sources(to);
    }
}

template void ExactColumn::gather(const ExactTensors<float>& x, const ExactChunks& chunks,
                                  int64_t column, const SourceRanges& part);
template void ExactColumn::gather(const ExactTensors<Bf16>& x, const ExactChunks& chunks,
                                  int64_t column, const SourceRanges& part);
template void ExactColumn::sum_up(const ExactTensors<float>& x, int64_t column, int64_t chunks,
                                  ExactChunks& out);
template void ExactColumn::sum_up(const ExactTensors<Bf16>& x, int64_t column, int64_t chunks,
                                  ExactChunks& out);
template void ExactColumn::spread(const ExactTensors<float>& x, int64_t column,
                                  const ChunkGradients& chunks, const ColumnGradients& to);

}  // namespace aft::ops::cpu
