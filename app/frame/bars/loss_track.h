// The loss over a run, one mean per pixel column of the timeline. A frame costs O(pixels), and
// O(new rows) where rows have come, of which it takes at most kRowsPerFrame. Window thread.
#pragma once
#include <cstddef>
#include <vector>

#include "core/number_column.h"

namespace aft::app {

class LossTrack {
  public:
    struct TrackPlace {
        double last = 1;  // step at the right end
        int pixels = 2;
        [[nodiscard]] bool operator==(const TrackPlace&) const = default;
    };
    struct Mean {  // of the rows of one pixel column; none: count = 0
        double sum = 0;
        size_t count = 0;
    };

    // True if rows are left for the next frame.
    bool refresh(const NumberColumn& step, const NumberColumn& loss, const TrackPlace& place);
    [[nodiscard]] const std::vector<Mean>& means() const { return means_; }
    [[nodiscard]] double low() const { return low_; }  // of the finite values
    [[nodiscard]] double high() const { return high_; }

  private:
    struct Bin {  // rows that always share a pixel column: another place needs no rows
        double step = 0;
        Mean mean;
    };
    void add(double step, const Mean& mean);

    NumberColumn step_, loss_;  // that it is made of
    size_t rows_ = 0;           // of these, taken so far
    size_t bin_rows_ = 1;
    std::vector<Bin> bins_;
    TrackPlace place_;
    std::vector<Mean> means_;
    double low_ = 1e300, high_ = -1e300;
};

}  // namespace aft::app
