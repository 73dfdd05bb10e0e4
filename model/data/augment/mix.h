// Mixing of the pictures of a batch: mixup (Zhang et al. 2018, "mixup: beyond empirical risk
// minimization") and CutMix (Yun et al. 2019). The partner of picture i is picture B - 1 - i, the
// share of both is drawn once a batch. Loader threads; no state.
#pragma once
#include "model/data/augment/augment.h"
#include "model/data/loader.h"

namespace aft {

struct MixRequest {
    double mixup = 0, cutmix = 0;  // alpha of Beta(alpha, alpha), 0 = never; of both one is drawn
    int64_t classes = 1;
};
// Changes input (float [B, C, H, W], contiguous), sets soft_target [B, classes] and makes `target`
// the label of the larger share. key.number: the step. Labels are in [0, classes).
void mix_batch(Batch& batch, const MixRequest& request, ExampleKey key);

}  // namespace aft
