// symmetry: how symmetric the position bias w of a layer is, one row a head, each a number from 0
// to 1:
//   exchange    of target and source: pairs w[t,t'] and w[t',t]
//   left-right  sources of the same target at dx and -dx, in their own row of the picture
//   up-down     sources of the same target at dy and -dy, in their own column
// With m the mirrored w, over all cells that are visible and parameters, as is their mirror image,
// and are not their own mirror image:
//   (1 + <w, m> / <w, w>) / 2 = |(w + m) / 2|^2 / |w|^2
// the share of the symmetric part in the squared norm, as the two parts of w are orthogonal (Horn
// and Johnson, Matrix Analysis, 4.1; Saponati et al. 2025, arXiv 2502.10927, compare the two of
// query-key matrices). 1 = symmetric, 0 = antisymmetric, 0.5 = neither. NaN where no cell has a
// visible mirror image, as everywhere in a causal text (of a causal picture left-right alone is
// defined, in the rows above), or where w is 0. Offsets as in "reach". gauge=fixed takes out of
// each free row what the model cannot feel; a constant counts as symmetric.
// Cost O(h T^2) time, a block of rows in memory; exchange reads some blocks more often, and is of
// at most 4096 tokens.
#include <ATen/ATen.h>

#include <algorithm>

#include "model/probe/parts.h"
#include "model/probe/reach_sums.h"

namespace aft {

ProbeRoom symmetry_probe();

namespace {

constexpr int64_t kMostTokens = 4096, kBlockValues = int64_t{1} << 22;
constexpr const char* kSymmetryColumns = "exchange, left-right, up-down";

// Of one mirror, [heads] each.
struct MirrorSums {
    explicit MirrorSums(int64_t heads)
        : products(at::zeros({heads}, at::kDouble)), squares(at::zeros({heads}, at::kDouble)) {}
    // a and its mirror image b, [heads, ...]; counts: bool, the same shape.
    void add(const at::Tensor& a, const at::Tensor& b, const at::Tensor& counts) {
        const at::Tensor x = at::where(counts, a, 0.0), y = at::where(counts, b, 0.0);
        products += (x * y).flatten(1).sum(1);
        squares += (x.square() + y.square()).flatten(1).sum(1) / 2;
    }
    [[nodiscard]] at::Tensor share() const {  // 0 / 0 = NaN
        return (1 + products / squares) / 2;
    }
    at::Tensor products, squares;
};

struct MirrorRows {
    at::Tensor w, counts;  // [heads, rows, T]: values, and the cells that count
};

class Mirrors {
  public:
    Mirrors(const ProbeContext& context, const ProbeRequest& request, bool is_fixed)
        : table_(context.net, request.layer),
          control_(context.control),
          is_fixed_(is_fixed && table_.traits().free_rows),
          places_(probe::places_of(context.net.config(), table_.tokens(), request.layer)),
          step_(std::clamp<int64_t>(kBlockValues / (table_.heads() * table_.tokens()), 1, 1024)) {}

    // [heads, 3]
    [[nodiscard]] at::Tensor numbers() const {
        const int64_t T = table_.tokens();
        MirrorSums exchange(heads()), across(heads()), upright(heads());
        const bool has_exchange = !table_.is_causal() && T <= kMostTokens;
        for (int64_t first = 0; first < T; first += step_) {
            const MirrorRows rows = rows_from(first);
            add_mirrored(rows, first, true, across);
            add_mirrored(rows, first, false, upright);
            for (int64_t other = 0; has_exchange && other <= first; other += step_)
                add_exchanged(rows, first, other, exchange);
        }
        return at::stack({exchange.share(), across.share(), upright.share()}, 1);
    }
    [[nodiscard]] int64_t heads() const { return table_.heads(); }

  private:
    [[nodiscard]] MirrorRows rows_from(int64_t first) const {
        if (control_.stop.stop_requested()) throw Interrupted();
        probe::BiasRows rows = table_.rows(first, std::min(first + step_, table_.tokens()));
        if (is_fixed_) static_cast<void>(probe::fix_gauge(rows));
        const at::Tensor counts = (rows.visible & rows.inside).expand(rows.values.sizes());
        return {rows.values, counts & rows.values.isfinite()};
    }

    // Targets of `rows` against those from `other`; each pair of blocks once.
    void add_exchanged(const MirrorRows& rows, int64_t first, int64_t other,
                       MirrorSums& sums) const {
        const MirrorRows beside = other == first ? rows : rows_from(other);
        const int64_t n = rows.w.size(1), m = beside.w.size(1);
        const auto across = [&](const at::Tensor& x) {
            return x.slice(2, first, first + n).transpose(1, 2);
        };
        const at::Tensor t = at::arange(first, first + n, at::kLong).unsqueeze(1);
        const at::Tensor j = at::arange(other, other + m, at::kLong).unsqueeze(0);
        const at::Tensor counts =
            rows.counts.slice(2, other, other + m) & across(beside.counts) & (j < t);
        sums.add(rows.w.slice(2, other, other + m), across(beside.w), counts);
    }

    // Sources of a target on the other side of its column or row.
    void add_mirrored(const MirrorRows& rows, int64_t first, bool is_across,
                      MirrorSums& sums) const {
        const int64_t n = rows.w.size(1), W = places_.width;
        const at::Tensor t = places_.target.slice(0, first, first + n).unsqueeze(1);
        const at::Tensor j = places_.source.unsqueeze(0);
        const auto row = [&](const at::Tensor& x) { return at::floor_divide(x, W); };
        const at::Tensor offset = is_across ? j.remainder(W) - t.remainder(W) : row(j) - row(t);
        const at::Tensor along = is_across ? j.remainder(W) : row(j);
        const int64_t end = is_across ? W : row(places_.target.amax()).item<int64_t>() + 1;
        const at::Tensor image = along - 2 * offset;  // its column or row
        // So many tokens behind.
        const at::Tensor place = at::arange(table_.tokens(), at::kLong).unsqueeze(0) -
                                 2 * offset * (is_across ? 1 : W) * places_.channels;
        const at::Tensor is_there = (t >= 0) & (j >= 0) & (offset < 0) & (image >= 0) &
                                    (image < end) & (place >= 0) & (place < table_.tokens());
        const at::Tensor index = at::where(is_there, place, 0).unsqueeze(0).expand(rows.w.sizes());
        sums.add(rows.w, rows.w.gather(2, index),
                 rows.counts & rows.counts.gather(2, index) & is_there);
    }

    probe::BiasTable table_;
    const JobControl& control_;
    bool is_fixed_;
    probe::Places places_;
    int64_t step_;
};

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const bool is_fixed = probe::option(symmetry_probe(), request, "gauge") == "fixed";
    const Mirrors mirrors(context, request, is_fixed);
    if (request.head >= 0) probe::check_range("head", request.head, mirrors.heads());
    at::Tensor numbers = mirrors.numbers();
    if (request.head >= 0) numbers = numbers.slice(0, request.head, request.head + 1);
    return {{probe::make_field(
        numbers, {"symmetry", "share", {"head", "number"}, {{"columns", kSymmetryColumns}}},
        context.step)}};
}

}  // namespace

ProbeRoom symmetry_probe() {
    return {.info = {"symmetry", "how symmetric the position bias of a layer is, and its mirrors"},
            .options = {{"gauge", {"raw", "fixed"}, "raw"}},
            .needs = ProbeNeeds::biases,
            .run = run};
}

}  // namespace aft
