// NumberColumn: a growing sequence of numbers, kept in chunks that never change once they are full.
// A copy costs O(1) and shares the chunks: one thread appends, readers on any thread keep their
// copy as it is. Missing = NaN. Values read back bit for bit (every NaN as one). A full chunk takes
// 0, 4 or 8 bytes a value, sparse ones less.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace aft {

// Rows of a growing column that a frame of the window takes at most: a long run holds up none.
inline constexpr size_t kRowsPerFrame = 32768;

// Where the smallest and the largest value of a range stand, the first of equal ones.
struct ExtremeRows {
    size_t low = 0, high = 0;
};

// Random access by row over anything with operator[] that returns a number.
template <class Values>
class RowIterator {
  public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = double;
    using difference_type = std::ptrdiff_t;
    using pointer = const double*;
    using reference = double;

    RowIterator() = default;
    RowIterator(const Values* values, difference_type row) : values_(values), row_(row) {}
    double operator*() const { return (*values_)[size_t(row_)]; }
    double operator[](difference_type n) const { return (*values_)[size_t(row_ + n)]; }
    RowIterator& operator++() { return *this += 1; }
    RowIterator& operator--() { return *this -= 1; }
    RowIterator operator++(int) { return {values_, row_++}; }
    RowIterator operator--(int) { return {values_, row_--}; }
    RowIterator& operator+=(difference_type n) {
        row_ += n;
        return *this;
    }
    RowIterator& operator-=(difference_type n) { return *this += -n; }
    friend RowIterator operator+(RowIterator a, difference_type n) { return a += n; }
    friend RowIterator operator+(difference_type n, RowIterator a) { return a += n; }
    friend RowIterator operator-(RowIterator a, difference_type n) { return a -= n; }
    friend difference_type operator-(const RowIterator& a, const RowIterator& b) {
        return a.row_ - b.row_;
    }
    friend bool operator==(const RowIterator& a, const RowIterator& b) { return a.row_ == b.row_; }
    friend auto operator<=>(const RowIterator& a, const RowIterator& b) {
        return a.row_ <=> b.row_;
    }

  private:
    const Values* values_ = nullptr;
    difference_type row_ = 0;
};

class NumberColumn {
  public:
    static constexpr size_t kChunk = 4096;  // rows

    // Amortised O(1). Copies that are appended to go their own way from there.
    void push_back(double value);
    [[nodiscard]] size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] double operator[](size_t row) const;  // row < size()
    [[nodiscard]] double front() const { return (*this)[0]; }
    [[nodiscard]] double back() const { return (*this)[size_ - 1]; }
    [[nodiscard]] RowIterator<NumberColumn> begin() const { return {this, 0}; }
    [[nodiscard]] RowIterator<NumberColumn> end() const { return {this, std::ptrdiff_t(size_)}; }
    // Rows of the minimum and maximum of [begin, end), NaN left out; nothing if all are NaN. Reads
    // about 1/128 of the rows.
    [[nodiscard]] std::optional<ExtremeRows> extremes(size_t begin, size_t end) const;
    // This is `older` with zero or more rows appended. O(1).
    [[nodiscard]] bool continues(const NumberColumn& older) const;
    friend size_t bytes_of(const NumberColumn& column);

  private:
    struct Chunk;  // full, encoded
    struct Tail;   // the last rows, float64
    using Chunks = std::vector<std::shared_ptr<const Chunk>>;

    size_t size_ = 0;
    std::shared_ptr<const Chunks> chunks_;
    std::shared_ptr<Tail> tail_;
    std::shared_ptr<const char> lineage_;  // shared by all copies of one sequence
};

[[nodiscard]] size_t bytes_of(const NumberColumn& column);  // memory, chunks and tail

// A column, or plain numbers that outlive the view.
class NumberView {
  public:
    NumberView() = default;
    NumberView(const NumberColumn& column) : column_(&column) {}
    NumberView(const std::vector<double>& values) : values_(values) {}
    NumberView(std::span<const double> values) : values_(values) {}
    [[nodiscard]] size_t size() const { return column_ ? column_->size() : values_.size(); }
    [[nodiscard]] bool empty() const { return size() == 0; }
    [[nodiscard]] double operator[](size_t row) const {
        return column_ ? (*column_)[row] : values_[row];
    }
    [[nodiscard]] RowIterator<NumberView> begin() const { return {this, 0}; }
    [[nodiscard]] RowIterator<NumberView> end() const { return {this, std::ptrdiff_t(size())}; }
    [[nodiscard]] std::optional<ExtremeRows> extremes(size_t begin, size_t end) const;
    [[nodiscard]] const NumberColumn* column() const { return column_; }  // nullptr: plain numbers

  private:
    const NumberColumn* column_ = nullptr;
    std::span<const double> values_;
};

}  // namespace aft
