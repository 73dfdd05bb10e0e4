// The packed decoder against the net's own operations and float64, over many blocks of sources,
// with biases and keys of hundreds; and that neither batches, threads, clones nor blocks of known
// tokens change a bit.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "model/decode/decoder.h"
#include "model/decode/packed_state.h"
#include "tests/model/net/small_nets.h"

namespace aft {
namespace {

using decode::Decoder;
using decode::DecoderState;
using decode::WeightFormat;
using Logits = std::vector<float>;

// Allowed error for ordinary values, relative to the largest logit: 340 u, for two layers of sums
// of up to 150 terms.
constexpr double kOrdinaryError = 2e-5;
constexpr int64_t kLength = 150;  // four full blocks and a part of a fifth

ModelConfig long_config(const std::string& mixer, int64_t window, int64_t factors) {
    ModelConfig config = small_config(mixer, "text");
    config.own["length"] = kLength;
    config.dim = 24;
    config.levels = 50;
    config.own["window"] = window;
    config.own["factors"] = factors;
    config.own["bias_std"] = 1;
    return config;
}

std::vector<NetCase> packed_cases() {
    std::vector<NetCase> cases{{"simple", long_config("aft-simple", 0, 0)},
                               {"full", long_config("aft-full", 0, 5)},
                               {"full w", long_config("aft-full", 0, 0)}};
    for (const int64_t window : {0, 1, 5, 32, 40, 97, 1000})
        for (const std::string outside : {"0", "-inf"}) {
            if (window == 0 && outside != "0") continue;
            ModelConfig config = long_config("aft-local", window, window == 40 ? 0 : 3);
            config.own["outside"] = outside;
            cases.push_back({fmt::format("local {} {}", window, outside), config});
        }
    ModelConfig bare = long_config("aft-full", 0, 4);
    bare.own["query_gate"] = bare.output_projection = false;
    bare.positions = "none";
    bare.activation = "gelu-tanh";
    cases.push_back({"bare", bare});
    bare.activation = "relu";
    bare.mlp_ratio = 1;
    cases.push_back({"relu", bare});
    return cases;
}

Net shaken_net(const ModelConfig& config) {
    Net net(config, 3);
    shake(net, 0.2, 5);
    return net;
}

// Every parameter whose name ends so.
void scale(Net& net, const std::string& end, double factor) {
    const at::NoGradGuard no_gradients;
    for (Parameter& p : net.parameters())
        if (p.name.ends_with(end)) p.value.mul_(factor);
}

std::vector<int64_t> fed_tokens(const ModelConfig& config, int64_t seed) {
    const at::Tensor targets = input_for(config, 1, seed);
    std::vector<int64_t> fed{-1};
    for (int64_t t = 0; t + 1 < targets.size(1); ++t) fed.push_back(targets[0][t].item<int64_t>());
    return fed;
}

Logits step_all(Decoder& decoder, const std::vector<int64_t>& fed) {
    const auto state = decoder.start(1);
    Logits out;
    for (const int64_t token : fed) {
        const auto logits = decoder.step({&token, 1}, *state);
        out.insert(out.end(), logits.begin(), logits.end());
    }
    return out;
}

// Of a net in float64.
Logits reference_logits(const Net& wide, const std::vector<int64_t>& fed) {
    const at::Tensor all = wide.forward_fed(at::tensor(fed, at::kLong).unsqueeze(0),
                                            {.backend = ops::OperatorBackend::reference});
    const at::Tensor flat = all.flatten().to(at::kFloat).contiguous();
    return {flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel()};
}

Logits exact_logits(const Net& net, const ModelConfig& config, const std::vector<int64_t>& fed) {
    Net wide(config, 3);
    copy_values(net.parameters(), wide.parameters());
    to_double(wide);
    return reference_logits(wide, fed);
}

double error_between(const Logits& found, const Logits& wanted) {
    EXPECT_EQ(found.size(), wanted.size());
    double error = 0, size = 0;
    for (size_t i = 0; i < found.size(); ++i) {
        if (!std::isfinite(found[i])) return INFINITY;
        error = std::max(error, std::abs(static_cast<double>(found[i]) - wanted[i]));
        size = std::max(size, std::abs(static_cast<double>(wanted[i])));
    }
    return error / size;
}

TEST(PackedDecode, IsTheNet) {
    const at::NoGradGuard no_gradients;
    for (const NetCase& c : packed_cases()) {
        SCOPED_TRACE(c.label);
        const Net net = shaken_net(c.config);
        const std::vector<int64_t> fed = fed_tokens(c.config, 7);
        const auto packed = decode::make_decoder(net, {});
        ASSERT_EQ(packed->group(), 0) << packed->name();
        EXPECT_LT(error_between(step_all(*packed, fed), exact_logits(net, c.config, fed)),
                  kOrdinaryError);
    }
}

// How far rounding to float32 can move the logits: the exact logits of weights that are off by n u,
// u = 2^-24, in products of n terms. A sum of n products in float32, in any order, is the exact sum
// of such weights (Higham, Accuracy and Stability of Numerical Algorithms, 3.1).
double rounding_error(const Net& net, const ModelConfig& config, const std::vector<int64_t>& fed,
                      const Logits& wanted) {
    constexpr double kUnit = 0x1p-24;
    constexpr uint64_t kDraws = 2;
    double error = 0;
    for (uint64_t draw = 0; draw < kDraws; ++draw) {
        Net moved(config, 3);
        copy_values(net.parameters(), moved.parameters());
        to_double(moved);
        CounterRng rng(61, draw);
        for (Parameter& p : moved.parameters()) {
            if (p.value.dim() != 2 || !p.name.ends_with(".weight")) continue;
            const double most = kUnit * static_cast<double>(p.value.size(1));
            auto* const values = p.value.mutable_data_ptr<double>();
            for (int64_t i = 0; i < p.value.numel(); ++i)
                values[i] *= 1 + (rng.below(2) == 0 ? most : -most);
        }
        error = std::max(error, error_between(reference_logits(moved, fed), wanted));
    }
    return error;
}

// Biases and keys of hundreds, where the last bit of a key changes its exponential by 2^-15: as
// exact as keys in float32 can be.
TEST(PackedDecode, StaysExactFarOut) {
    const at::NoGradGuard no_gradients;
    for (const NetCase& c : packed_cases()) {
        if (c.label == "relu" || c.label == "local 32 -inf" || c.label.starts_with("local 1"))
            continue;
        for (const auto& [bias, keys] : {std::pair{300.0, 1.0}, {30.0, 40.0}, {300.0, 400.0}}) {
            SCOPED_TRACE(fmt::format("{} bias {} keys {}", c.label, bias, keys));
            Net net = shaken_net(c.config);
            for (const char* name : {"mixer.u", "mixer.w"}) scale(net, name, bias);
            scale(net, "mixer.k.weight", keys);
            const std::vector<int64_t> fed = fed_tokens(c.config, 7);
            const Logits wanted = exact_logits(net, c.config, fed);
            const double limit = rounding_error(net, c.config, fed, wanted) + kOrdinaryError;
            const double error =
                error_between(step_all(*decode::make_decoder(net, {}), fed), wanted);
            EXPECT_LT(error, limit);
        }
    }
}

// A spike in K that the bias hides, alone in its chunk and beside others: 2^-x of the chunk's
// largest product is all that is left.
TEST(PackedDecode, HiddenSpikesDoNotDrownTheRest) {
    const at::NoGradGuard no_gradients;
    for (const double depth : {20.0, 50.0, 100.0, 400.0}) {
        SCOPED_TRACE(depth);
        ModelConfig config = long_config("aft-full", 0, 0);
        Net net = shaken_net(config);
        for (Parameter& p : net.parameters()) {
            if (p.name.ends_with("mixer.k.weight")) p.value.mul_(0.2);
            if (p.name == "embed.position.weight") p.value[10].mul_(depth);
            if (p.name.ends_with("mixer.w")) p.value.select(1, 10).sub_(depth);
        }
        const std::vector<int64_t> fed = fed_tokens(config, 7);
        EXPECT_LT(error_between(step_all(*decode::make_decoder(net, {}), fed),
                                exact_logits(net, config, fed)),
                  2e-5);
    }
}

TEST(PackedDecode, FiniteForAnyFiniteWeights) {
    const at::NoGradGuard no_gradients;
    for (const NetCase& c : packed_cases()) {
        SCOPED_TRACE(c.label);
        Net net = shaken_net(c.config);
        for (const char* name : {"mixer.u", "mixer.w", "mixer.k.weight"}) scale(net, name, 1e9);
        for (const float logit : step_all(*decode::make_decoder(net, {}), fed_tokens(c.config, 7)))
            ASSERT_TRUE(std::isfinite(logit));
    }
}

// Rows of a batch, several threads, blocks of known tokens: bit for bit the row alone.
TEST(PackedDecode, NothingAroundARowChangesIt) {
    const at::NoGradGuard no_gradients;
    for (const NetCase& c : packed_cases()) {
        for (const WeightFormat weights :
             {WeightFormat::fp32, WeightFormat::bf16, WeightFormat::int8}) {
            if (weights != WeightFormat::fp32 && c.label != "full") continue;
            SCOPED_TRACE(fmt::format("{} {}", c.label, static_cast<int>(weights)));
            ModelConfig config = c.config;
            config.dim = 160;  // large enough for the second thread
            config.layers = 1;
            const Net net = shaken_net(config);
            const auto alone = decode::make_decoder(net, {.weights = weights, .threads = 1});
            const auto team = decode::make_decoder(net, {.weights = weights, .threads = 2});
            std::vector<std::vector<int64_t>> fed;
            std::vector<Logits> wanted;
            for (int64_t row = 0; row < 7; ++row) {
                fed.push_back(fed_tokens(config, 20 + row));
                wanted.push_back(step_all(*alone, fed.back()));
            }
            const auto state = team->start(7);
            const auto levels = static_cast<size_t>(config.levels);
            for (size_t t = 0; t < fed[0].size(); ++t) {
                std::vector<int64_t> tokens;
                for (const auto& row : fed) tokens.push_back(row[t]);
                const auto logits = team->step(tokens, *state);
                for (size_t row = 0; row < fed.size(); ++row)
                    ASSERT_TRUE(
                        std::equal(logits.begin() + static_cast<int64_t>(row * levels),
                                   logits.begin() + static_cast<int64_t>((row + 1) * levels),
                                   wanted[row].begin() + static_cast<int64_t>(t * levels)))
                        << "row " << row << " token " << t;
            }
        }
    }
}

// A team begins with a trial of one thread and continues with all of them for a while: 40 calls
// later all are at work.
void set_to_work(Decoder& team) {
    const auto state = team.start(1);
    for (int64_t i = 0; i < 40; ++i) static_cast<void>(team.step(std::vector<int64_t>{3}, *state));
}

// Enough rows, or known tokens of one, that each thread takes some of them through all steps.
TEST(PackedDecode, NothingChangesWhereThreadsTakeRows) {
    const at::NoGradGuard no_gradients;
    for (const NetCase& c : packed_cases()) {
        SCOPED_TRACE(c.label);
        ModelConfig config = c.config;
        config.dim = 160;  // large enough for the second thread
        config.layers = 2;
        const Net net = shaken_net(config);
        const auto alone = decode::make_decoder(net, {.threads = 1});
        const auto team = decode::make_decoder(net, {.threads = 2});
        std::vector<int64_t> all;  // [rows, kLength]
        Logits wanted;
        for (int64_t row = 0; row < 20; ++row) {
            const std::vector<int64_t> fed = fed_tokens(config, 20 + row % 5);
            const Logits one = row < 5 ? step_all(*alone, fed) : Logits();
            all.insert(all.end(), fed.begin(), fed.end());
            wanted.insert(wanted.end(), one.begin(), one.end());
        }
        const auto of_row = static_cast<size_t>(kLength * config.levels);
        for (const auto& [rows, at_once] : {std::pair{1, 150}, {3, 150}, {20, 1}, {20, 7}}) {
            SCOPED_TRACE(fmt::format("{} rows, {} tokens", rows, at_once));
            set_to_work(*team);
            const auto state = team->start(rows);
            for (int64_t first = 0; first < kLength; first += at_once) {
                const int64_t count = std::min<int64_t>(at_once, kLength - first);
                std::vector<int64_t> tokens;
                for (int64_t row = 0; row < rows; ++row) {
                    const auto begin = all.begin() + row * kLength + first;
                    tokens.insert(tokens.end(), begin, begin + count);
                }
                Logits found;
                team->feed(tokens, *state, &found);
                const int64_t size = count * config.levels;
                ASSERT_EQ(found.size(), static_cast<size_t>(rows * size));
                for (int64_t row = 0; row < rows; ++row)
                    ASSERT_TRUE(std::equal(found.begin() + row * size,
                                           found.begin() + (row + 1) * size,
                                           wanted.begin() + row % 5 * static_cast<int64_t>(of_row) +
                                               first * config.levels))
                        << "row " << row << " token " << first;
            }
        }
    }
}

TEST(PackedDecode, KnownTokensClonesAndSelectionsContinueAlike) {
    const at::NoGradGuard no_gradients;
    for (const NetCase& c : packed_cases()) {
        const Net net = shaken_net(c.config);
        const auto decoder = decode::make_decoder(net, {});
        const std::vector<int64_t> fed = fed_tokens(c.config, 7);
        const Logits wanted = step_all(*decoder, fed);
        const auto levels = static_cast<size_t>(c.config.levels);
        for (const size_t middle : {size_t{1}, size_t{31}, size_t{64}, size_t{101}}) {
            SCOPED_TRACE(fmt::format("{} {}", c.label, middle));
            const auto kept = decoder->start(1);
            Logits first;
            decoder->feed(std::span(fed).first(middle), *kept, middle == 64 ? nullptr : &first);
            ASSERT_TRUE(std::equal(first.begin(), first.end(), wanted.begin()));
            ASSERT_EQ(first.size(), middle == 64 ? 0 : middle * levels);
            ASSERT_EQ(kept->position, static_cast<int64_t>(middle));
            const auto three = kept->clone();
            three->select({0, 0, 0});
            // Two go other ways, and are dropped after a while.
            for (size_t t = middle; t < fed.size(); ++t) {
                std::vector<int64_t> tokens{3, fed[t], 5};
                if (t >= middle + 40) tokens = {fed[t]};
                if (t == middle + 40) three->select({1});
                const auto logits = decoder->step(tokens, *three);
                const auto own = logits.subspan(t >= middle + 40 ? 0 : levels, levels);
                ASSERT_TRUE(std::equal(own.begin(), own.end(),
                                       wanted.begin() + static_cast<int64_t>(t * levels)))
                    << t;
            }
            // What was kept has not moved.
            for (size_t t = middle; t < fed.size(); ++t) {
                const auto logits = decoder->step(std::span(fed).subspan(t, 1), *kept);
                ASSERT_TRUE(std::equal(logits.begin(), logits.end(),
                                       wanted.begin() + static_cast<int64_t>(t * levels)));
            }
        }
    }
}

TEST(PackedDecode, FewerBitsCostLittle) {
    const at::NoGradGuard no_gradients;
    for (const NetCase& c : packed_cases()) {
        SCOPED_TRACE(c.label);
        Net net(c.config, 3);
        const std::vector<int64_t> fed = fed_tokens(c.config, 7);
        const Logits wanted = step_all(*decode::make_decoder(net, {}), fed);
        const auto error = [&](WeightFormat weights) {
            return error_between(step_all(*decode::make_decoder(net, {.weights = weights}), fed),
                                 wanted);
        };
        EXPECT_LT(error(WeightFormat::bf16), 0.02);
        EXPECT_GT(error(WeightFormat::bf16), 1e-6);
        EXPECT_LT(error(WeightFormat::int8), 0.05);
        EXPECT_GT(error(WeightFormat::int8), 1e-6);
    }
}

TEST(PackedDecode, TheWayIsChosenByTheNet) {
    const Net packed(long_config("aft-local", 5, 3), 1),
        softmax(small_config("softmax", "text"), 1);
    EXPECT_EQ(decode::make_decoder(packed, {})->name().substr(0, 11), "packed fp32");
    EXPECT_EQ(decode::make_decoder(packed, {.eager = true})->name(), "LibTorch");
    EXPECT_EQ(decode::make_decoder(softmax, {})->name(), "LibTorch");
    EXPECT_THROW((void)decode::make_decoder(softmax, {.weights = WeightFormat::int8}), Error);
    EXPECT_THROW((void)decode::parse_weight_format("fp16"), Error);
}

}  // namespace
}  // namespace aft
