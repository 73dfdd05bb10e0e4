#include "core/number_column.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

namespace aft {

// low > high: only NaN.
struct MinMax {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
};

namespace {

constexpr size_t kBlock = 128;  // rows that share one minimum and maximum
constexpr size_t kBlocks = NumberColumn::kChunk / kBlock;
// At most this share of values makes a chunk sparse (validation: one row in many).
constexpr size_t kSparse = NumberColumn::kChunk / 8;

// Collects where the extremes are; blocks are looked into at the end only.
template <class Values>
class Search {
  public:
    explicit Search(const Values& values) : values_(values) {}
    void rows(size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
            const double v = values_[i];
            if (std::isnan(v)) continue;
            add({v, v}, i, i + 1);
        }
    }
    void add(const MinMax& range, size_t begin, size_t end) {
        if (range.low > range.high) return;
        if (!found_ || range.low < low_) low_ = range.low, low_in_ = {begin, end};
        if (!found_ || range.high > high_) high_ = range.high, high_in_ = {begin, end};
        found_ = true;
    }
    [[nodiscard]] std::optional<ExtremeRows> result() const {
        if (!found_) return std::nullopt;
        return ExtremeRows{row_of(low_, low_in_), row_of(high_, high_in_)};
    }

  private:
    struct Span {
        size_t begin = 0, end = 0;
    };
    [[nodiscard]] size_t row_of(double value, const Span& in) const {
        size_t i = in.begin;
        while (i + 1 < in.end && values_[i] != value) ++i;
        return i;
    }

    const Values& values_;
    bool found_ = false;
    double low_ = 0, high_ = 0;
    Span low_in_, high_in_;
};

bool is_float(double v) {
    if (!std::isfinite(v)) return true;
    return std::abs(v) <= std::numeric_limits<float>::max() && double(float(v)) == v;
}

bool is_same(double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

}  // namespace

struct NumberColumn::Tail {
    // Rows appended by any copy that shares this tail. A copy with fewer rows must copy on write.
    std::atomic<size_t> used{0};
    std::unique_ptr<double[]> values = std::make_unique_for_overwrite<double[]>(kChunk);
};

struct NumberColumn::Chunk {
    double constant = 0;          // of every row, if all below are empty
    std::vector<double> doubles;  // of every row; of `rows` in a sparse chunk
    std::vector<float> floats;    // of every row: each value is a float32
    std::vector<uint16_t> rows;   // sparse: those that are not NaN, ascending
    std::vector<MinMax> blocks;   // empty in a constant or sparse chunk

