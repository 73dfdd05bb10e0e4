// The activations that mixers state are about those that LibTorch's allocator still holds after a
// forward pass with gradients.
#include <ATen/ATen.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "model/mixers/find.h"
#include "tests/model/net/small_nets.h"

namespace aft {
namespace {

// Bytes that this thread has asked for and not given back.
class LiveBytes final : public c10::MemoryReportingInfoBase {
  public:
    void reportMemoryUsage(void*, int64_t bytes, size_t, size_t, c10::Device) override {
        live_ += bytes;
    }
    [[nodiscard]] bool memoryProfilingEnabled() const override { return true; }
    [[nodiscard]] int64_t live() const { return live_; }

  private:
    int64_t live_ = 0;
};

ModelConfig longer_config(const std::string& mixer, const std::string& task, int64_t window) {
    ModelConfig config = small_config(mixer, task);
    config.dim = 32;
    config.channels = 1;
    config.height = config.width = 16;
    config.own["length"] = 256;
    config.own["window"] = window;
    config.own["features"] = 16;
    config.own["stride"] = 16;
    config.own["block_height"] = config.own["block_width"] = 4;
    return config;
}

// Half of the residual sum: what waits for the backward pass, and the result.
double bytes_of_pass(const ModelConfig& config) {
    Parameters parameters;
    ParameterMaker maker(parameters, 1, at::kCPU);
    const std::unique_ptr<Mixer> mixer = find_mixer(config.mixer).make(config, maker, "mixer.");
    const Norm norm = make_norm(maker, config, "norm");
    const at::Tensor x = at::randn({1, config.tokens(), config.dim}).requires_grad_(true);
    MixContext context;
    context.grid_height = config.grid_height();
    context.grid_width = config.grid_width();
    const Dropout dropout;
    const BranchEnd end{&dropout, Arithmetic::fp32};
    const auto bytes = std::make_shared<LiveBytes>();
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, bytes);
    const at::Tensor y = mixer->add_to(x, norm, context, end);
    return y.requires_grad() ? static_cast<double>(bytes->live()) : 0;
}

TEST(CostMemory, StatedActivationsAreAboutThoseThatAreHeld) {
    at::set_num_threads(1);
    size_t seen = 0;
    for (const MixerRoom& room : mixers())
        for (const auto& [task, window] :  // of three sources the averages are made again
             {std::pair{"image", 15}, {"classify", 15}, {"image", 3}, {"classify", 3}}) {
            const ModelConfig config = longer_config(room.info.name, task, window);
            const MixerTraits traits = room.traits(config);
            if (!(config.causal() ? traits.causal : traits.non_causal)) continue;
            SCOPED_TRACE(fmt::format("{} {} {}", room.info.name, task, window));
            const CostShape shape{.tokens = config.tokens(),
                                  .grid_height = config.grid_height(),
                                  .grid_width = config.grid_width()};
            const double stated = mixer_cost(config, shape).layer.kept_bytes;
            const double held = bytes_of_pass(config);
            EXPECT_GT(held, 0.6 * stated);
            EXPECT_LT(held, 1.6 * stated);
            ++seen;
        }
    EXPECT_GT(seen, mixers().size());
}

}  // namespace
}  // namespace aft
