// Mutations of whole completions: which positions are drawn, from what, with which random numbers,
// and what is reported of them.
#include <algorithm>
#include <cmath>
#include <functional>

#include "model/decode/decode.h"
#include "tests/model/net/tiny_nets.h"
#include "tests/mutants.h"

namespace aft {
namespace {

using Completer = std::function<Completion(const CompletionRequest&)>;

struct CompletionMistakes {
    int64_t from = 0;        // the logits of a position so much later
    bool draws_all = false;  // what is known after the first unknown one, too
    bool skips_last = false, ignores_drawn = false;
    bool same_numbers = false, numbers_by_count = false, ignores_seed = false;
    bool counts_known = false, heated_likelihood = false, entropy_in_nats = false;
};

// One position after the other, each by the whole net.
class SlowCompletion {
  public:
    SlowCompletion(const Net& net, CompletionMistakes wrong) : net_(net), wrong_(wrong) {}

    Completion operator()(const CompletionRequest& request) const {
        Completion out;
        out.total = int64_t(request.tokens.size());
        for (int64_t sample = 0; sample < request.sample.samples; ++sample)
            draw(request, wrong_.same_numbers ? 0 : uint64_t(sample), out);
        return out;
    }

  private:
    [[nodiscard]] std::vector<float> log_shares(const std::vector<uint8_t>& tokens,
                                                int64_t t) const {
        const std::vector<int64_t> wide(tokens.begin(), tokens.end());
        const at::Tensor logits = net_.forward(at::tensor(wide, at::kLong).unsqueeze(0), Pass{});
        const int64_t from = std::min(t + wrong_.from, logits.size(1) - 1);
        const at::Tensor row = at::log_softmax(logits[0][from], 0).contiguous();
        return {row.data_ptr<float>(), row.data_ptr<float>() + row.numel()};
    }

    void draw(const CompletionRequest& request, uint64_t stream, Completion& out) const {
        const SampleOptions& options = request.sample;
        std::vector<uint8_t> tokens = request.tokens;
        std::vector<float> surprise(tokens.size(), NAN), entropy = surprise;
        double likelihood = 0;
        uint64_t count = 0;
        bool has_begun = false;
        for (size_t t = 0; t < tokens.size(); ++t) {
            has_begun |= request.unknown[t] != 0;
            const bool is_drawn = request.unknown[t] != 0 || (wrong_.draws_all && has_begun);
            if (!is_drawn && !wrong_.counts_known) continue;
            if (wrong_.skips_last && t + 1 == tokens.size()) continue;
            const auto shares =
                log_shares(wrong_.ignores_drawn ? request.tokens : tokens, int64_t(t));
            if (is_drawn) {
                const uint64_t key = wrong_.numbers_by_count ? count++ : uint64_t(t);
                const double u = uniform(wrong_.ignores_seed ? 1 : options.seed, stream, key);
                tokens[t] =
                    uint8_t(choose_token(shares.data(), int64_t(shares.size()), options, u));
            }
            const double own = shares[tokens[t]];
            likelihood += wrong_.heated_likelihood ? own / options.temperature : own;
            surprise[t] = float(-own / std::log(2));
            double sum = 0;
            for (const float share : shares) sum -= std::exp(share) * share;
            entropy[t] = float(wrong_.entropy_in_nats ? sum : sum / std::log(2));
        }
        out.samples.push_back(tokens);
        out.log_likelihood.push_back(likelihood);
        out.surprise.push_back(surprise);
        out.entropy.push_back(entropy);
    }

