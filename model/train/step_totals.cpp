#include "model/train/step_totals.h"

#include <limits>

namespace aft {
namespace {

// JSON has no NaN: it is written as null.
double number_of(const nlohmann::json& value) {
    return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

double StepTotals::loss() const {
    double loss = 0, weight = 0;
    for (const StepPart& part : parts_) {
        loss += part.loss * part.weight;
        weight += part.weight;
    }
    return loss / weight;
}

void StepTotals::write(const std::string& prefix, std::map<std::string, double>& to) const {
    double weight = 0;
    std::map<std::string, double> metrics;
    for (const StepPart& part : parts_) {
        weight += part.weight;
        for (const auto& [key, value] : part.metrics) metrics[key] += value * part.weight;
    }
    to[prefix + "loss"] = loss();
    for (const auto& [key, value] : metrics) to[prefix + key] = value / weight;
}

nlohmann::json StepTotals::to_json() const {
    nlohmann::json parts = nlohmann::json::array();
    for (const StepPart& part : parts_)
        parts.push_back({part.place, part.loss, part.weight, part.metrics});
    return parts;
}

void StepTotals::merge(const std::vector<nlohmann::json>& ranks) {
    parts_.clear();
    for (const nlohmann::json& parts : ranks)
        for (const nlohmann::json& one : parts) {
            StepPart part{.place = one.at(0).get<int64_t>(),
                          .loss = number_of(one.at(1)),
                          .weight = one.at(2).get<double>()};
            for (const auto& [key, value] : one.at(3).items()) part.metrics[key] = number_of(value);
            parts_.push_back(std::move(part));
        }
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const StepPart& a, const StepPart& b) { return a.place < b.place; });
}

}  // namespace aft
