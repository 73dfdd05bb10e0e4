// reformer: attention among tokens that a hash puts into one bucket, a baseline (Kitaev et al.
// 2020, "Reformer: The Efficient Transformer", section 2, Eq. 3 to 5 and appendix A).
//   k = q / |q|; bucket(q) = argmax [q R; -q R] with R [d/h, buckets/2] normal, one R a round
//   Y[t] = sum_j softmax_j(Q[t].k[j]) V[j] over j in the union of the sets of all rounds, per head
// The set of a round: tokens up to t in t's bucket, the last s = model.window of them. A token sees
// itself only where it sees nothing else (its logit is -1e5). The paper cuts the sorted tokens into
// chunks, whose edges depend on tokens that come later; counting back from t does not. The scale
// 1/sqrt(d/h) is not in front of a key of length 1, as in the authors' code. R are drawn from the
// model's seed and kept in the checkpoint. A source of several rounds counts once: its weight in a
// round is divided by how many have it, and the rounds are added (appendix A). Time O(rounds T s
// d), memory O(rounds T s h). Streaming: none; a token computes the prefix again.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"
#include "model/mixers/attention_layer.h"
#include "model/mixers/cost.h"
#include "model/nn/batched.h"

namespace aft {

namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();
constexpr double kItself = -1e5;

struct ReformerSettings : MixerSettings {
    int64_t window = 0;  // sources of a bucket, the token itself among them
    int64_t buckets = 16, rounds = 2;
    void visit(SettingRows& rows) {
        MixerSettings::visit(rows);
        rows.push_back(window_row(&window));
        rows.push_back(number_row("model.buckets", &buckets,
                                  "reformer: buckets of a hash, 1 or an even number.", {1, 65536}));
        rows.push_back(number_row("model.rounds", &rounds,
                                  "reformer: hashes; a token sees the union of their buckets.",
                                  {1, 64}));
    }
};

// What one round makes of the tokens, int64 [B, h, T]: a token's bucket and its place in it, the
// tokens sorted by both, and where in that order a token stands.
struct Round {
    at::Tensor bucket, rank, order, place;
};

Round round_of(const at::Tensor& bucket) {
    const int64_t T = bucket.size(2);
    const at::Tensor t = at::arange(T, bucket.options());
    Round out;
    out.bucket = bucket;
    out.order = (bucket * T + t).argsort(2, false);
    out.place = at::empty_like(out.order).scatter_(2, out.order, t.expand_as(out.order));
    const at::Tensor sorted = bucket.gather(2, out.order);
    const at::Tensor starts =
        at::constant_pad_nd(sorted.narrow(2, 1, T - 1).ne(sorted.narrow(2, 0, T - 1)), {1, 0}, 1);
    const at::Tensor first = std::get<0>(at::cummax(at::where(starts, t, at::zeros_like(t)), 2));
    out.rank = (t - first).gather(2, out.place);
    return out;
}

// Places of the sorted tokens: blocks of targets with the sources before them.
struct SortedBlocks {
    at::Tensor targets, sources;  // int64 [n, C], [n, C + s - 1]; -1 or T and more: none
    SortedBlocks(int64_t T, int64_t window, at::TensorOptions options) {
        constexpr int64_t kLeast = 32;
        const int64_t reach = std::min(window, T) - 1, rows = std::min(T, std::max(reach, kLeast));
        const at::Tensor first = at::arange(0, T, rows, options).unsqueeze(1);
        targets = first + at::arange(rows, options);
        sources = first + at::arange(-reach, rows, options);
    }
};

class Reformer final : public Mixer {
  public:
    Reformer(const ModelConfig& config, ParameterMaker& maker, const std::string& prefix)
        : settings_(config.own.read<ReformerSettings>()),
          q_(make_inner_map(maker, config, prefix + "q", config.inner_width())),
          v_(make_inner_map(maker, config, prefix + "v", config.inner_width())) {
        rotations_ = maker.normal(prefix + "hash",
                                  {settings_.rounds, config.inner_width() / settings_.heads,
                                   std::max<int64_t>(settings_.buckets / 2, 1)},
                                  1, ParameterGroup::fixed);
        o_ = make_output_map(maker, config, prefix);
    }

    [[nodiscard]] at::Tensor forward(const at::Tensor& x,
                                     const MixContext& context) const override {
        const at::Tensor q = q_(x), v = v_(x);
        show(context, "q", q);
        show(context, "v", v);
        const at::Tensor y = attend(split(q), split(v)).transpose(1, 2).reshape(v.sizes());
        show(context, "mix", y);
        return o_ ? (*o_)(y) : y;
    }

