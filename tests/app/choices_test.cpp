// What the window lets one choose of a probe is what the probe's room lists.
#include <gtest/gtest.h>

#include <algorithm>

#include "app/state/selection.h"
#include "model/jobs.h"

namespace aft::app {
namespace {

std::vector<std::string> listed(const std::string& probe, const std::string& key) {
    for (const ProbeInfo& one : probe_list())
        for (const ProbeOption& option : one.options)
            if (one.info.name == probe && option.key == key) return option.values;
    return {};
}

TEST(Choices, QuantitiesAndGaugesAreThoseOfTheBiasProbe) {
    std::vector<std::string> quantities, gauges;
    for (const Quantity quantity : kQuantities) quantities.emplace_back(quantity_option(quantity));
    for (const Gauge gauge : {Gauge::fixed, Gauge::raw}) gauges.emplace_back(gauge_option(gauge));
    for (const auto& [key, shown] : {std::pair{"quantity", quantities}, {"gauge", gauges}}) {
        std::vector<std::string> known = listed("bias", key), own = shown;
        std::sort(known.begin(), known.end());
        std::sort(own.begin(), own.end());
        EXPECT_EQ(own, known) << key;
    }
}

}  // namespace
}  // namespace aft::app
