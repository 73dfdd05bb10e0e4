// Decoding: the choice of a token on hand-made cases, streaming against parallel evaluation, and
// that answers never depend on batching or on where a completion was resumed.
#include "model/decode/decode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "model/decode/decoder.h"
#include "tests/model/net/double_net.h"
#include "tests/model/net/tiny_nets.h"
#include "tests/model/test_device.h"

namespace aft {
namespace {

std::set<int64_t> chosen(const std::vector<double>& shares, const SampleOptions& options) {
    std::vector<float> logits;
    for (const double p : shares) logits.push_back(static_cast<float>(std::log(p)));
    std::set<int64_t> out;
    for (int i = 0; i < 400; ++i)
        out.insert(
            choose_token(logits.data(), static_cast<int64_t>(logits.size()), options, i / 400.0));
    return out;
}

double frequency(const std::vector<double>& shares, const SampleOptions& options, int64_t value) {
    std::vector<float> logits;
    for (const double p : shares) logits.push_back(static_cast<float>(std::log(p)));
    int hits = 0;
    for (int i = 0; i < 10000; ++i)
        hits += choose_token(logits.data(), static_cast<int64_t>(logits.size()), options,
                             (i + 0.5) / 10000) == value;
    return hits / 10000.0;
}

TEST(ChooseToken, HandCases) {
    const std::vector<double> p{0.1, 0.5, 0.15, 0.25};
    SampleOptions options;
    EXPECT_EQ(chosen(p, options), (std::set<int64_t>{0, 1, 2, 3}));
    for (int64_t v = 0; v < 4; ++v)
        EXPECT_NEAR(frequency(p, options, v), p[static_cast<size_t>(v)], 1e-3);
    options.temperature = 0;
    EXPECT_EQ(chosen(p, options), (std::set<int64_t>{1}));
    EXPECT_EQ(choose_token(std::vector<float>{2, 5, 5}.data(), 3, options, 0.9), 1);
    options = {};
    options.top_k = 2;
    EXPECT_EQ(chosen(p, options), (std::set<int64_t>{1, 3}));
    EXPECT_NEAR(frequency(p, options, 1), 0.5 / 0.75, 1e-3);
    options = {};
    options.top_p = 0.7;  // 0.5 is not enough, 0.5 + 0.25 is
    EXPECT_EQ(chosen(p, options), (std::set<int64_t>{1, 3}));
    options.top_p = 0.76;
    EXPECT_EQ(chosen(p, options), (std::set<int64_t>{1, 2, 3}));
    options.top_p = 0.0001;
    EXPECT_EQ(chosen(p, options), (std::set<int64_t>{1}));
    // Temperature comes first: at 0.5 the shares are squared, then top-p counts.
    options = {};
    options.temperature = 0.5;  // .01 .25 .0225 .0625 -> .029 .725 .065 .181
    EXPECT_NEAR(frequency(p, options, 1), 0.25 / 0.345, 1e-3);
    options.top_p = 0.7;
    EXPECT_EQ(chosen(p, options), (std::set<int64_t>{1}));
    // top-k before top-p: among the two best, 0.5 is 2/3 of what is left.
    options = {};
    options.top_k = 2;
    options.top_p = 0.6;
    EXPECT_EQ(chosen(p, options), (std::set<int64_t>{1}));
}

CompletionRequest request_of(const ModelConfig& model, const std::string& mask) {
    CompletionRequest request;
    request.tokens = tiny_tokens(model);
    request.unknown.assign(request.tokens.size(), 1);
    for (size_t i = 0; i < request.unknown.size(); ++i) {
        if (mask == "lower") request.unknown[i] = i >= request.unknown.size() / 2;
        if (mask == "holes") request.unknown[i] = i % 3 == 1;
    }
    request.sample.samples = 3;
    request.sample.seed = 11;
    return request;
}

Completion complete(const Net& net, const CompletionRequest& request,
                    const Completion* continued = nullptr) {
    CompletionHooks hooks;
    hooks.continued = continued;
    return run_completion(net, request, hooks, {});
}

TEST(Decode, SamplesDoNotDependOnTheBatch) {
    for (const ModelConfig& model : tiny_models(true, false)) {
        SCOPED_TRACE(model.mixer + " " + model.task);
        const Net net = tiny_net(model, test_device());
        CompletionRequest request = request_of(model, "lower");
        request.sample.samples = 11;  // two groups
        const Completion many = complete(net, request);
        request.sample.samples = 1;
        const Completion alone = complete(net, request);
        EXPECT_EQ(alone.samples[0], many.samples[0]);
        EXPECT_EQ(alone.log_likelihood[0], many.log_likelihood[0]);
        EXPECT_NE(many.samples[0], many.samples[9]);
        EXPECT_TRUE(many.done);
        EXPECT_FALSE(many.stopped);
        request.sample.seed = 12;
        EXPECT_NE(complete(net, request).samples[0], alone.samples[0]);
    }
}

// Not so where reformer's hashes are left to rounding: either bucket is right there.
bool is_decided(const Net& exact, const std::vector<uint8_t>& tokens) {
    const std::vector<int64_t> wide(tokens.begin(), tokens.end());
    return hash_lead(exact, at::tensor(wide, at::kLong).unsqueeze(0)) > kHashError;
}

TEST(Decode, StreamingLikelihoodIsTheParallelOne) {
    for (const ModelConfig& model : tiny_models(true, false)) {
        const Net net = tiny_net(model, test_device()), exact = double_net(net);
        for (const std::string mask : {"all", "lower", "holes"}) {
            SCOPED_TRACE(model.mixer + " " + model.task + " " + mask);
            const CompletionRequest request = request_of(model, mask);
            const Completion done = complete(net, request);
            int64_t compared = 0;
            for (size_t s = 0; s < done.samples.size(); ++s) {
                double bits = 0;
                for (size_t t = 0; t < request.unknown.size(); ++t) {
                    EXPECT_EQ(std::isnan(done.surprise[s][t]), request.unknown[t] == 0);
                    if (!request.unknown[t]) {
                        EXPECT_EQ(done.samples[s][t], request.tokens[t]) << "known " << t;
                        continue;
                    }
                    bits += done.surprise[s][t];
                    EXPECT_GE(done.entropy[s][t], 0);
                    EXPECT_LE(done.entropy[s][t], 3.0001);
                }
                if (!is_decided(exact, done.samples[s])) continue;
                ++compared;
                const double want = log_likelihood(exact, done.samples[s], request.unknown);
                EXPECT_NEAR(done.log_likelihood[s], want, 1e-4 * std::abs(want) + 1e-4);
                EXPECT_NEAR(bits * std::log(2.0), -want, 1e-3 * std::abs(want) + 1e-3);
            }
            EXPECT_GT(compared, 0);
        }
    }
}

TEST(Decode, GreedyTakesTheMostLikelyValue) {
    const ModelConfig model = tiny_model("aft-full", "image");
    const Net net = tiny_net(model, test_device());
    CompletionRequest request = request_of(model, "lower");
    request.sample.temperature = 0;
    const Completion done = complete(net, request);
    EXPECT_EQ(done.samples[0], done.samples[1]);
    std::vector<int64_t> wide(done.samples[0].begin(), done.samples[0].end());
    const at::NoGradGuard no_grad;
    const at::Tensor logits =
        net.forward(on_device(at::tensor(wide, at::kLong).unsqueeze(0)), Pass{})[0];
    for (int64_t t = 8; t < 16; ++t)
        EXPECT_EQ(logits[t].argmax().item<int64_t>(), wide[static_cast<size_t>(t)]);
}

TEST(Decode, ContinuingRepeatsAndBranches) {
    for (const std::string mixer : {"aft-full", "aft-local", "aft-simple"}) {
        SCOPED_TRACE(mixer);
        const ModelConfig model = tiny_model(mixer, "image");
        const Net net = tiny_net(model, test_device());
        CompletionRequest request = request_of(model, "lower");
        const Completion first = complete(net, request);
        // Resumed anywhere with the same numbers: the same answer.
        request.from_position = 11;
        request.from_sample = 1;
        const Completion same = complete(net, request, &first);
        EXPECT_EQ(same.samples, first.samples);
        EXPECT_NEAR(same.log_likelihood[1], first.log_likelihood[1], 1e-9);
        // Another value there: the past stays, the other samples too.
        request.forced = (first.samples[1][11] + 1) % 8;
        const Completion branch = complete(net, request, &first);
        EXPECT_EQ(branch.samples[0], first.samples[0]);
        EXPECT_EQ(branch.samples[2], first.samples[2]);
        EXPECT_EQ(branch.samples[1][11], request.forced);
        for (size_t t = 0; t < 11; ++t) EXPECT_EQ(branch.samples[1][t], first.samples[1][t]);
        EXPECT_NEAR(branch.log_likelihood[1],
                    log_likelihood(net, branch.samples[1], request.unknown), 1e-3);
        // All samples from there.
        request.from_sample = -1;
        const Completion all = complete(net, request, &first);
        for (const auto& sample : all.samples) EXPECT_EQ(sample[11], request.forced);
    }
}

// As often as a completion looks up from its work.
struct Watched {
    Completion done;
    int64_t turns = 0;
};
Watched watched(const Net& net, const CompletionRequest& request, const Completion* continued) {
    Watched out;
    CompletionHooks hooks;
    hooks.continued = continued;
    hooks.between_tokens = [&] { ++out.turns; };
    out.done = run_completion(net, request, hooks, {});
    return out;
}

void expect_same_bits(const std::vector<std::vector<float>>& found,
                      const std::vector<std::vector<float>>& wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i].size(), wanted[i].size());
        EXPECT_EQ(std::memcmp(found[i].data(), wanted[i].data(), 4 * found[i].size()), 0) << i;
    }
}