    [[nodiscard]] AttentionLogits attention_rows(const AttentionRequest& request) const override {
        const at::Tensor q = split(request.taps.q.unsqueeze(0).to(at::kDouble));  // [1, h, T, d/h]
        const at::Tensor target = q.select(2, request.target);
        const at::Tensor logits = at::matmul(keys(q), target.unsqueeze(3)).squeeze(3)[0];  // [h, T]
        at::Tensor seen = at::zeros_like(logits, at::kBool);
        for (const Round& round : rounds(q)) {
            const auto back = [&](const at::Tensor& of) {
                return of.select(2, request.target).unsqueeze(2) - of;
            };
            const at::Tensor ranks = back(round.rank);
            seen.logical_or_((back(round.bucket) == 0)
                                 .logical_and(ranks >= 0)
                                 .logical_and(ranks < settings_.window)[0]);
        }
        at::Tensor rows = logits.masked_fill(seen.logical_not(), kHidden);
        rows.select(1, request.target).fill_(kItself);
        return {.logits = rows, .gate = at::ones({settings_.heads}, at::kDouble), .axis = "head"};
    }

  private:
    [[nodiscard]] at::Tensor split(const at::Tensor& x) const {
        return x.view({x.size(0), x.size(1), settings_.heads, -1}).transpose(1, 2);
    }
    [[nodiscard]] static at::Tensor keys(const at::Tensor& q) {
        constexpr double kLeast = 1e-12;
        return q / q.norm(2, {3}, true).clamp_min(kLeast);
    }

    [[nodiscard]] std::vector<Round> rounds(const at::Tensor& q) const {
        const at::Tensor seen = q.detach();
        std::vector<Round> out;
        for (int64_t r = 0; r < settings_.rounds; ++r) {
            const at::Tensor turned =
                at::matmul(seen, rotations_[r].detach().to(q.device(), q.scalar_type()));
            const at::Tensor bucket = at::cat({turned, -turned}, 3).argmax(3);
            out.push_back(round_of(settings_.buckets > 1 ? bucket : at::zeros_like(bucket)));
        }
        return out;
    }

    // q, v [B, h, T, d/h] -> [B, h, T, d/h]
    [[nodiscard]] at::Tensor attend(const at::Tensor& q, const at::Tensor& v) const {
        const std::vector<Round> all = rounds(q);
        const at::Tensor k = keys(q);
        std::vector<at::Tensor> means, weights;
        for (const Round& round : all) {
            const at::Tensor logits = logits_of(round, all, q, k);  // [B, h, n, C, S]
            const at::Tensor y =
                nn::batched_product(nn::row_softmax(logits), blocks(sorted(v, round), true));
            const int64_t T = q.size(2);
            const at::Tensor place = round.place.unsqueeze(3);
            means.push_back(
                y.flatten(2, 3).narrow(2, 0, T).gather(2, place.expand({-1, -1, -1, v.size(3)})));
            weights.push_back(
                logits.logsumexp(4).flatten(2, 3).narrow(2, 0, T).unsqueeze(3).gather(2, place));
        }
        const at::Tensor shares = nn::row_softmax(at::cat(weights, 3));  // [B, h, T, rounds]
        return (at::stack(means, 4) * shares.unsqueeze(3)).sum(4);
    }

    [[nodiscard]] static at::Tensor sorted(const at::Tensor& x, const Round& round) {
        return x.gather(2, round.order.unsqueeze(3).expand({-1, -1, -1, x.size(3)}));
    }
    // [B, h, T, ...] in sorted order -> [B, h, n, places of a block, ...]
    [[nodiscard]] at::Tensor blocks(const at::Tensor& x, bool of_sources) const {
        const int64_t T = x.size(2);
        const SortedBlocks plan(T, settings_.window, x.options().dtype(at::kLong));
        const at::Tensor& places = of_sources ? plan.sources : plan.targets;
        const at::Tensor taken = x.index_select(2, places.clamp(0, T - 1).reshape({-1}));
        std::vector<int64_t> shape = taken.sizes().vec();
        shape[2] = places.size(0);
        shape.insert(shape.begin() + 3, places.size(1));
        return taken.view(shape);
    }

