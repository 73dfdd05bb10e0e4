#include "model/train/trainer_ranks.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <bit>
#include <cstring>

#include "core/check.h"
#include "core/json.h"
#include "core/outside.h"
#include "model/distributed/local_ranks.h"

namespace aft {
namespace {

using Json = nlohmann::json;
using Tensors = std::vector<std::pair<std::string, at::Tensor>>;

Json parse_said(const RankGroup& group, int rank, const std::string& text) {
    return parse_json(text, {.file = group.name(rank)});
}

Json rows_of(const Tensors& tensors) {
    Json rows = Json::array();
    for (const auto& [name, tensor] : tensors)
        rows.push_back({name, static_cast<int>(tensor.scalar_type()), tensor.sizes().vec()});
    return rows;
}

void broadcast(RankGroup& group, const at::Tensor& tensor) {
    AFT_ASSERT(tensor.is_contiguous() && tensor.is_cpu());
    group.broadcast(std::span(static_cast<char*>(tensor.data_ptr()), tensor.nbytes()));
}

Tensors receive(RankGroup& group, const Json& rows) {
    Tensors tensors;
    for (const Json& row : rows) {
        const auto type = static_cast<at::ScalarType>(row.at(1).get<int>());
        at::Tensor tensor = at::empty(row.at(2).get<std::vector<int64_t>>(), type);
        broadcast(group, tensor);
        tensors.emplace_back(row.at(0).get<std::string>(), std::move(tensor));
    }
    return tensors;
}

// One state tensor of all shards, at the leader; shards of others stay 0.
at::Tensor gather_whole(RankGroup& group, const std::vector<int64_t>& parts, const at::Tensor& mine,
                        const at::Tensor& like) {
    const auto me = static_cast<size_t>(group.rank());
    std::vector<int64_t> sent(parts.size(), 0), received(parts.size(), 0);
    sent[0] = parts[me];
    at::Tensor whole = at::zeros_like(like, at::TensorOptions().device(at::kCPU));
    if (group.rank() == 0) received = parts;
    at::Tensor part = mine.detach().to(at::kCPU).contiguous();
    group.exchange({sent, part.data_ptr<float>()}, {received, whole.data_ptr<float>()});
    return whole;
}

}  // namespace

void TrainerRanks::order(const std::string& what, Json more) {
    if (group_.rank() != 0) return;
    more[kOrder] = what;
    more["id"] = id_;
    (void)group_.broadcast(json_text(more));
}

void TrainerRanks::merge(StepTotals& totals, std::string& failure) {
    const std::vector<std::string> said = group_.gather(json_text(
        Json{{"parts", totals.to_json()}, {"failure", failure}, {"stop", is_stop_asked()}}));
    std::vector<Json> parts;
    failure.clear();
    for (size_t rank = 0; rank < said.size(); ++rank) {
        const Json one = parse_said(group_, static_cast<int>(rank), said[rank]);
        parts.push_back(one.at("parts"));
        stops_ = stops_ || one.at("stop").get<bool>();
        const auto words = one.at("failure").get<std::string>();
        if (!words.empty() && failure.empty())
            failure = fmt::format("{}: {}", group_.name(static_cast<int>(rank)), printable(words));
    }
    totals.merge(parts);
}

std::vector<double> TrainerRanks::squared_norms(const AdamW& optimizer) {
    if (!has_shards_) return optimizer.squared_norms();
    const std::vector<std::string> said = group_.gather(json_text(Json(optimizer.piece_squares())));
    std::vector<double> sums(optimizer.shards().size(), 0);
    for (size_t rank = 0; rank < said.size(); ++rank) {
        const Json pieces = parse_said(group_, static_cast<int>(rank), said[rank]);
        for (size_t i = 0; i < sums.size(); ++i)
            for (const Json& square : pieces.at(i))
                sums[i] += square.is_number() ? square.get<double>()
                                              : std::numeric_limits<double>::quiet_NaN();
    }
    return sums;
}

OptimizerState TrainerRanks::gather(const AdamW& optimizer, const Parameters& parameters) {
    const OptimizerState& state = optimizer.state();
    if (!has_shards_) return state;
    OptimizerState whole{.exp_avg = {}, .exp_avg_sq = {}, .steps = state.steps};
    for (size_t i = 0; i < parameters.size(); ++i) {
        const std::vector<int64_t> parts = buckets_.parts_of(i);
        const at::Tensor like = parameters[i].value.detach();
        whole.exp_avg.push_back(gather_whole(group_, parts, state.exp_avg[i], like));
        whole.exp_avg_sq.push_back(gather_whole(group_, parts, state.exp_avg_sq[i], like));
    }
    return whole;
}

BatchPart batch_part(const TrainConfig& train, int rank, int ranks) {
    const int64_t first = train.batch * rank / ranks, last = train.batch * (rank + 1) / ranks;
    const int64_t most = (train.batch + ranks - 1) / ranks;
    const int64_t size = train.micro_batch > 0 ? std::min(train.micro_batch, most) : most;
    return {
        .first = first, .count = last - first, .first_micro = rank * ((most + size - 1) / size)};
}

void check_ranks(const TrainConfig& train, int ranks) {
    if (train.batch < ranks)
        fail_usage("train.batch is {}; with {} ranks it must be at least {}", train.batch, ranks,
                   ranks);
    if (!train.reproducible) return;
    const int64_t micro = train.micro_batch > 0 ? train.micro_batch : train.batch;
    const int64_t micros = train.batch / micro;
    if (train.batch % micro != 0 || !std::has_single_bit(static_cast<uint64_t>(micros)) ||
        micros % ranks != 0)
        fail_usage(
            "train.reproducible: train.batch / train.micro_batch is {}/{}; it must be a power of "
            "two{}",
            train.batch, micro,
            ranks > 1 ? fmt::format(" and a multiple of the {} ranks", ranks) : "");
}

void send_start(RankGroup& group, int64_t id, const Config& config, const Checkpoint* checkpoint) {
    Json order{{kOrder, "begin"}, {"id", id}, {"config", config_to_json(config)}};
    if (checkpoint != nullptr) {
        order["step"] = checkpoint->step;
        order["metrics"] = checkpoint->metrics;
        order["weights"] = rows_of(checkpoint->weights);
        order["optimizer"] = rows_of(checkpoint->optimizer);
    }
    (void)group.broadcast(json_text(order));
    if (checkpoint == nullptr) return;
    for (const auto* list : {&checkpoint->weights, &checkpoint->optimizer})
        for (const auto& [name, tensor] : *list) broadcast(group, tensor.cpu().contiguous());
}

TrainerStart receive_start(RankGroup& group, const Json& order) {
    TrainerStart start;
    start.checkpoint.config = config_from_json(order.at("config"), "the leader's settings");
    start.is_fresh = !order.contains("weights");
    if (start.is_fresh) return start;
    start.checkpoint.step = order.at("step").get<int64_t>();
    start.checkpoint.metrics = order.at("metrics");
    start.checkpoint.weights = receive(group, order.at("weights"));
    start.checkpoint.optimizer = receive(group, order.at("optimizer"));
    return start;
}

void check_started(RankGroup& group, const std::string& problem) {
    const std::vector<std::string> problems = group.gather(problem);
    for (size_t rank = 0; rank < problems.size(); ++rank)
        if (!problems[rank].empty())
            fail("{}: {}", group.name(static_cast<int>(rank)), printable(problems[rank]));
}

}  // namespace aft
