#include "model/train/rank_worker.h"

#include <ATen/ATen.h>

#include <functional>
#include <map>
#include <memory>

#include "core/caught.h"
#include "core/check.h"
#include "core/json.h"
#include "model/device.h"
#include "model/train/trainer.h"
#include "model/train/trainer_ranks.h"

namespace aft {
namespace {

struct Worker {
    RankGroup& group;
    at::Device device;
    std::unique_ptr<Trainer> trainer{};
    int64_t id = -1;  // of the leader's trainer that this one belongs to
};

void begin(Worker& worker, const nlohmann::json& order) {
    const TrainerStart start = receive_start(worker.group, order);
    worker.trainer.reset();
    worker.id = order.at("id").get<int64_t>();
    const std::string problem = error_words(
        [&] {
            worker.trainer =
                start.is_fresh
                    ? std::make_unique<Trainer>(start.checkpoint.config, worker.device,
                                                &worker.group)
                    : std::make_unique<Trainer>(start.checkpoint, worker.device, &worker.group);
        },
        plain_words);
    // Another rank's problem is the leader's to tell; this one waits for what it does next.
    static_cast<void>(error_words([&] { check_started(worker.group, problem); }));
}

void end(Worker& worker, const nlohmann::json& order) {
    if (order.at("id").get<int64_t>() == worker.id) worker.trainer.reset();
}

using Duty = std::function<void(Worker&, const nlohmann::json&)>;
const std::map<std::string, Duty>& duties() {
    static const std::map<std::string, Duty> all{
        {"begin", begin},
        {"end", end},
        {"step", [](Worker& w, const nlohmann::json&) { (void)w.trainer->step(); }},
        {"validate", [](Worker& w, const nlohmann::json&) { (void)w.trainer->validate(); }},
        {"gather", [](Worker& w, const nlohmann::json&) { (void)w.trainer->checkpoint(true); }},
        {"set",
         [](Worker& w, const nlohmann::json& order) {
             w.trainer->set(order.at("key").get<std::string>(),
                            order.at("value").get<std::string>());
         }},
    };
    return all;
}

}  // namespace

void serve_training(RankGroup& group, at::Device device) {
    Worker worker{.group = group, .device = device};
    for (;;) {
        const std::string text = group.broadcast("", Patience::endless);
        if (text.empty()) return;
        const nlohmann::json order = parse_json(text, {.file = "the leader's order"});
        const auto duty = duties().find(order.at(kOrder).get<std::string>());
        AFT_CHECK(duty != duties().end(), "the leader's order '{:.40}' is not known", text);
        AFT_CHECK(worker.trainer || duty->first == "begin" || duty->first == "end",
                  "the leader's order '{}' came before its 'begin'", duty->first);
        const std::string problem = error_words([&] { duty->second(worker, order); }, plain_words);
        if (problem.empty()) continue;
        group.leave(problem);
        fail("{}", problem);
    }
}

}  // namespace aft
