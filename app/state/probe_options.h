// Options of probes that panels set. Their values stand in the rows of the probes' rooms alone:
// the enums below name them in the order of these rows (tests/app/choices_test.cpp holds the
// order). A probe with an option or a value more needs nothing here before a panel sets it. Any
// thread, no state.
#pragma once
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
enum class TracedLayers { chained, alone };         // followed back, or each layer's own row

// In the row of this probe; it has the option.
[[nodiscard]] const std::string& option_value(const std::string& probe, const char* key,
                                              size_t place);
// How many the row of this probe has; 0 = it has no such option, or one whose value is a number.
[[nodiscard]] size_t option_size(const std::string& probe, const char* key);

// An option of one or several probes.
template <class Value>
struct OptionOf {
    const char* key;

    [[nodiscard]] const std::string& name(const std::string& probe, Value value) const {
        return option_value(probe, key, static_cast<size_t>(value));
    }
    [[nodiscard]] bool is_taken_by(const std::string& probe, Value value) const {
        return static_cast<size_t>(value) < option_size(probe, key);
    }
    // request.probe is set.
    void set(ProbeRequest& request, Value value) const {
        request.options[key] = name(request.probe, value);
    }
};

inline constexpr OptionOf<AttentionPart> kPartOption{"part"};
inline constexpr OptionOf<Reduce> kReduceOption{"reduce"};              // "attention", "priors"
inline constexpr OptionOf<OffsetReduce> kOffsetReduceOption{"reduce"};  // "relative-attention"
inline constexpr OptionOf<KeyQuantity> kKeyQuantityOption{"quantity"};  // "keys"
inline constexpr OptionOf<HiddenSources> kVisibleOption{"visible"};
inline constexpr OptionOf<BiasView> kViewOption{"view"};
inline constexpr OptionOf<BesideQuantity> kAlsoOption{"also"};
inline constexpr OptionOf<ResidualShare> kResidualOption{"residual"};
inline constexpr OptionOf<TracedLayers> kTracedLayersOption{"layers"};
inline constexpr OptionOf<Quantity> kQuantityOption{"quantity"};  // "bias", "kernel"
inline constexpr OptionOf<Gauge> kGaugeOption{"gauge"};

// What a kernel shows of it: the same where the probe "kernel" has it, else exp(w).
[[nodiscard]] Quantity quantity_of_kernel(Quantity quantity);

// Options whose value is a number from 0.
inline constexpr const char *kRowOption = "row", *kBlocksOption = "blocks",
                            *kPositionOption = "position", *kTargetsOption = "targets",
                            *kComponentsOption = "components";

}  // namespace aft::app
