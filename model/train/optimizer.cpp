#include "model/train/optimizer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/check.h"
#include "model/nn/cpu/row_kernels.h"

namespace aft {
namespace {

bool is_ours(const at::Tensor& x) {  // for the kernels of nn/cpu
    return x.defined() && x.is_cpu() && x.scalar_type() == at::kFloat && x.is_contiguous();
}

// A stretch of one parameter.
struct Piece {
    size_t parameter = 0;
    int64_t first = 0, count = 0;
};

std::vector<Piece> pieces_of(const Parameters& parameters, const Shards& shards) {
    std::vector<Piece> pieces;
    for (size_t i = 0; i < parameters.size(); ++i) {
        const at::Tensor grad = parameters[i].value.grad();
        if (!is_ours(grad) || !is_ours(parameters[i].value)) continue;
        const int64_t end = shards[i].first + shards[i].count;
        for (int64_t first = shards[i].first; first < end; first += kPieceValues)
            pieces.push_back({i, first, std::min(kPieceValues, end - first)});
    }
    return pieces;
}

bool is_whole(const at::Tensor& value, const Shard& shard) {
    return shard.count == value.numel();
}

// The part of a tensor that a shard is: itself, or a view [count].
at::Tensor part_of(const at::Tensor& tensor, const Shard& shard) {
    if (is_whole(tensor, shard)) return tensor;
    return tensor.view({-1}).narrow(0, shard.first, shard.count);
}

// Calls f(piece) for all of them on all threads.
template <class F>
void each_piece(const std::vector<Piece>& pieces, const F& f) {
#pragma omp parallel for schedule(static) if (pieces.size() > 8)
    for (const Piece& piece : pieces) f(piece);
}

double sum_of_squares(const at::Tensor& tensor) {
    const at::Tensor wide = tensor.to(at::kDouble);
    return wide.mul(wide).sum().item<double>();
}

// Parameters that share a learning rate and a decay: one fused pass over all of them.
struct UpdateGroup {
    std::vector<at::Tensor> values{}, grads{}, exp_avgs{}, exp_avg_sqs{}, max_exp_avg_sqs{},
        steps{};
    double learning_rate = 0, weight_decay = 0;
};

enum UpdateKind { kDecayed, kPlain, kBias, kKinds };

UpdateKind kind_of(ParameterGroup group) {
    if (group == ParameterGroup::linear_weight) return kDecayed;
    return group == ParameterGroup::position_bias ? kBias : kPlain;
}

nn::cpu::Update update_of(const TrainConfig& config, const UpdateGroup& group, int64_t steps) {
    const auto t = static_cast<double>(steps);
    const double rate = group.learning_rate / (1 - std::pow(config.beta1, t));
    const double spread = 1 / std::sqrt(1 - std::pow(config.beta2, t));
    return {.beta1 = static_cast<float>(config.beta1),
            .beta2 = static_cast<float>(config.beta2),
            .eps = static_cast<float>(config.eps),
            .keep = static_cast<float>(1 - group.learning_rate * group.weight_decay),
            .rate = static_cast<float>(rate),
            .spread = static_cast<float>(spread)};
}

struct ParameterSlot {
    at::Tensor value, grad, exp_avg, exp_avg_sq;
};

void add_to(UpdateGroup& group, const ParameterSlot& slot, int64_t steps) {
    group.values.push_back(slot.value);
    group.grads.push_back(slot.grad);
    group.exp_avgs.push_back(slot.exp_avg);
    group.exp_avg_sqs.push_back(slot.exp_avg_sq);
    group.steps.push_back(
        at::full({}, static_cast<double>(steps), slot.value.options().requires_grad(false)));
}

// On a device, or in another type than float32.
void update_with_libtorch(UpdateGroup& group, const TrainConfig& config, double scale) {
    if (group.values.empty()) return;
    if (scale != 1) at::_foreach_mul_(group.grads, scale);
    at::_fused_adamw_(group.values, group.grads, group.exp_avgs, group.exp_avg_sqs,
                      group.max_exp_avg_sqs, group.steps, group.learning_rate, config.beta1,
                      config.beta2, group.weight_decay, config.eps, /*amsgrad=*/false,
                      /*maximize=*/false);
}

}  // namespace

AdamW::AdamW(Parameters& parameters, Shards shards)
    : parameters_(parameters), shards_(std::move(shards)) {
    if (shards_.empty())
        for (const Parameter& parameter : parameters_)
            shards_.push_back({0, parameter.value.numel()});
    const c10::NoGradGuard no_grad;
    for (size_t i = 0; i < parameters_.size(); ++i) {
        const at::Tensor part = part_of(parameters_[i].value.detach(), shards_[i]);
        state_.exp_avg.push_back(at::zeros_like(part));
        state_.exp_avg_sq.push_back(at::zeros_like(part));
    }
}

std::vector<std::vector<double>> AdamW::piece_squares() const {
    // Pieces of a fixed size, summed in order, so that clipping repeats bit for bit.
    const std::vector<Piece> pieces = pieces_of(parameters_, shards_);
    std::vector<double> parts(pieces.size());
    each_piece(pieces, [&](const Piece& piece) {
        const at::Tensor& grad = parameters_[piece.parameter].value.grad();
        parts[static_cast<size_t>(&piece - pieces.data())] =
            nn::cpu::row_kernels().squares(grad.const_data_ptr<float>() + piece.first, piece.count);
    });
    std::vector<std::vector<double>> squares(parameters_.size());
    for (size_t i = 0; i < pieces.size(); ++i) squares[pieces[i].parameter].push_back(parts[i]);
    for (size_t i = 0; i < parameters_.size(); ++i) {
        const at::Tensor& grad = parameters_[i].value.grad();
        if (grad.defined() && (!is_ours(grad) || !is_ours(parameters_[i].value)))
            squares[i].push_back(sum_of_squares(part_of(grad, shards_[i])));
    }
    return squares;
}

std::vector<double> AdamW::squared_norms() const {
    std::vector<double> sums;
    for (const std::vector<double>& pieces : piece_squares()) {
        double sum = 0;
        for (const double square : pieces) sum += square;
        sums.push_back(sum);
    }
    return sums;
}

void AdamW::update_clipped(const TrainConfig& config, double learning_rate, double norm) {
    AFT_ASSERT(std::isfinite(norm));
    const c10::NoGradGuard no_grad;
    state_.steps += 1;
    const double scale = config.clip > 0 && norm > config.clip ? config.clip / norm : 1;
    const double bias_rate = learning_rate * config.bias_learning_rate_scale;
    UpdateGroup groups[kKinds];
    groups[kDecayed] = {.learning_rate = learning_rate, .weight_decay = config.weight_decay};
    groups[kPlain] = {.learning_rate = learning_rate};
    groups[kBias] = {.learning_rate = bias_rate, .weight_decay = config.bias_weight_decay};
    const auto group_of = [&](size_t i) -> UpdateGroup& {
        return groups[kind_of(parameters_[i].group)];
    };
    each_piece(pieces_of(parameters_, shards_), [&](const Piece& piece) {
        const size_t i = piece.parameter;
        if (is_frozen(i)) return;
        const int64_t place = piece.first - shards_[i].first;
        nn::cpu::Update update = update_of(config, group_of(i), state_.steps);
        update.value = parameters_[i].value.data_ptr<float>() + piece.first;
        update.first = state_.exp_avg[i].data_ptr<float>() + place;
        update.second = state_.exp_avg_sq[i].data_ptr<float>() + place;
        update.grad = parameters_[i].value.grad().const_data_ptr<float>() + piece.first;
        update.n = piece.count;
        update.grad_scale = static_cast<float>(scale);
        nn::cpu::row_kernels().update(update);
    });
    for (size_t i = 0; i < parameters_.size(); ++i) {
        const at::Tensor &value = parameters_[i].value, &grad = value.grad();
        if (!grad.defined() || (is_ours(grad) && is_ours(value))) continue;
        if (shards_[i].count == 0 || is_frozen(i)) continue;
        add_to(group_of(i),
               {part_of(value.detach(), shards_[i]), part_of(grad, shards_[i]), state_.exp_avg[i],
                state_.exp_avg_sq[i]},
               state_.steps);
    }
    for (UpdateGroup& group : groups) update_with_libtorch(group, config, scale);
}

void AdamW::zero_grad() {
    for (Parameter& parameter : parameters_) parameter.value.mutable_grad().reset();
}

double scheduled_rate(const TrainConfig& config, int64_t step) {
    const double at = static_cast<double>(step + 1);  // the first step is not wasted at rate 0
    const double warmup = static_cast<double>(std::max<int64_t>(config.warmup, 0));
    if (config.schedule == "inverse-sqrt") {
        if (warmup == 0) return config.learning_rate / std::sqrt(at);
        return config.learning_rate * std::min(at / warmup, std::sqrt(warmup / at));
    }
    const double ramp = warmup > 0 ? std::min(1.0, at / warmup) : 1.0;
    if (config.schedule == "constant" || ramp < 1) return config.learning_rate * ramp;
    AFT_ASSERT(config.schedule == "cosine");
    constexpr double kLast = 0.02;
    const double length =
        static_cast<double>(config.schedule_steps > 0 ? config.schedule_steps : config.steps);
    const double part = std::clamp((at - warmup) / std::max(1.0, length - warmup), 0.0, 1.0);
    const double fall = 0.5 * (1 + std::cos(std::numbers::pi * part));
    return config.learning_rate * (kLast + (1 - kLast) * fall);
}

}  // namespace aft