    // Logits of a round, less the logarithm of the number of rounds that have the pair.
    [[nodiscard]] at::Tensor logits_of(const Round& round, const std::vector<Round>& all,
                                       const at::Tensor& q, const at::Tensor& k) const {
        const int64_t T = q.size(2);
        const SortedBlocks plan(T, settings_.window, round.order.options());
        const at::Tensor t = plan.targets.unsqueeze(2), j = plan.sources.unsqueeze(1);
        // [B, h, n, C, S] of something that belongs to a token
        const auto back = [&](const at::Tensor& of) {
            const at::Tensor x = of.gather(2, round.order);
            return blocks(x, false).unsqueeze(4) - blocks(x, true).unsqueeze(3);
        };
        const auto in_set = [&](const Round& other) {
            const at::Tensor ranks = back(other.rank);
            return (back(other.bucket) == 0)
                .logical_and_(ranks >= 0)
                .logical_and_(ranks < settings_.window);
        };
        at::Tensor count = at::zeros({1}, round.order.options());
        for (const Round& other : all) count = count + in_set(other);
        const at::Tensor is_filling = (j < 0).logical_or(j >= T);
        const at::Tensor unseen = in_set(round).logical_not_().logical_or_(is_filling);
        const at::Tensor products = nn::batched_product(
            blocks(sorted(q, round), false), blocks(sorted(k, round), true).transpose(3, 4));
        return (products.masked_fill(t == j, kItself) -
                count.clamp_min(1).to(q.scalar_type()).log())
            .masked_fill(unseen.logical_and((t == j).logical_not()), kHidden);
    }

    ReformerSettings settings_;
    Linear q_, v_;
    at::Tensor rotations_;  // [rounds, d/h, buckets / 2]
    std::optional<Linear> o_;
};

void check(const ModelConfig& config) {
    check_attention(config);
    const auto settings = config.own.read<ReformerSettings>();
    if (settings.window < 1)
        fail_usage("model.window = {}: reformer sees at least 1 source of a bucket",
                   settings.window);
    if (settings.buckets > 1 && settings.buckets % 2 != 0)
        fail_usage("model.buckets = {}: reformer takes 1 or an even number", settings.buckets);
}

MixerTraits traits(const ModelConfig& config) {
    MixerTraits traits = attention_traits(config);
    const auto settings = config.own.read<ReformerSettings>();
    traits.words += fmt::format(", {} buckets, {} rounds", settings.buckets, settings.rounds);
    traits.decoder = DecoderKind::prefix;
    traits.non_causal = false;
    return traits;
}

std::unique_ptr<Mixer> make(const ModelConfig& config, ParameterMaker& maker,
                            const std::string& prefix) {
    return std::make_unique<Reformer>(config, maker, prefix);
}

// Of each round: hashes, and blocks of sorted targets with the sources before them, masked; plain
// tensor calls, so that logits, weights, masks and sorted copies are kept.
MixerCost cost(const ModelConfig& config, const CostShape& shape) {
    const auto settings = config.own.read<ReformerSettings>();
    LayerCount count(config, shape);
    const double T = count.T, d = count.d, n = count.n, h = count.h;
    const auto rounds = static_cast<double>(settings.rounds);
    const double hashes = std::max(static_cast<double>(settings.buckets) / 2, 1.0);
    count.map(d, n, config.qkv_bias);  // q, which is the key, too
    count.map(d, n, config.qkv_bias);
    count_output_map(count, config);
    count.cost.parameters += rounds * count.w * std::floor(hashes);
    const double reach = std::min(static_cast<double>(settings.window), T) - 1;
    const double targets = std::min(T, std::max(reach, 32.0)), sources = reach + targets;
    const double blocks = std::ceil(T / targets), pairs = blocks * targets * sources;
    count.product(rounds * T * n * hashes, 0);
    count.product(rounds * 2 * pairs * n);
    count.keep(T * (2 * d + 2 + n));  // x, norm(x), q
    count.keep(rounds * (2.25 * h * pairs + n * blocks * (targets + 2 * sources)));
    count.keep(rounds * T * (n + 4 * h));  // results; places, int64
    return {count.cost, "T log(T) d", "T log(T) + T d"};
}

}  // namespace

MixerRoom reformer_mixer() {
    return {.info = {"reformer", "Attention within buckets of a hash, a baseline."},
            .traits = traits,
            .visit = visit_settings<ReformerSettings>,
            .check = check,
            .make = make,
            .cost = cost};
}

}  // namespace aft
