#include "model/jobs/sweep/sweep_store.h"

#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/files.h"
#include "core/json.h"

namespace aft {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kMostStoredBytes = uint64_t{16} << 20;

Json plan_json(const SweepPlan& plan) {
    Json json{{"name", plan.name},   {"config", config_to_json(plan.base)},
              {"seeds", plan.seeds}, {"split", plan.split},
              {"limit", plan.limit}, {"points", Json::array()}};
    if (!plan.from.empty()) json["from"] = plan.from;
    for (const SweepPoint& point : plan.points)
        json["points"].push_back({{"name", point.name}, {"settings", point.settings}});
    return json;
}

fs::path run_file(const SweepRun& run) {
    return fs::path(run.folder) / "sweep.json";
}

}  // namespace

void open_sweep_folder(const fs::path& out, const SweepPlan& plan, bool resume) {
    const fs::path file = out / "sweep.json";
    const Json wanted = plan_json(plan);
    std::error_code unknown;
    if (!fs::exists(file, unknown)) {
        if (resume) fail_usage("{}: there is no sweep to resume", out.string());
        if (fs::exists(out, unknown) && !fs::is_empty(out, unknown))
            fail_usage("{}: is there already and holds something else; choose another --out",
                       out.string());
        make_folder(out);
        write_atomically(file, json_text(wanted, 2) + "\n");
        return;
    }
    if (!resume)
        fail_usage("{}: holds a sweep already; --resume continues it, or choose another --out",
                   out.string());
    if (read_json_file(file, kMostStoredBytes) != wanted)
        fail_usage("{}: belongs to a sweep with other settings; choose another --out",
                   file.string());
}

bool load_run(SweepRun& run) {
    std::error_code unknown;
    if (!fs::exists(run_file(run), unknown)) return false;
    const Json json = read_json_file(run_file(run), kMostStoredBytes);
    // null: a value that is no number.
    const auto number = [&](const char* key) {
        const auto found = json.find(key);
        if (found != json.end() && found->is_number()) return found->get<double>();
        return std::numeric_limits<double>::quiet_NaN();
    };
    const auto whole = [&](const char* key) {
        const auto found = json.find(key);
        if (found == json.end() || !found->is_number_integer())
            fail("{}: has no whole number '{}'; remove the file to train this run again",
                 run_file(run).string(), key);
        return found->get<int64_t>();
    };
    if (!json.is_object()) fail("{}: is no object", run_file(run).string());
    if (const double seconds = number("seconds"); seconds > 0) run.seconds = seconds;
    if (json.value("state", Json()) != "done") return false;
    run.state = SweepState::done;
    run.step = whole("step");
    run.parameters = whole("parameters");
    run.examples = whole("examples");
    run.train_loss = number("train_loss");
    run.loss_nats = number("loss_nats");
    run.metric_value = number("metric_value");
    return true;
}

void store_run(const SweepRun& run) {
    Json json{{"state", run.state == SweepState::done ? "done" : "failed"},
              {"seed", run.seed},
              {"step", run.step},
              {"parameters", run.parameters},
              {"train_loss", run.train_loss},
              {"loss_nats", run.loss_nats},
              {"metric_value", run.metric_value},
              {"examples", run.examples},
              {"seconds", run.seconds}};
    if (!run.error.empty()) json["error"] = run.error;
    write_atomically(run_file(run), json_text(json, 2) + "\n");
}

}  // namespace aft
