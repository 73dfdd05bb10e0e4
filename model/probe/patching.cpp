// patching: where in the network the difference between two inputs A and B decides. The residual
// stream of A after a layer is replaced by that of B at a group of positions, everything else of A
// stays; the result is how much that changes A's loss (activation patching: Vig et al. 2020, Meng
// et al. 2022). Groups: the rows of a picture (of its patches), 16 spans of a text. position=t: the
// loss of that token alone, else the mean over all; of a classifier the loss of the class that it
// gives A. Cost: one forward pass of each group and layer, at most 16384 tokens at once.
#include <ATen/ATen.h>

#include <algorithm>

#include "model/probe/parts.h"

namespace aft {

ProbeRoom patching_probe();

namespace {

constexpr int64_t kTokensAtOnce = 16384, kSpans = 16;

// Of each position its group; what stands before the grid is in a group of its own, the last one.
at::Tensor groups_of(const ModelConfig& model, int64_t T) {
    const at::Tensor i = at::arange(T, at::kLong);
    if (task_traits(model).is_text()) return at::floor_divide(i * std::min(kSpans, T), T);
    const at::Tensor place = i - model.prefix_tokens();
    return at::where(place < 0, model.grid_height(), at::floor_divide(place, model.grid_width()));
}

class TwoInputs {
  public:
    TwoInputs(const ProbeContext& context, const ProbeRequest& request)
        : context_(context), model_(context.net.config()) {
        const size_t half = request.tokens.size() / 2;
        if (half == 0 || request.tokens.size() % 2 != 0)
            fail_usage("probe patching compares two inputs of one length");
        const auto begin = request.tokens.begin();
        const at::Device device = context.net.parameters().front().value.device();
        const auto input = [&](size_t from) {
            const auto at = begin + static_cast<int64_t>(from);
            return probe::net_input(model_, {at, at + static_cast<int64_t>(half)}).to(device);
        };
        first_ = input(0);
        const at::Tensor second = input(half);
        const StreamEdit keep = [&](int64_t, const at::Tensor& x) {
            streams_.push_back(x.clone());
            return x;
        };
        Pass pass;
        pass.edit = &keep;
        static_cast<void>(context.net.forward(second, pass));
        const int64_t last = model_.causal() ? first_.size(1) - 1 : 0;
        position_ = probe::number(request, "position", 0, last);
        const at::Tensor logits = context.net.forward(first_, Pass{});
        answer_ = model_.causal() ? first_ : logits.argmax(-1);
        untouched_ = loss(logits).item<double>();
    }

    // Loss of A by group, [groups], its stream after `layer` replaced in one group each.
    [[nodiscard]] at::Tensor patched(int64_t layer) const {
        const at::Tensor& other = streams_[static_cast<size_t>(layer)];
        const int64_t T = other.size(1);
        const at::Tensor groups = groups_of(model_, T).to(other.device());
        const int64_t count = groups.max().item<int64_t>() + 1;
        const int64_t at_once = std::clamp<int64_t>(kTokensAtOnce / T, 1, count);
        std::vector<at::Tensor> losses;
        for (int64_t i = 0; i < count; i += at_once) {
            if (context_.control.stop.stop_requested()) throw Interrupted();
            const at::Tensor chosen =
                at::arange(i, std::min(i + at_once, count), groups.options()).unsqueeze(1);
            const at::Tensor mask = groups.unsqueeze(0).eq(chosen).unsqueeze(2);  // [G, T, 1]
            const StreamEdit replace = [&](int64_t at, const at::Tensor& x) {
                return at == layer ? at::where(mask, other, x) : x;
            };
            Pass pass;
            pass.edit = &replace;
            std::vector<int64_t> sizes = first_.sizes().vec();
            sizes[0] = chosen.size(0);
            losses.push_back(loss(context_.net.forward(first_.expand(sizes).contiguous(), pass)));
        }
        return at::cat(losses);
    }
    [[nodiscard]] double untouched() const { return untouched_; }

  private:
    // [B], nats
    [[nodiscard]] at::Tensor loss(const at::Tensor& logits) const {
        const at::Tensor logs = at::log_softmax(logits.to(at::kCPU, at::kDouble), -1);
        const at::Tensor target = answer_.to(at::kCPU);
        if (!model_.causal())
            return -logs.gather(1, target.unsqueeze(1).expand({logs.size(0), 1})).squeeze(1);
        const at::Tensor nats =
            -logs.gather(2, target.unsqueeze(2).expand({logs.size(0), -1, 1})).squeeze(2);
        return position_ >= 0 ? nats.select(1, position_) : nats.mean(1);
    }

    const ProbeContext& context_;
    const ModelConfig& model_;
    at::Tensor first_, answer_;        // A as the net takes it, and what it should say
    std::vector<at::Tensor> streams_;  // of B after each block, [1, T, d]
    int64_t position_ = -1;
    double untouched_ = 0;
};

FieldSet run(const ProbeContext& context, const ProbeRequest& request) {
    const TwoInputs inputs(context, request);
    std::vector<at::Tensor> rows;
    for (int64_t layer = 0; layer < context.net.config().layers; ++layer)
        rows.push_back(inputs.patched(layer) - inputs.untouched());
    return {{probe::make_field(at::stack(rows),
                               {"patching",
                                "nats",
                                {"layer", "group"},
                                {{"untouched", fmt::format("{:.6g}", inputs.untouched())}}},
                               context.step)}};
}

}  // namespace

ProbeRoom patching_probe() {
    return {
        .info = {"patching", "what another input's activations, layer by layer, do to the loss"},
        .options = {{"position", {}, ""}},
        .needs = ProbeNeeds::input,
        .takes_two = true,
        .run = run};
}

}  // namespace aft
