// window: what a layer has learned inside its window, and whether that is cut off at the edge. The
// weight of a source of a target is how much more or less of the row it gets by the bias alone
// (K = 0) than one outside the window would:
//   |exp(w) - exp(w outside)| / sum of exp(w) over the visible sources
// w outside is 0, or -inf where outside is hidden. Outside the window it is 0. Targets that would
// see every source without the window, too, are left out: it cuts nothing there, and in most
// mixers a constant may be added to their row.
// One row a head, of the sums over the targets that remain:
//   within 50 %, within 90 %   distance within which that part of the weight lies, in the unit of
//                              the window: bands and kernels over a sequence |t - t'| in tokens,
//                              kernels over the grid the larger of |dy| and |dx|
//   edge                       share of the weight at the edge: distances over 0.9 of the largest
//   edge if even               share of the window's cells that lie there
//   inside                     share of the row, softmax of w, inside the window
//   largest                    the largest distance inside the window
//   ... on the grid            the two distances once more, as "reach" measures them
// NaN where no target remains; distances and edge also where all weights are 0. Cost O(h T^2) time,
// a block of rows in memory.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/probe/parts.h"
#include "model/probe/reach_sums.h"

namespace aft {

ProbeRoom window_probe();

namespace {

constexpr const char* kWindowColumns =
    "within 50 %, within 90 %, edge, edge if even, inside, largest, within 50 % on the grid, "
    "within 90 % on the grid";

// Where tokens stand as the window counts.
probe::Places window_places(const probe::BiasTable& table) {
    const at::Tensor i = at::arange(table.tokens(), at::kLong);
    return {i, i,
            table.traits().bias == BiasLayout::kernel_2d ? table.grid_width() : table.tokens()};
}

// [heads, rows, T]: |exp(w) - exp(w outside)| over the row's sum, from share = exp(w) over it.
at::Tensor learned_weight(const probe::BiasRows& rows, const at::Tensor& share, bool is_hidden) {
    const at::Tensor counts = rows.visible & rows.inside;
    if (is_hidden) return share * counts;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const at::Tensor seen = at::where(rows.visible, rows.values, -kInfinity);
    const at::Tensor even = at::exp(-at::logsumexp(seen, {2}, true));  // of a source with w = 0
    // Neither a difference of two almost equal numbers nor exp of a large one.
    const at::Tensor small = even * at::expm1(rows.values.clamp_max(1));
    return at::where(counts, at::where(rows.values > 1, share - even, small).abs(), 0.0);
}

class WindowSums {
  public:
    WindowSums(const probe::BiasTable& table, probe::Places on_grid)
        : table_(table),
          weights_(table.heads(), window_places(table)),
          cells_(table.heads(), window_places(table)),
          on_grid_(table.heads(), std::move(on_grid)),
          inside_(at::zeros({table.heads()}, at::kDouble)) {}

    void add(const probe::BiasRows& rows, int64_t first) {
        const int64_t n = rows.inside.size(0), T = table_.tokens();
        const at::Tensor t = at::arange(first, first + n, at::kLong).unsqueeze(1);
        const at::Tensor j = at::arange(T, at::kLong).unsqueeze(0);
        const at::Tensor reachable = table_.is_causal() ? j <= t : at::ones({n, T}, at::kBool);
        const at::Tensor is_cut = (reachable & ~rows.inside).any(1).view({1, n, 1});
        const at::Tensor share = probe::prior_share(rows);
        const at::Tensor weight =
            learned_weight(rows, share, table_.traits().outside_hidden) * is_cut;
        weights_.add(weight, first);
        on_grid_.add(weight, first);
        cells_.add((rows.visible & rows.inside & is_cut).expand_as(share).to(at::kDouble), first);
        inside_ += (share * rows.inside * is_cut).sum({1, 2});
        targets_ += is_cut.sum().item<int64_t>();
    }

    // [heads, 8]
    [[nodiscard]] at::Tensor numbers() const {
        const at::Tensor cells = cells_.by_distance();
        if (targets_ == 0) return at::full({cells.size(0), 8}, std::nan(""), at::kDouble);
        const at::Tensor distance = at::arange(cells.size(1), at::kLong).expand_as(cells);
        const at::Tensor largest = (distance * (cells > 0)).amax(1, true);
        const at::Tensor edge = (distance * 10 > largest * 9) | (distance == largest);
        const auto at_edge = [&](const at::Tensor& sums) {
            return (sums * edge).sum(1) / sums.sum(1);  // 0 / 0 = NaN
        };
        const at::Tensor window = within(weights_), grid = within(on_grid_);
        return at::cat({window,
                        at::stack({at_edge(weights_.by_distance()), at_edge(cells),
                                   inside_ / static_cast<double>(targets_),
                                   largest.squeeze(1).to(at::kDouble)},
                                  1),
                        grid},
                       1);
    }

  private:
    // [heads, 2]; NaN without any weight.
    static at::Tensor within(const probe::ReachSums& sums) {
        const at::Tensor none = sums.by_distance().sum(1, true) == 0;
        return at::where(none, std::nan(""), sums.numbers().slice(1, 0, 2));
    }

    const probe::BiasTable& table_;
    probe::ReachSums weights_, cells_, on_grid_;
    at::Tensor inside_;  // [heads]
    int64_t targets_ = 0;
};

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const probe::BiasTable table(context.net, request.layer);
    const ModelConfig& model = context.net.config();
    if (table.traits().window == 0)
        fail_usage("layer {} is {}: its position bias has no window", request.layer,
                   table.traits().words);
    if (request.head >= 0) probe::check_range("head", request.head, table.heads());
    const int64_t T = table.tokens();
    const int64_t chunk = std::clamp<int64_t>((int64_t{1} << 23) / (table.heads() * T), 1, 256);
    WindowSums sums(table, probe::places_of(model, T, request.layer));
    for (int64_t i = 0; i < T; i += chunk) {
        if (context.control.stop.stop_requested()) throw Interrupted();
        sums.add(table.rows(i, std::min(i + chunk, T)), i);
    }
    at::Tensor numbers = sums.numbers();
    if (request.head >= 0) numbers = numbers.slice(0, request.head, request.head + 1);
    return {{probe::make_field(
        numbers, {"window", "", {"head", "number"}, {{"columns", kWindowColumns}}}, context.step)}};
}

}  // namespace

ProbeRoom window_probe() {
    return {.info = {"window", "what a layer has learned inside its window, and at its edge"},
            .options = {},
            .needs = ProbeNeeds::biases,
            .run = run};
}

}  // namespace aft
