// The names that the window gives the options of probes are those that the probes' rooms list.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "app/state/probe_options.h"
#include "model/jobs.h"

namespace aft::app {
namespace {

using OptionName = std::pair<std::string, std::string>;  // probe, key

template <class Table>
std::set<std::string> names_of(const Table& table) {
    return {table.names.begin(), table.names.end()};
}

// What panels set, by the probes that they set it for.
std::map<OptionName, std::set<std::string>> window_options() {
    return {{{"attention", kPartOption.key}, names_of(kPartOption)},
            {{"attention", kReduceOption.key}, names_of(kReduceOption)},
            {{"attention", kVisibleOption.key}, names_of(kVisibleOption)},
            {{"bias", kQuantityOption.key}, names_of(kQuantityOption)},
            {{"bias", kGaugeOption.key}, names_of(kGaugeOption)},
            {{"bias", kVisibleOption.key}, names_of(kVisibleOption)},
            {{"bias", kViewOption.key}, names_of(kViewOption)},
            {{"bias", kAlsoOption.key}, names_of(kAlsoOption)},
            {{"bias", kRowOption}, {}},
            {{"bias", kBlocksOption}, {}},
            {{"components", kComponentsOption}, {}},
            {{"kernel", kKernelQuantityOption.key}, names_of(kKernelQuantityOption)},
            {{"kernel", kAlsoOption.key}, names_of(kAlsoOption)},
            {{"keys", kKeyQuantityOption.key}, names_of(kKeyQuantityOption)},
            {{"patching", kPositionOption}, {}},
            {{"predictions", kPositionOption}, {}},
            {{"priors", kPriorReduceOption.key}, names_of(kPriorReduceOption)},
            {{"relative-attention", kPartOption.key}, names_of(kPartOption)},
            {{"relative-attention", kOffsetReduceOption.key}, names_of(kOffsetReduceOption)},
            {{"relative-attention", kVisibleOption.key}, names_of(kVisibleOption)},
            {{"relative-attention", kTargetsOption}, {}},
            {{"trace", kResidualOption.key}, names_of(kResidualOption)}};
}

// An option that a room has and no panel sets fails, too: it needs a choice in the window.
TEST(Choices, OptionsAndTheirValuesAreThoseOfTheProbes) {
    std::map<OptionName, std::set<std::string>> listed;
    for (const ProbeInfo& probe : probe_list())
        for (const ProbeOption& option : probe.options)
            listed[{probe.info.name, option.key}] = {option.values.begin(), option.values.end()};
    EXPECT_EQ(window_options(), listed);
}

// Values are set by their place in the table.
TEST(Choices, EveryValueIsSetByItsName) {
    ProbeRequest request;
    kReduceOption.set(request, Reduce::channel);
    kPartOption.set(request, AttentionPart::content);
    kKeyQuantityOption.set(request, KeyQuantity::k);
    kVisibleOption.set(request, HiddenSources::nan);
    EXPECT_EQ(request.options,
              (std::map<std::string, std::string>{
                  {"reduce", "none"}, {"part", "content"}, {"quantity", "k"}, {"visible", "nan"}}));
    kViewOption.set(request, BiasView::band);
    kAlsoOption.set(request, BesideQuantity::w);
    kQuantityOption.set(request, Quantity::exp_minus_one);
    kGaugeOption.set(request, Gauge::fixed);
    EXPECT_EQ(request.options.at("view"), "band");
    EXPECT_EQ(request.options.at("also"), "w");
    EXPECT_EQ(request.options.at("quantity"), "exp-1");
    EXPECT_EQ(request.options.at("gauge"), "fixed");
}

}  // namespace
}  // namespace aft::app
