#include "model/data/baselines.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace aft {
namespace {

class Histogram {
  public:
    explicit Histogram(int64_t levels) : levels_(levels), counts_(static_cast<size_t>(levels)) {}
    void add(int64_t value) {  // modulo the levels
        ++counts_[static_cast<size_t>(((value % levels_) + levels_) % levels_)];
    }
    [[nodiscard]] double entropy_bits() const {
        double total = 0, sum = 0;
        for (int64_t count : counts_) {
            if (count == 0) continue;
            const auto n = static_cast<double>(count);
            total += n;
            sum += n * std::log2(n);
        }
        return total > 0 ? std::log2(total) - sum / total : 0;
    }

  private:
    int64_t levels_;
    std::vector<int64_t> counts_;
};

struct Counts {
    Histogram unigram, left, previous;
    std::vector<Histogram> median;  // one per channel
    Counts(int64_t levels, int64_t channels)
        : unigram(levels),
          left(levels),
          previous(levels),
          median(static_cast<size_t>(channels), Histogram(levels)) {}
};

// LOCO-I (Weinberger et al. 2000): the left or the upper pixel across an edge, else the plane.
int64_t median_edge(int64_t left, int64_t up, int64_t corner) {
    if (corner >= std::max(left, up)) return std::min(left, up);
    if (corner <= std::min(left, up)) return std::max(left, up);
    return left + up - corner;
}

void count_picture(const DataInfo& info, const std::vector<uint8_t>& values, Counts& counts) {
    const auto at = [&](int64_t y, int64_t x, int64_t c) -> int64_t {
        return values[static_cast<size_t>((y * info.width + x) * info.channels + c)];
    };
    int64_t before = 0;  // in raster order
    for (int64_t y = 0; y < info.height; ++y)
        for (int64_t x = 0; x < info.width; ++x) {
            int64_t residual_before = 0;
            for (int64_t c = 0; c < info.channels; ++c) {
                const int64_t value = at(y, x, c), middle = info.levels / 2;
                // At the edges the neighbour that is there stands for the others.
                const int64_t left = x > 0 ? at(y, x - 1, c) : y > 0 ? at(y - 1, x, c) : middle;
                const int64_t up = y > 0 ? at(y - 1, x, c) : left;
                const int64_t corner = y > 0 && x > 0 ? at(y - 1, x - 1, c) : up;
                const int64_t guess = median_edge(left, up, corner);
                const int64_t shifted =
                    std::clamp<int64_t>(guess + residual_before, 0, info.levels - 1);
                counts.unigram.add(value);
                counts.left.add(value - (x > 0 ? left : middle));
                counts.previous.add(value - before);
                counts.median[static_cast<size_t>(c)].add(value - shifted);
                residual_before = value - guess;
                before = value;
            }
        }
}

}  // namespace

Baselines measure_baselines(const DataSource& source, Split split, const ChosenExamples& chosen,
                            const JobControl& control) {
    const DataInfo& info = source.info();
    AFT_ASSERT(!info.is_text);
    Counts counts(info.levels, info.channels);
    for (int64_t place = 0; place < chosen.count; ++place) {
        if (control.stop.stop_requested()) throw Interrupted();
        if (const auto example = source.readable_example(split, chosen.index(place)))
            count_picture(info, example->values, counts);
    }
    double median = 0;
    for (const Histogram& channel : counts.median) median += channel.entropy_bits();
    return {counts.unigram.entropy_bits(), counts.left.entropy_bits(),
            counts.previous.entropy_bits(), median / static_cast<double>(info.channels)};
}

}  // namespace aft
