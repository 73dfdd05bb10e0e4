#include "model/train/rank_worker.h"

#include <ATen/ATen.h>

#include <functional>
#include <map>
#include <memory>

#include "core/caught.h"
#include "core/check.h"
#include "core/json.h"
#include "model/system.h"
#include "model/train/trainer.h"
#include "model/train/trainer_ranks.h"

namespace aft {
namespace {

struct RankWorker {
    RankGroup& group;
    at::Device device;
    std::map<int64_t, std::unique_ptr<Trainer>> trainers{};  // by the ids of the leader's
};

int64_t id_of(const nlohmann::json& order) {
    return order.at("id").get<int64_t>();
}

void begin(RankWorker& worker, const nlohmann::json& order) {
    const TrainerStart start = receive_start(worker.group, order);
    std::unique_ptr<Trainer> trainer;
    const std::string problem = error_words(
        [&] {
            trainer = start.is_fresh ? std::make_unique<Trainer>(start.checkpoint.config,
                                                                 worker.device, &worker.group)
                                     : std::make_unique<Trainer>(start.checkpoint, worker.device,
                                                                 &worker.group);
        },
        plain_words);
    if (trainer) worker.trainers[id_of(order)] = std::move(trainer);
    // Another rank's problem is the leader's to tell; this one waits for what it does next.
    static_cast<void>(error_words([&] { check_started(worker.group, problem); }));
}

using Duty = std::function<void(Trainer&, const nlohmann::json&)>;
const std::map<std::string, Duty>& duties() {
    static const std::map<std::string, Duty> all{
        {"step", [](Trainer& trainer, const nlohmann::json&) { (void)trainer.step(); }},
        {"validate", [](Trainer& trainer, const nlohmann::json&) { (void)trainer.validate(); }},
        {"gather", [](Trainer& trainer, const nlohmann::json&) { (void)trainer.checkpoint(true); }},
        {"set",
         [](Trainer& trainer, const nlohmann::json& order) {
             trainer.set(order.at("key").get<std::string>(), order.at("value").get<std::string>());
         }},
    };
    return all;
}

void obey(RankWorker& worker, const nlohmann::json& order) {
    const auto what = order.at(kOrder).get<std::string>();
    if (what == "begin") return begin(worker, order);
    const auto trainer = worker.trainers.find(id_of(order));
    if (what == "end") {
        if (trainer != worker.trainers.end()) worker.trainers.erase(trainer);
        return;
    }
    const auto duty = duties().find(what);
    AFT_CHECK(duty != duties().end() && trainer != worker.trainers.end(),
              "the leader's order '{:.40}' does not fit", what);
    duty->second(*trainer->second, order);
}

}  // namespace

void serve_training(RankGroup& group, at::Device device) {
    RankWorker worker{.group = group, .device = device};
    for (;;) {
        const std::string text = group.broadcast("", Patience::endless);
        if (text.empty()) return;
        const std::string problem = error_words(
            [&] { obey(worker, parse_json(text, {.file = "the leader's order"})); }, plain_words);
        if (problem.empty()) continue;
        group.leave(problem);
        fail("{}", problem);
    }
}

}  // namespace aft
