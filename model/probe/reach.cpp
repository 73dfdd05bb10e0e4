// reach: how far and in which direction the targets of a layer look by their position bias alone
// (K = 0: the row's share, softmax of w over the visible sources), the mean over all targets. One
// row a head: the distances within which 50 and 90 % of the share lies, the mean distance, the
// shares of sources left, right, above and below, and of the start or class token. Pictures:
// pixels, the larger of |dy| and |dx|; above and below by dy, left and right by dx in the same or
// another row; of a mixer alone likewise on its grid. Texts: |t - t'| in tokens, left = before. A
// bias of 0 gives what the geometry alone gives. Cost O(h T^2) time, a block of rows in memory.
#include <ATen/ATen.h>

#include <algorithm>

#include "model/probe/parts.h"
#include "model/probe/reach_sums.h"

namespace aft {

ProbeRoom reach_probe();

namespace {

constexpr const char* kColumns =
    "within 50 %, within 90 %, mean distance, left, right, above, "
    "below, start";

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const probe::BiasTable table(context.net, request.layer);
    if (request.head >= 0) probe::check_range("head", request.head, table.heads());
    const int64_t T = table.tokens();
    const int64_t chunk = std::clamp<int64_t>((int64_t{1} << 23) / (table.heads() * T), 1, 256);
    probe::ReachSums sums(table.heads(), probe::places_of(context.net.config(), T, request.layer));
    for (int64_t i = 0; i < T; i += chunk) {
        if (context.control.stop.stop_requested()) throw Interrupted();
        sums.add(probe::prior_share(table.rows(i, std::min(i + chunk, T))), i);
    }
    at::Tensor numbers = sums.numbers();
    if (request.head >= 0) numbers = numbers.slice(0, request.head, request.head + 1);
    return {{probe::make_field(numbers, {"reach", "", {"head", "number"}, {{"columns", kColumns}}},
                               context.step)}};
}

}  // namespace

ProbeRoom reach_probe() {
    return {.info = {"reach", "how far and where the targets look by the position bias alone"},
            .options = {},
            .needs = ProbeNeeds::biases,
            .run = run};
}

}  // namespace aft