// What was filled in before goes through in blocks: a few turns of the decoder, and every number as
// one token at a time gave it. Text of 40 is longer than the model of 12, which restarts within.
TEST(Decode, ContinuingTakesThePastInBlocks) {
    for (const char* mixer : {"aft-simple", "aft-full", "aft-local", "aft-conv1d"})
        for (const std::string task : {"image", "text"})
            for (const std::string mask : {"all", "lower", "holes"}) {
                SCOPED_TRACE(std::string(mixer) + " " + task + " " + mask);
                ModelConfig model = tiny_model(mixer, task);
                model.height = model.width = 12;
                CompletionRequest request = request_of(model, mask);
                if (task == "text") {
                    for (const int64_t value : std::vector<int64_t>(28, 3))
                        request.tokens.push_back(static_cast<uint8_t>(value));
                    request.unknown.resize(40, 1);
                }
                const Net net = tiny_net(model);
                const Completion first = complete(net, request);
                const auto total = static_cast<int64_t>(request.unknown.size());
                for (const int64_t position : {total / 2 + 1, total - 3})
                    for (const int64_t sample : {-1, 1}) {
                        request.from_position = position;
                        request.from_sample = sample;
                        const auto [again, turns] = watched(net, request, &first);
                        EXPECT_EQ(again.samples, first.samples);
                        EXPECT_EQ(again.log_likelihood, first.log_likelihood);
                        expect_same_bits(again.surprise, first.surprise);
                        expect_same_bits(again.entropy, first.entropy);
                        const bool blocks = std::string(mixer) != "aft-conv1d";
                        EXPECT_TRUE(!blocks || turns <= total - position + position / 32 + 1)
                            << turns;
                    }
            }
}

