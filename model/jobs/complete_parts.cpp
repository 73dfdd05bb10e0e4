#include "model/jobs/complete_parts.h"

#include <nlohmann/json.hpp>

#include "core/json.h"

namespace aft {

CompletionPart part_of_samples(int64_t samples, const RankGroup* ranks) {
    if (ranks == nullptr) return {0, samples};
    const int64_t size = ranks->size();
    const auto first_of = [&](int64_t rank) { return (samples * rank + size - 1) / size; };
    const int64_t first = first_of(ranks->rank());
    return {first, first_of(ranks->rank() + 1) - first};
}

void take_all_samples(Completion& done, RankGroup& ranks) {
    const nlohmann::json mine{{"samples", done.samples}, {"nats", done.log_likelihood}};
    const std::vector<std::string> said = ranks.gather(json_text(mine), Patience::endless);
    done.samples.clear();
    done.log_likelihood.clear();
    for (size_t rank = 0; rank < said.size(); ++rank) {
        const nlohmann::json theirs =
            parse_json(said[rank], {.file = ranks.name(static_cast<int>(rank))});
        for (const auto& sample : theirs.at("samples")) done.samples.push_back(sample);
        for (const auto& nats : theirs.at("nats")) done.log_likelihood.push_back(nats);
    }
}

}  // namespace aft
