// CompletionPart: the samples of a completion shared out over several processes. A sample's random
// numbers are keyed by its number, so that all of them together are those of one process. For the
// complete job; its thread.
#pragma once
#include "model/completion.h"
#include "model/distributed/rank_group.h"

namespace aft {

struct CompletionPart {
    int64_t first = 0, count = 0;  // samples of this process
};
// Neighbouring samples; of more processes than samples the last ones have none. No ranks: all.
[[nodiscard]] CompletionPart part_of_samples(int64_t samples, const RankGroup* ranks);
// Collective: tokens and likelihoods of all samples in their order; surprise and entropy stay those
// of this process. Error that names a rank that is lost.
void take_all_samples(Completion& done, RankGroup& ranks);

}  // namespace aft
