#include "app/frame/bars/loss_track.h"

#include <algorithm>
#include <cmath>

namespace aft::app {
namespace {

// Beyond so many rows a pixel column of any screen has more than a wide bin.
constexpr size_t kManyRows = 131072, kWideBin = 64;

}  // namespace

void LossTrack::add(double step, const Mean& mean) {
    const double share = std::clamp(step / place_.last, 0.0, 1.0);
    Mean& column = means_[static_cast<size_t>(share * (place_.pixels - 1))];
    column.sum += mean.sum;
    column.count += mean.count;
}

bool LossTrack::refresh(const NumberColumn& step, const NumberColumn& loss,
                        const TrackPlace& place) {
    const size_t n = std::min(step.size(), loss.size());
    const size_t bin_rows = n > kManyRows ? kWideBin : 1;
    if (!step.continues(step_) || !loss.continues(loss_) || bin_rows != bin_rows_) {
        *this = {};
        bin_rows_ = bin_rows;
    }
    step_ = step;
    loss_ = loss;
    if (!(place == place_) || means_.empty()) {
        place_ = place;
        means_.assign(size_t(place.pixels), {});
        for (const Bin& bin : bins_) add(bin.step, bin.mean);
    }
    for (const size_t to = std::min(n, rows_ + kRowsPerFrame); rows_ < to; ++rows_) {
        if (rows_ % bin_rows_ == 0) bins_.push_back({step[rows_], {}});
        const double v = loss[rows_];
        if (!std::isfinite(v)) continue;
        low_ = std::min(low_, v);
        high_ = std::max(high_, v);
        bins_.back().mean.sum += v;
        ++bins_.back().mean.count;
        add(bins_.back().step, {v, 1});
    }
    return rows_ < n;
}

}  // namespace aft::app
