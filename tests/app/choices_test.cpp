// The options that panels set are those of the probes' rows: every key is there, and the enums of
// the window name its values in their order. Options and values that no panel sets may be added.
#include <gtest/gtest.h>

#include <algorithm>

#include "app/figures/figure.h"
#include "app/state/probe_options.h"
#include "model/jobs.h"

namespace aft::app {
namespace {

template <class Value>
std::vector<std::string> names_of(const OptionOf<Value>& option, const std::string& probe,
                                  const std::vector<Value>& values) {
    std::vector<std::string> names;
    for (const Value value : values)
        names.push_back(option.is_taken_by(probe, value) ? option.name(probe, value) : "not taken");
    return names;
}

using Names = std::vector<std::string>;

TEST(Choices, EveryValueOfAWindowEnumIsTheOneThatTheProbeCallsSo) {
    const std::vector<AttentionPart> parts{AttentionPart::prior, AttentionPart::content,
                                           AttentionPart::both};
    const std::vector<HiddenSources> hidden{HiddenSources::values, HiddenSources::nan};
    for (const char* const probe : {"attention", "relative-attention"}) {
        EXPECT_EQ(names_of(kPartOption, probe, parts), Names({"prior", "content", "both"}));
        EXPECT_EQ(names_of(kVisibleOption, probe, hidden), Names({"all", "nan"}));
    }
    const std::vector<Reduce> reduce{Reduce::gate, Reduce::mean, Reduce::channel};
    EXPECT_EQ(names_of(kReduceOption, "attention", reduce), Names({"gate", "mean", "none"}));
    EXPECT_EQ(names_of(kReduceOption, "priors", reduce), Names({"gate", "mean", "not taken"}));
    EXPECT_EQ(names_of(kOffsetReduceOption, "relative-attention",
                       {OffsetReduce::head, OffsetReduce::channel, OffsetReduce::mean,
                        OffsetReduce::gate}),
              Names({"head", "channel", "mean", "gate"}));
    EXPECT_EQ(names_of(kKeyQuantityOption, "keys", {KeyQuantity::exp, KeyQuantity::k}),
              Names({"exp", "k"}));
    EXPECT_EQ(names_of(kTracedLayersOption, "trace", {TracedLayers::chained, TracedLayers::alone}),
              Names({"chained", "alone"}));
    EXPECT_EQ(names_of(kResidualOption, "trace",
                       {ResidualShare::measured, ResidualShare::half, ResidualShare::none}),
              Names({"measured", "half", "none"}));
}

TEST(Choices, EveryValueOfABiasIsTheOneThatTheProbeCallsSo) {
    const std::vector<Quantity> quantities{Quantity::w, Quantity::exp_minus_one, Quantity::exp,
                                           Quantity::row_share};
    EXPECT_EQ(std::vector(std::begin(kQuantities), std::end(kQuantities)), quantities);
    EXPECT_EQ(names_of(kQuantityOption, "bias", quantities),
              Names({"w", "exp-1", "exp", "row-share"}));
    EXPECT_EQ(names_of(kQuantityOption, "kernel", quantities),
              Names({"w", "exp-1", "exp", "not taken"}));
    EXPECT_EQ(quantity_of_kernel(Quantity::exp_minus_one), Quantity::exp_minus_one);
    EXPECT_EQ(quantity_of_kernel(Quantity::row_share), Quantity::exp);
    EXPECT_EQ(names_of(kGaugeOption, "bias", {Gauge::fixed, Gauge::raw}), Names({"fixed", "raw"}));
    EXPECT_EQ(names_of(kVisibleOption, "bias", {HiddenSources::values, HiddenSources::nan}),
              Names({"all", "nan"}));
    EXPECT_EQ(names_of(kViewOption, "bias", {BiasView::map, BiasView::band}),
              Names({"map", "band"}));
    for (const char* const probe : {"bias", "kernel"})
        EXPECT_EQ(names_of(kAlsoOption, probe, {BesideQuantity::none, BesideQuantity::w}),
                  Names({"none", "w"}));
}

TEST(Choices, OptionsThatAreNumbersAreThere) {
    const std::pair<const char*, const char*> numbers[] = {{"bias", kRowOption},
                                                           {"bias", kBlocksOption},
                                                           {"components", kComponentsOption},
                                                           {"patching", kPositionOption},
                                                           {"predictions", kPositionOption},
                                                           {"relative-attention", kTargetsOption}};
    for (const auto& [probe, key] : numbers) {
        const ProbeOption* const row = probe_option(probe, key);
        ASSERT_NE(row, nullptr) << probe << " " << key;
        EXPECT_TRUE(row->values.empty()) << probe << " " << key;
    }
    EXPECT_EQ(probe_option("bias", "no such"), nullptr);
    EXPECT_EQ(probe_option("no such", "row"), nullptr);
}

// The standard of a figure is its own; what it may be is what the probe takes.
TEST(Choices, FiguresTakeWhatTheirProbesTake) {
    for (const FigureRoom& room : figures())
        for (const ProbeOption& option : room.options) {
            const auto& values = option.values;
            EXPECT_TRUE(values.empty() ||
                        std::find(values.begin(), values.end(), option.standard) != values.end())
                << room.info.name << " " << option.key << " " << option.standard;
        }
}

TEST(Choices, AValueIsSetByTheNameInTheRowOfTheProbeThatIsAsked) {
    ProbeRequest request;
    request.probe = "attention";
    kReduceOption.set(request, Reduce::channel);
    kPartOption.set(request, AttentionPart::content);
    kVisibleOption.set(request, HiddenSources::nan);
    EXPECT_EQ(request.options, (std::map<std::string, std::string>{
                                   {"reduce", "none"}, {"part", "content"}, {"visible", "nan"}}));
    request.probe = "relative-attention";
    kOffsetReduceOption.set(request, OffsetReduce::channel);
    EXPECT_EQ(request.options.at("reduce"), "channel");
    EXPECT_STREQ(quantity_option(Quantity::exp_minus_one), "exp-1");
    EXPECT_STREQ(gauge_option(Gauge::fixed), "fixed");
}

}  // namespace
}  // namespace aft::app
