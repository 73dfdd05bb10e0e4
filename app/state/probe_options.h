// Options of probes that panels set, and the names of their values: one table per option.
// tests/app/choices_test.cpp holds every table equal to the rows of the probe rooms
// (probe_list() of jobs.h). Any thread, no state.
#pragma once
#include <array>
#include <cstddef>
#include <string>

#include "app/state/selection.h"
#include "model/requests.h"

namespace aft::app {

enum class AttentionPart { prior, content, both };
enum class Reduce { gate, mean, channel };              // how the channels become one map
enum class OffsetReduce { head, channel, mean, gate };  // one map for each of them, or one in all
enum class KeyQuantity { exp, k };                      // exp(K), or K itself
enum class HiddenSources { values, nan };  // what stands for sources that a target cannot see
enum class BiasView { map, band };         // [T, T], or by the distance of a source
enum class BesideQuantity { none, w };     // w as a second field
enum class ResidualShare { measured, half, none };  // of the probe "trace"

// The values of one option, in the order of the enum.
template <class Value, size_t N>
struct OptionValues {
    const char* key;
    std::array<const char*, N> names;
    void set(ProbeRequest& request, Value value) const {
        request.options[key] = names.at(static_cast<size_t>(value));
    }
};

inline constexpr OptionValues<AttentionPart, 3> kPartOption{"part", {"prior", "content", "both"}};
inline constexpr OptionValues<Reduce, 3> kReduceOption{"reduce", {"gate", "mean", "none"}};
// Of the probe "priors", which has no channels of its own to show.
inline constexpr OptionValues<Reduce, 2> kPriorReduceOption{"reduce", {"gate", "mean"}};
// Of the probe "relative-attention".
inline constexpr OptionValues<OffsetReduce, 4> kOffsetReduceOption{
    "reduce", {"head", "channel", "mean", "gate"}};
inline constexpr OptionValues<KeyQuantity, 2> kKeyQuantityOption{"quantity", {"exp", "k"}};
inline constexpr OptionValues<HiddenSources, 2> kVisibleOption{"visible", {"all", "nan"}};
inline constexpr OptionValues<BiasView, 2> kViewOption{"view", {"map", "band"}};
inline constexpr OptionValues<BesideQuantity, 2> kAlsoOption{"also", {"none", "w"}};
inline constexpr OptionValues<ResidualShare, 3> kResidualOption{"residual",
                                                                {"measured", "half", "none"}};
inline constexpr OptionValues<Quantity, 4> kQuantityOption{"quantity",
                                                           {"w", "exp-1", "exp", "row-share"}};
inline constexpr OptionValues<Quantity, 3> kKernelQuantityOption{"quantity", {"w", "exp-1", "exp"}};
inline constexpr OptionValues<Gauge, 2> kGaugeOption{"gauge", {"fixed", "raw"}};

// Options whose value is a number from 0.
inline constexpr const char *kRowOption = "row", *kBlocksOption = "blocks",
                            *kPositionOption = "position", *kTargetsOption = "targets",
                            *kComponentsOption = "components";

}  // namespace aft::app
