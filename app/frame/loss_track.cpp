#include "app/frame/loss_track.h"

#include <algorithm>
#include <cmath>

namespace aft::app {

void LossTrack::refresh(const NumberColumn& step, const NumberColumn& loss, const Place& place) {
    if (!(place == place_) || !step.continues(step_) || !loss.continues(loss_) || means_.empty()) {
        *this = {};
        place_ = place;
        means_.resize(size_t(place.pixels));
    }
    const size_t n = std::min(step.size(), loss.size());
    for (size_t i = std::min(step_.size(), loss_.size()); i < n; ++i) {
        const double v = loss[i];
        if (!std::isfinite(v)) continue;
        low_ = std::min(low_, v);
        high_ = std::max(high_, v);
        const double share = std::clamp(step[i] / place.last, 0.0, 1.0);
        Mean& mean = means_[static_cast<size_t>(share * (place.pixels - 1))];
        mean.sum += v;
        ++mean.count;
    }
    step_ = step;
    loss_ = loss;
}

}  // namespace aft::app