// Other weights than those that filled it in: their numbers, not the ones of before.
TEST(Decode, ContinuingWithOtherWeightsSaysTheirLikelihood) {
    const ModelConfig model = tiny_model("aft-full", "image");
    const Net before = tiny_net(model), after(model, 99);
    CompletionRequest request = request_of(model, "lower");
    const Completion first = complete(before, request);
    request.from_position = 13;
    request.from_sample = -1;
    const Completion next = complete(after, request, &first);
    for (size_t s = 0; s < next.samples.size(); ++s)
        EXPECT_NEAR(next.log_likelihood[s], log_likelihood(after, next.samples[s], request.unknown),
                    1e-3);
}

TEST(Decode, StopsBetweenTokensAndServesInBetween) {
    const ModelConfig model = tiny_model("aft-full", "image");
    const Net net = tiny_net(model, test_device());
    std::stop_source stop;
    int served = 0;
    CompletionHooks hooks;
    hooks.between_tokens = [&] {
        if (++served == 3) stop.request_stop();
    };
    JobControl control;
    control.stop = stop.get_token();
    const Completion done = run_completion(net, request_of(model, "lower"), hooks, control);
    EXPECT_TRUE(done.stopped);
    EXPECT_TRUE(done.done);
    EXPECT_EQ(done.position, 12);  // the fourth token was being decided
    EXPECT_EQ(served, 4);
}

TEST(Decode, TextContinuesPastTheModelsLength) {
    for (const std::string mixer : {"aft-full", "aft-simple", "aft-conv1d"}) {
        SCOPED_TRACE(mixer);
        const ModelConfig model = tiny_model(mixer, "text");
        const Net net = tiny_net(model, test_device());
        CompletionRequest request;
        request.tokens.assign(40, 0);
        request.unknown.assign(40, 1);
        for (size_t i = 0; i < 20; ++i) {  // a prompt longer than T = 12
            request.tokens[i] = static_cast<uint8_t>(i % 8);
            request.unknown[i] = 0;
        }
        request.sample.samples = 2;
        const Completion done = complete(net, request);
        EXPECT_EQ(done.position, 40);
        for (const double l : done.log_likelihood) EXPECT_TRUE(std::isfinite(l) && l < 0);
        EXPECT_NE(done.samples[0], done.samples[1]);
    }
}

