// StepTotals: task results of the parts of a batch or of a validation, weighted by tokens (loss,
// bits) or examples (accuracy). Added up in the order of the parts, whichever rank computed them.
#pragma once
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/tasks/task.h"

namespace aft {

struct StepPart {
    int64_t place = 0;  // among all parts
    double loss = 0, weight = 0;
    std::map<std::string, double> metrics{};
};

class StepTotals {
  public:
    void add(int64_t place, double loss, const TaskResult& result) {
        parts_.push_back({place, loss,
                          static_cast<double>(std::max(result.tokens, result.examples)),
                          result.metrics});
    }
    [[nodiscard]] bool empty() const { return parts_.empty(); }
    [[nodiscard]] double loss() const;
    void write(const std::string& prefix, std::map<std::string, double>& to) const;
    // What ranks tell each other: merge() takes what all of them wrote, this one included.
    [[nodiscard]] nlohmann::json to_json() const;
    void merge(const std::vector<nlohmann::json>& ranks);

  private:
    std::vector<StepPart> parts_;
};

}  // namespace aft
