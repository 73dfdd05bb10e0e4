#include "model/jobs/cost.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>

#include "core/caught.h"
#include "core/check.h"
#include "core/clock.h"
#include "model/checkpoints/checkpoint.h"
#include "model/device.h"
#include "model/mixers/find.h"
#include "model/mixers/settings.h"

namespace aft {

namespace {

// The least time of a few rounds, of about a quarter of a second together.
double least_seconds(const std::function<void()>& work) {
    constexpr int kRounds = 8;
    constexpr double kEnough = 0.25;
    work();
    double least = std::numeric_limits<double>::infinity();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kRounds && (i == 0 || seconds_since(start) < kEnough); ++i) {
        const auto round = std::chrono::steady_clock::now();
        work();
        least = std::min(least, seconds_since(round));
    }
    return std::max(least, 1e-9);
}

CostRates measured_rates(const std::string& name) {
    constexpr int64_t kSide = 768, kNumbers = int64_t{1} << 24;
    const at::NoGradGuard no_gradients;
    const at::Device device = parse_device(name);
    const auto options = at::TensorOptions().dtype(at::kFloat).device(device);
    const at::Tensor a = at::full({kSide, kSide}, 0.5, options), b = at::ones_like(a);
    const at::Tensor from = at::ones({kNumbers}, options);
    at::Tensor product = at::empty_like(a), to = at::empty_like(from);
    // Reading a number waits for the device.
    const double multiply = least_seconds([&] {
        at::mm_out(product, a, b);
        static_cast<void>(product.view({-1})[0].item<float>());
    });
    const double copy = least_seconds([&] {
        to.copy_(from);
        static_cast<void>(to[0].item<float>());
    });
    constexpr auto kN = static_cast<double>(kSide);
    return {.flops_per_second = 2 * kN * kN * kN / multiply,
            .bytes_per_second = 2 * 4 * static_cast<double>(kNumbers) / copy,
            .device = device.str()};
}

CostSeconds seconds_of(const LayerCost& cost, const CostRates& rates) {
    const auto larger = [&](double flops, double bytes) {
        return std::max(flops / rates.flops_per_second, bytes / rates.bytes_per_second);
    };
    const double weights = 4 * cost.parameters, kept = cost.kept_bytes;
    return {.forward = larger(cost.forward_flops, weights + 2 * kept),
            .train = larger(cost.forward_flops + cost.backward_flops, 3 * weights + 4 * kept),
            .token = larger(cost.decode_flops, weights + cost.state_bytes)};
}

std::vector<int64_t> lengths_of(const CostRequest& request, int64_t tokens) {
    std::vector<int64_t> lengths = request.lengths;
    for (const int64_t length : lengths)
        if (length < 1 || length > kMostCostTokens)
            fail_usage("--length: found {}; allowed: 1 to {} tokens", length, kMostCostTokens);
    if (lengths.empty())
        for (const int64_t length :
             {tokens / 4, tokens / 2, tokens, 2 * tokens, 4 * tokens, 8 * tokens})
            if (length >= 1 && length <= kMostCostTokens) lengths.push_back(length);
    std::sort(lengths.begin(), lengths.end());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    if (lengths.size() > kMostCostLengths)
        fail_usage("--length: found {} lengths; allowed: at most {}", lengths.size(),
                   kMostCostLengths);
    return lengths;
}

// The model with another mixer.
struct MixerVariant {
    ModelConfig model;
    std::vector<std::string> changed = {};
    void set(const std::string& name, int64_t value) {
        model.own[name] = value;
        changed.push_back(fmt::format("model.{}={}", name, value));
    }
    [[nodiscard]] std::string problem() const {
        return error_words([this] { model.check(); });
    }
};

// As the model is where it can be; else with one head, or a usual window (32, for kernels 11: the
// paper's Tables 4, 5 and 7). That window also where the model's own mixer has none.
MixerVariant variant_of(const Config& config, const std::string& mixer, std::string& problem) {
    constexpr int64_t kWindow = 32, kTaps = 11;
    MixerVariant plain{config.model};
    plain.model.mixer = mixer;
    if (mixer == config.model.mixer) return plain;
    const int64_t window = mixer_traits(plain.model).has_kernel() ? kTaps : kWindow;
    if (unread_settings(config).contains("model.window") &&
        config.model.own.read<KernelSettings>().window == 0) {
        Config other = config;
        other.model = plain.model;
        if (!unread_settings(other).contains("model.window")) plain.set("window", window);
    }
    problem = plain.problem();
    for (int tried = 1; tried < 4 && !problem.empty(); ++tried) {
        MixerVariant changed = plain;
        if ((tried & 1) != 0) changed.set("heads", 1);
        if ((tried & 2) != 0) changed.set("window", window);
        if (!changed.problem().empty()) continue;
        problem.clear();
        return changed;
    }
    return plain;
}

// Own mixers that no list shows come first.
std::vector<std::string> shown_mixers(const ModelConfig& model) {
    std::vector<std::string> names;
    for (const MixerRoom& room : mixers()) names.push_back(room.info.name);
    if (std::find(names.begin(), names.end(), model.mixer) == names.end())
        names.insert(names.begin(), model.mixer);
    return names;
}

void add_cost_rows(CostResult& result, const std::string& mixer,
                   const std::vector<int64_t>& lengths) {
    std::string problem;
    const MixerVariant variant = variant_of(result.config, mixer, problem);
    const bool is_own = mixer == result.config.model.mixer;
    if (problem.empty() && find_mixer(mixer).cost == nullptr) problem = "it states no cost";
    if (!problem.empty()) {
        result.gaps.push_back({.mixer = mixer, .tokens = 0, .reason = problem});
        return;
    }
    const CostShape own = shape_of(variant.model);
    for (const int64_t length : lengths) {
        CostShape shape = own;
        if (length != own.tokens) {
            shape = {.tokens = length, .grid_height = 1, .grid_width = length};
            if (!has_grid_like(variant.model, shape) && mixer_traits(variant.model).on_grid) {
                result.gaps.push_back(
                    {.mixer = mixer,
                     .tokens = length,
                     .reason = fmt::format("no grid of {} tokens is like {} x {}", length,
                                           own.grid_height, own.grid_width)});
                continue;
            }
        }
        const MixerCost cost = mixer_cost(variant.model, shape);
        result.rows.push_back({.mixer = mixer,
                               .is_own = is_own,
                               .changed = variant.changed,
                               .shape = shape,
                               .cost = cost,
                               .seconds = seconds_of(cost.layer, result.rates)});
    }
}

CostResult cost_of(const CostRequest& request) {
    CostResult result;
    result.config = request.config;
    if (!request.model.empty()) {
        result.file = resolve_model(request.model).string();
        const Checkpoint checkpoint = read_checkpoint(request.model);
        check_whole(checkpoint, "inspect --cost");
        result.config = checkpoint.config;
    }
    const ModelConfig& model = result.config.model;
    result.tokens = model.tokens();
    result.decodes = model.causal();
    const std::vector<int64_t> lengths = lengths_of(request, result.tokens);
    result.net = net_cost(model, shape_of(model));
    result.rates = measured_rates(request.device);
    for (const NetPart& part : result.net.parts) {
        const CostSeconds seconds = seconds_of(part.cost, result.rates);
        result.seconds.forward += seconds.forward;
        result.seconds.train += seconds.train;
        result.seconds.token += seconds.token;
    }
    for (const std::string& mixer : shown_mixers(model)) add_cost_rows(result, mixer, lengths);
    return result;
}

}  // namespace

CostResult cost_job(const CostRequest& request) {
    CostResult result;
    with_plain_errors([&] { result = cost_of(request); });
    return result;
}

}  // namespace aft