TEST(Decode, NonsenseIsRefusedInWords) {
    const ModelConfig model = tiny_model("aft-full", "image");
    const Net net = tiny_net(model, test_device());
    const auto words = [&](auto change) {
        CompletionRequest request = request_of(model, "lower");
        change(request);
        try {
            (void)complete(net, request);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(words([](auto& r) { r.sample.top_p = 0; }).find("top-p"), std::string::npos);
    EXPECT_NE(words([](auto& r) { r.sample.temperature = -1; }).find("temperature"),
              std::string::npos);
    EXPECT_NE(words([](auto& r) { r.sample.samples = 0; }).find("samples"), std::string::npos);
    EXPECT_NE(words([](auto& r) { r.tokens[0] = 8; }).find("0 to 7"), std::string::npos);
    EXPECT_NE(words([](auto& r) { r.unknown.pop_back(); }).find("mask"), std::string::npos);
    EXPECT_NE(words([](auto& r) { r.from_position = 3; }).find("no completion"), std::string::npos);
}

constexpr int64_t kDrawn = 600;

// 5 standard deviations of how often a value of probability p is drawn.
double five_sigma(double p) {
    return 5 * std::sqrt(p * (1 - p) / kDrawn);
}

// Particles: with the later pixels known, the answers follow the exact posterior.
TEST(Decode, ParticlesFollowThePosterior) {
    ModelConfig model = tiny_model("aft-full", "image");
    model.height = 1;
    model.width = 3;
    model.levels = 3;
    const Net net = tiny_net(model, test_device());
    CompletionRequest request;
    request.tokens = {0, 2, 1};
    request.unknown = {1, 0, 0};
    std::vector<double> posterior;
    double total = 0;
    for (uint8_t v = 0; v < 3; ++v) {
        posterior.push_back(std::exp(log_likelihood(net, {v, 2, 1}, {1, 1, 1})));
        total += posterior.back();
    }
    request.sample.samples = kDrawn;
    request.sample.particles = 32;
    const Completion done = complete(net, request);
    std::vector<double> seen(3, 0);
    for (const auto& sample : done.samples) {
        seen[sample[0]] += 1.0 / kDrawn;
        EXPECT_EQ(sample[1], 2);
        EXPECT_EQ(sample[2], 1);
    }
    for (size_t v = 0; v < 3; ++v)
        EXPECT_NEAR(seen[v], posterior[v] / total, five_sigma(posterior[v] / total)) << v;
    // The plain method does not see what comes later.
    request.sample.particles = 1;
    const Completion plain = complete(net, request);
    double share = 0, prior = std::exp(log_likelihood(net, {0, 2, 1}, {1, 0, 0}));
    for (const auto& sample : plain.samples) share += sample[0] == 0 ? 1.0 / kDrawn : 0;
    EXPECT_NEAR(share, prior, five_sigma(prior));
}

TEST(Decode, ADecoderIsKeptForTheSameWeightsAlone) {
    const ModelConfig model = tiny_model("aft-simple", "image");
    const Net before = tiny_net(model), after(model, 99);
    CompletionRequest request = request_of(model, "lower");
    decode::KeptDecoder kept;
    const auto complete_with = [&](const Net& net, uint64_t version) {
        CompletionHooks hooks;
        hooks.kept = &kept;
        hooks.version = version;
        return run_completion(net, request, hooks, {}).log_likelihood;
    };
    const decode::DecoderOptions plain, bytes{.weights = decode::WeightFormat::int8};
    const decode::Decoder* first = &kept.of(before, plain, 1);
    EXPECT_EQ(&kept.of(before, plain, 1), first);
    EXPECT_NE(kept.of(before, bytes, 1).name(), kept.of(before, plain, 1).name());
    EXPECT_EQ(complete_with(before, 1), complete(before, request).log_likelihood);
    EXPECT_EQ(complete_with(before, 1), complete(before, request).log_likelihood);
    request.sample.weights = "int8";
    EXPECT_EQ(complete_with(before, 1), complete(before, request).log_likelihood);
    EXPECT_EQ(complete_with(after, 2), complete(after, request).log_likelihood);
    EXPECT_NE(complete_with(after, 2), complete(before, request).log_likelihood);
}

}  // namespace
}  // namespace aft
