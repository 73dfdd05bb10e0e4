// Which examples of a part are measured: so many spread evenly over it, or so many in a row. What a
// part lists class by class gives all of its classes only where they are spread. Any thread; no
// state.
#pragma once
#include <cstdint>

namespace aft {

struct ChosenExamples {
    int64_t size = 0, count = 0;  // of the part; of them that are chosen, at most as many
    int64_t first = -1;           // the index of the first of a row; -1: they are spread

    // The index of the place-th; ascending, none twice. Spread (from index 0 on): one of each of
    // `count` equal stretches, at a place in it that changes, since an even step would meet the
    // same class again and again where classes take turns.
    [[nodiscard]] int64_t index(int64_t place) const {
        if (first >= 0) return first + place;
        const int64_t low = place * size / count, end = (place + 1) * size / count;
        const uint64_t mixed = static_cast<uint64_t>(place) * 0x9E3779B97F4A7C15U >> 33;
        return low + static_cast<int64_t>(mixed % static_cast<uint64_t>(end - low));
    }
};

}  // namespace aft