    explicit Chunk(std::span<const double> values) {
        const auto is_value = [](double v) { return !std::isnan(v); };
        const auto count = size_t(std::count_if(values.begin(), values.end(), is_value));
        constant = values[0];
        if (std::all_of(values.begin(), values.end(),
                        [&](double v) { return is_same(v, values[0]); }))
            return;
        if (count <= kSparse) {
            rows.reserve(count);
            doubles.reserve(count);
            for (size_t i = 0; i < values.size(); ++i)
                if (is_value(values[i])) rows.push_back(uint16_t(i)), doubles.push_back(values[i]);
            return;
        }
        if (std::all_of(values.begin(), values.end(), is_float))
            floats.assign(values.begin(), values.end());
        else
            doubles.assign(values.begin(), values.end());
        blocks.resize(kBlocks);
        for (size_t i = 0; i < values.size(); ++i) {
            MinMax& range = blocks[i / kBlock];
            if (!is_value(values[i])) continue;
            range.low = std::min(range.low, values[i]);
            range.high = std::max(range.high, values[i]);
        }
    }
    [[nodiscard]] double operator[](size_t row) const {
        if (!floats.empty()) return double(floats[row]);
        if (rows.empty()) return doubles.empty() ? constant : doubles[row];
        const auto at = std::lower_bound(rows.begin(), rows.end(), row);
        const bool is_there = at != rows.end() && *at == row;
        return is_there ? doubles[size_t(at - rows.begin())]
                        : std::numeric_limits<double>::quiet_NaN();
    }
    [[nodiscard]] size_t bytes() const {
        return sizeof *this + doubles.capacity() * sizeof(double) +
               floats.capacity() * sizeof(float) + rows.capacity() * sizeof(uint16_t) +
               blocks.capacity() * sizeof(MinMax);
    }
    // Rows [begin, end) of this chunk, which starts at row `first` of the column.
    template <class Values>
    void search(Search<Values>& search, size_t first, size_t begin, size_t end) const {
        if (!rows.empty()) {
            auto at = std::lower_bound(rows.begin(), rows.end(), begin);
            for (; at != rows.end() && *at < end; ++at) search.rows(first + *at, first + *at + 1);
        } else if (blocks.empty()) {
            search.rows(first + begin, first + begin + 1);
        } else {
            const size_t low = std::min(end, (begin + kBlock - 1) / kBlock * kBlock);
            const size_t high = std::max(low, end / kBlock * kBlock);
            search.rows(first + begin, first + low);
            for (size_t i = low; i < high; i += kBlock)
                search.add(blocks[i / kBlock], first + i, first + i + kBlock);
            search.rows(first + high, first + end);
        }
    }
};

void NumberColumn::push_back(double value) {
    const size_t row = size_ % kChunk;
    if (!tail_) {
        tail_ = std::make_shared<Tail>();
        lineage_ = std::make_shared<const char>();
    }
    size_t expected = row;
    if (!tail_->used.compare_exchange_strong(expected, row + 1, std::memory_order_relaxed)) {
        // Another copy has appended: copy on write.
        auto own = std::make_shared<Tail>();
        std::copy_n(tail_->values.get(), row, own->values.get());
        own->used = row + 1;
        tail_ = std::move(own);
        lineage_ = std::make_shared<const char>();
    }
    tail_->values[row] = value;
    ++size_;
    if (row + 1 < kChunk) return;
    auto chunks = chunks_ ? std::make_shared<Chunks>(*chunks_) : std::make_shared<Chunks>();
    chunks->push_back(std::make_shared<const Chunk>(std::span(tail_->values.get(), kChunk)));
    chunks_ = std::move(chunks);
    tail_ = std::make_shared<Tail>();
}

double NumberColumn::operator[](size_t row) const {
    const size_t full = size_ - size_ % kChunk;
    return row < full ? (*(*chunks_)[row / kChunk])[row % kChunk] : tail_->values[row - full];
}

std::optional<ExtremeRows> NumberColumn::extremes(size_t begin, size_t end) const {
    end = std::min(end, size_);
    const size_t full = size_ - size_ % kChunk;
    Search<NumberColumn> search(*this);
    size_t row = std::min(begin, end);
    while (row < std::min(end, full)) {
        const size_t first = row / kChunk * kChunk, stop = std::min(end, first + kChunk);
        (*chunks_)[row / kChunk]->search(search, first, row - first, stop - first);
        row = stop;
    }
    search.rows(row, end);
    return search.result();
}

bool NumberColumn::continues(const NumberColumn& older) const {
    return older.empty() || (lineage_ == older.lineage_ && older.size_ <= size_);
}

size_t bytes_of(const NumberColumn& column) {
    size_t bytes = sizeof column;
    if (column.tail_) bytes += sizeof(NumberColumn::Tail) + NumberColumn::kChunk * sizeof(double);
    if (column.chunks_)
        for (const auto& chunk : *column.chunks_) bytes += sizeof chunk + chunk->bytes();
    return bytes;
}

std::optional<ExtremeRows> NumberView::extremes(size_t begin, size_t end) const {
    if (column_) return column_->extremes(begin, end);
    Search<NumberView> search(*this);
    search.rows(begin, std::min(end, size()));
    return search.result();
}

}  // namespace aft
