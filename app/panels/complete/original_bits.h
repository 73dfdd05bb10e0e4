// OriginalBits: how unlikely the model finds the picture as it was, at every position that is
// filled in. Window thread; returns at once.
#pragma once
#include <string>
#include <vector>

#include "app/panels/shared/watch.h"

namespace aft::app {

class OriginalBits {
  public:
    // -log2 p(original level) [T], NaN where nothing is filled in; empty where why() says why.
    const std::vector<float>& update(const PaneContext& ui, const Completion& completion);
    [[nodiscard]] const std::string& why() const { return why_; }
    [[nodiscard]] double mean() const;  // NaN without values

  private:
    Watch watch_;
    std::vector<float> values_;
    std::string why_;
};

}  // namespace aft::app
