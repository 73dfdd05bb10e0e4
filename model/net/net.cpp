#include "model/net/net.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "model/mixers/find.h"
#include "model/net/block.h"
#include "model/nn/embedding.h"

namespace aft {

struct Net::Impl {
    ModelConfig config;
    Parameters parameters;
    Embedding embedding;
    std::vector<Block> blocks;
    Norm norm;
    Linear head, distillation_head;

    [[nodiscard]] MixContext context(const Pass& pass, size_t layer) const;
    [[nodiscard]] at::Tensor through_blocks(at::Tensor x, const Pass& pass,
                                            MixContext context) const;
    // y [B, T, d] -> [B, classes]
    [[nodiscard]] at::Tensor class_logits(const at::Tensor& y) const;
};

namespace {

// Before the names of a mixer's parameters: "blocks.3.mixer.", "biases.3".
std::string mixer_prefix(const ModelConfig& config, int64_t layer) {
    const std::string number = std::to_string(layer);
    return task_traits(config).is_bias_alone ? "biases." + number : "blocks." + number + ".mixer.";
}

Block make_block(ParameterMaker& maker, const ModelConfig& config, int64_t layer) {
    Block block;
    const auto mixer = [&] {
        return find_mixer(config.mixer).make(config, maker, mixer_prefix(config, layer));
    };
    if (task_traits(config).is_mixer_alone) {
        block.mixer = mixer();
        return block;
    }
    const std::string name = "blocks." + std::to_string(layer);
    block.norm1 = make_norm(maker, config, name + ".norm1");
    block.mixer = mixer();
    block.norm2 = make_norm(maker, config, name + ".norm2");
    block.mlp = make_mlp(maker, config, name + ".mlp");
    return block;
}

void show(const Tap* tap, const std::string& name, const at::Tensor& value) {
    if (tap != nullptr) (*tap)(name, value);
}

void require_whole(const ModelConfig& config) {
    if (task_traits(config).is_bias_alone)
        fail_usage("the model is position biases alone: nothing can be computed with it");
    if (task_traits(config).is_mixer_alone)
        fail_usage(
            "the model is a mixer alone, without embedding, norms, MLPs and head: only its mixers "
            "run (--part mixer --layer N)");
}

// The targets moved one to the right: [-1, t_0, ..., t_(T'-2)].
at::Tensor shifted(const at::Tensor& targets) {
    if (targets.dim() != 2 || targets.size(1) < 1)
        fail_usage("tokens are int64 [B, T] with T of at least 1, found {} dimensions",
                   targets.dim());
    const at::Tensor start = at::full({targets.size(0), 1}, -1, targets.options());
    return at::cat({start, targets.narrow(1, 0, targets.size(1) - 1)}, 1);
}

}  // namespace

MixContext Net::Impl::context(const Pass& pass, size_t layer) const {
    MixContext context;
    context.backend = pass.backend;
    context.arithmetic = pass.arithmetic;
    context.grid_height = config.grid_height();
    context.grid_width = config.grid_width();
    context.layer = static_cast<int64_t>(layer);
    if (pass.training) context.noise = pass.noise;
    context.tap = pass.tap;
    if (pass.tap != nullptr) context.prefix = "blocks." + std::to_string(layer) + ".";
    return context;
}

// context: of layer 0, with the grid of this input
at::Tensor Net::Impl::through_blocks(at::Tensor x, const Pass& pass, MixContext context) const {
    const double rate = pass.dropout_rate < 0 ? config.dropout : pass.dropout_rate;
    const double last_skip = pass.training ? pass.stochastic_depth : 0;
    Dropout dropout{pass.training ? rate : 0, pass.dropout};
    const bool recompute = pass.recompute && at::GradMode::is_enabled();
    show(pass.tap, "embedding", x);
    for (size_t i = 0; i < blocks.size(); ++i) {
        context.layer = static_cast<int64_t>(i);
        if (pass.tap != nullptr) context.prefix = "blocks." + std::to_string(i) + ".";
        if (i > 0)
            dropout.skip_rate =
                last_skip * static_cast<double>(i) / static_cast<double>(blocks.size() - 1);
        x = recompute ? blocks[i].forward_recomputed(x, context, dropout)
                      : blocks[i].forward(x, context, dropout);
        show(pass.tap, context.prefix + "out", x);
        if (pass.edit != nullptr) x = (*pass.edit)(static_cast<int64_t>(i), x);
    }
    return norm(x);
}

at::Tensor Net::Impl::class_logits(const at::Tensor& y) const {
    if (config.prefix_tokens() == 0) return head(y.mean(1));
    const at::Tensor logits = head(y.select(1, 0));
    if (!distillation_head.weight.defined()) return logits;
    return (logits + distillation_head(y.select(1, 1))) / 2;
}

Net::Net(const ModelConfig& config, std::optional<uint64_t> seed, at::Device device)
    : impl_(std::make_unique<Impl>()) {
    config.check();
    Impl& p = *impl_;
    p.config = config;
    ParameterMaker maker(p.parameters, seed, device);
    const bool is_whole = !task_traits(config).is_mixer_alone;
    if (is_whole) p.embedding = make_embedding(maker, config);
    p.blocks.reserve(static_cast<size_t>(config.layers));
    for (int64_t i = 0; i < config.layers; ++i) {
        const size_t first = p.parameters.size();
        p.blocks.push_back(make_block(maker, config, i));
        for (size_t k = first; k < p.parameters.size(); ++k)
            if (p.parameters[k].group != ParameterGroup::fixed)
                p.blocks.back().parameters.push_back(p.parameters[k].value);
    }
    if (!is_whole) return;
    p.norm = make_norm(maker, config, "norm");
    p.head = make_head(maker, config);
    p.distillation_head = make_distillation_head(maker, config);
}

Net::~Net() = default;
Net::Net(Net&&) noexcept = default;

at::Tensor Net::forward(const at::Tensor& input, const Pass& pass) const {
    const Impl& p = *impl_;
    require_whole(p.config);
    if (p.config.causal()) return forward_fed(shifted(input), pass);
    const at::Tensor x = p.embedding.patches(input, p.config);
    MixContext context = p.context(pass, 0);
    const int64_t patch = p.config.own.read<PatchSettings>().patch;
    context.grid_height = input.size(2) / patch;
    context.grid_width = input.size(3) / patch;
    const at::Tensor y = p.through_blocks(x, pass, context);
    const at::Tensor logits = p.class_logits(y);
    show(pass.tap, "logits", logits);
    return logits;
}

at::Tensor Net::forward_fed(const at::Tensor& fed, const Pass& pass) const {
    const Impl& p = *impl_;
    require_whole(p.config);
    if (!p.config.causal()) fail_usage("a classifier takes `image`, not `tokens`");
    const at::Tensor x = p.embedding.tokens(fed);
    const at::Tensor logits = p.head(p.through_blocks(x, pass, p.context(pass, 0)));
    show(pass.tap, "logits", logits);
    return logits;
}

at::Tensor Net::forward_layer(int64_t layer, bool whole_block, const at::Tensor& x) const {
    const Impl& p = *impl_;
    if (task_traits(p.config).is_bias_alone) require_whole(p.config);
    if (layer < 0 || layer >= p.config.layers)
        fail_usage("layer {} does not exist; allowed: 0 to {}", layer, p.config.layers - 1);
    if (x.dim() != 3 || x.size(2) != p.config.dim)
        fail_usage("x is [B, T, {}], found {} dimensions{}", p.config.dim, x.dim(),
                   x.dim() == 3 ? fmt::format(" and {} channels", x.size(2)) : "");
    const Block& block = p.blocks[static_cast<size_t>(layer)];
    MixContext context = p.context({}, static_cast<size_t>(layer));
    const int64_t grid = context.grid_height * context.grid_width;
    if (mixer_traits(p.config).on_grid && !p.config.causal() && x.size(1) != grid) {
        // Another image size: only a square grid follows from its number of tokens.
        const auto side = std::llround(std::sqrt(static_cast<double>(x.size(1))));
        if (side * side != x.size(1))
            fail_usage("x has {} tokens; allowed: {} ({} x {}) or a square number", x.size(1), grid,
                       context.grid_height, context.grid_width);
        context.grid_height = context.grid_width = side;
    }
    if (!block.norm1.weight.defined()) {  // a mixer alone
        if (whole_block) require_whole(p.config);
        return block.mixer->forward(x, context);
    }
    if (whole_block) return block.forward(x, context, {});
    return block.mixer->forward(block.norm1(x), context);
}

at::Tensor Net::penalty() const {
    at::Tensor sum;
    for (const Block& block : impl_->blocks) {
        const at::Tensor part = block.mixer->penalty();
        if (part.defined()) sum = sum.defined() ? sum + part : part;
    }
    return sum;
}

NetState Net::start(int64_t batch) const {
    require_whole(impl_->config);
    if (!impl_->config.causal()) fail_usage("a classifier has no next token");
    NetState state;
    for (const Block& block : impl_->blocks) state.layers.push_back(block.mixer->start(batch));
    return state;
}

at::Tensor Net::step(const at::Tensor& tokens, NetState& state) const {
    const at::NoGradGuard no_gradients;
    const Impl& p = *impl_;
    at::Tensor x = p.embedding.one(tokens, state.position);
    for (size_t i = 0; i < p.blocks.size(); ++i) x = p.blocks[i].step(x, *state.layers[i]);
    ++state.position;
    return p.head(p.norm(x));
}

Parameters& Net::parameters() {
    return impl_->parameters;
}
const Parameters& Net::parameters() const {
    return impl_->parameters;
}
const ModelConfig& Net::config() const {
    return impl_->config;
}
const Mixer& Net::mixer(int64_t layer) const {
    AFT_ASSERT(layer >= 0 && layer < impl_->config.layers);
    return *impl_->blocks[static_cast<size_t>(layer)].mixer;
}

void set_bias(Net& net, int64_t layer, const at::Tensor& w) {
    Net::Impl& p = *net.impl_;
    AFT_ASSERT(layer >= 0 && layer < p.config.layers);
    const at::Device device = p.parameters.front().value.device();
    Parameters made;
    ParameterMaker maker(made, 0, device);
    auto* const mixer = dynamic_cast<GivenBias*>(p.blocks[static_cast<size_t>(layer)].mixer.get());
    if (mixer == nullptr)
        fail_usage("layer {} is {}: its position bias cannot be changed", layer, p.config.mixer);
    mixer->set_bias(w.to(device), maker, mixer_prefix(p.config, layer));
    for (Parameter& parameter : made) parameter.value.set_requires_grad(false);
    const auto is_replaced = [&](const Parameter& one) {
        return one.layer == layer && one.group == ParameterGroup::position_bias;
    };
    const auto first = std::find_if(p.parameters.begin(), p.parameters.end(), is_replaced);
    const auto place = first - p.parameters.begin();
    std::erase_if(p.parameters, is_replaced);
    p.parameters.insert(p.parameters.begin() + place, made.begin(), made.end());
}

NetState NetState::clone() const {
    NetState copy;
    copy.position = position;
    for (const auto& layer : layers) copy.layers.push_back(layer->clone());
    return copy;
}

void NetState::select(const at::Tensor& rows) {
    for (const auto& layer : layers) layer->select(rows);
}

int64_t parameter_count(const Parameters& parameters) {
    int64_t count = 0;
    for (const Parameter& parameter : parameters) count += parameter.value.numel();
    return count;
}

void copy_values(const Parameters& from, Parameters& to) {
    const at::NoGradGuard no_gradients;
    AFT_ASSERT(from.size() == to.size());
    for (size_t i = 0; i < from.size(); ++i) {
        AFT_ASSERT(from[i].name == to[i].name);
        to[i].value.copy_(from[i].value);
    }
}

}  // namespace aft