    const Net& net_;
    CompletionMistakes wrong_;
};

CompletionRequest asked() {
    CompletionRequest request;
    const ModelConfig model = tiny_model("aft-full", "image");
    request.tokens = tiny_tokens(model);
    request.tokens.resize(size_t(model.tokens()));
    request.unknown.assign(request.tokens.size(), 0);
    for (const size_t t : {3, 4, 5, 9, 10, 14, 15}) request.unknown[t] = 1;
    request.sample.samples = 6;
    request.sample.temperature = 1.5;
    return request;
}

// What is known stays; the numbers are those of the net for what was drawn.
std::string numbers_wrong(const Net& net, const CompletionRequest& request,
                          const Completion& done) {
    for (size_t s = 0; s < done.samples.size(); ++s) {
        const std::vector<uint8_t>& tokens = done.samples[s];
        double bits = 0;
        for (size_t t = 0; t < tokens.size(); ++t) {
            if (!request.unknown[t] && tokens[t] != request.tokens[t]) return "a known value";
            if (request.unknown[t] == std::isnan(done.surprise[s][t])) return "what was drawn";
            if (!request.unknown[t]) continue;
            std::vector<uint8_t> one(tokens.size(), 0);
            one[t] = 1;
            const double own = -log_likelihood(net, tokens, one) / std::log(2);
            if (std::abs(done.surprise[s][t] - own) > 1e-4) return "a surprise";
            if (!(done.entropy[s][t] > 0 && done.entropy[s][t] <= 3)) return "an entropy";
            bits += own;
        }
        if (std::abs(done.log_likelihood[s] + bits * std::log(2)) > 1e-3) return "a likelihood";
    }
    return "";
}

// Of 8 values that are nearly equally likely the entropy is nearly 3 bits.
std::string entropy_wrong(const Net& net, const Completion& done, size_t t) {
    double sum = 0;
    std::vector<uint8_t> tokens = done.samples[0], one(tokens.size(), 0);
    one[t] = 1;
    for (uint8_t value = 0; value < 8; ++value) {
        tokens[t] = value;
        const double own = log_likelihood(net, tokens, one);
        sum -= std::exp(own) * own / std::log(2);
    }
    return std::abs(sum - done.entropy[0][t]) < 1e-4 ? "" : "the entropy of a position";
}

// Random numbers belong to (seed, sample, position): what is known beforehand changes none.
std::string numbers_drawn_wrong(const Completer& complete, const CompletionRequest& request,
                                const Completion& done) {
    if (std::equal(done.samples.begin() + 1, done.samples.end(), done.samples.begin()))
        return "all samples are one";
    CompletionRequest other = request;
    other.sample.seed = 2;
    if (complete(other).samples == done.samples) return "another seed draws the same";
    CompletionRequest rest = request;
    rest.tokens = done.samples[0];
    for (size_t t = 0; t < 9; ++t) rest.unknown[t] = 0;
    if (complete(rest).samples[0] != done.samples[0]) return "the numbers depend on the mask";
    CompletionRequest greedy = request;
    greedy.sample.temperature = 0;
    return complete(greedy).samples[0] == complete(greedy).samples[1] ? "" : "greedy is random";
}

// How often the first unknown value is drawn is its share at that temperature.
std::string shares_wrong(const Net& net, const Completer& complete,
                         const CompletionRequest& request) {
    constexpr int64_t kSamples = 1000, kRounds = 4;  // 0.05 is 6 standard deviations or more
    CompletionRequest many = request;
    many.sample.samples = kSamples;
    many.unknown.assign(many.unknown.size(), 0);
    many.unknown[3] = 1;
    std::vector<double> hits(8, 0), share(8, 0);
    for (int64_t round = 0; round < kRounds; ++round, ++many.sample.seed)
        for (const auto& tokens : complete(many).samples)
            hits[tokens[3]] += 1.0 / (kSamples * kRounds);
    std::vector<uint8_t> tokens = many.tokens;
    double total = 0;
    for (uint8_t value = 0; value < 8; ++value) {
        tokens[3] = value;
        total += share[value] =
            std::exp(log_likelihood(net, tokens, many.unknown) / request.sample.temperature);
    }
    for (size_t value = 0; value < 8; ++value)
        if (std::abs(hits[value] - share[value] / total) > 0.05) return "the share of a value";
    return "";
}

TEST(Mutants, CompletionMistakesAreNoticed) {
    const Net net = tiny_net(tiny_model("aft-full", "image"));
    const CompletionRequest request = asked();
    const auto what_is_wrong = [&](const Completer& complete) -> std::string {
        const Completion done = complete(request);
        if (done.samples.size() != 6) return "how many samples";
        std::string wrong = numbers_wrong(net, request, done);
        if (wrong.empty()) wrong = entropy_wrong(net, done, 15);
        if (wrong.empty()) wrong = numbers_drawn_wrong(complete, request, done);
        return wrong.empty() ? shares_wrong(net, complete, request) : wrong;
    };
    const auto with = [&net](const std::string& name, const CompletionMistakes& wrong) {
        return Mutant<Completer>{name, SlowCompletion(net, wrong)};
    };
    const Completer real = [&net](const CompletionRequest& asked_for) {
        return run_completion(net, asked_for, {}, {});
    };
    EXPECT_EQ(what_is_wrong(with("none", {}).part), "");
    EXPECT_EQ(SlowCompletion(net, {})(request).samples, real(request).samples);
    expect_noticed(what_is_wrong, real,
                   {with("the next position's logits", {.from = 1}),
                    with("known values are drawn anew", {.draws_all = true}),
                    with("the last position stays", {.skips_last = true}),
                    with("what was drawn is not seen by what follows", {.ignores_drawn = true}),
                    with("all samples have the same random numbers", {.same_numbers = true}),
                    with("random numbers by count, not by position", {.numbers_by_count = true}),
                    with("the seed is ignored", {.ignores_seed = true}),
                    with("known values are reported as drawn", {.counts_known = true}),
                    with("the likelihood at the temperature", {.heated_likelihood = true}),
                    with("entropy in nats", {.entropy_in_nats = true})});
}

}  // namespace
}  // namespace aft
