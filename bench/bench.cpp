#include "bench/bench.h"

#include <ctime>
#include <string_view>

#include "bench/peers/peer.h"
#include "bench/timing/calibrate.h"
#include "bench/workloads/own_model.h"
#include "bench/workloads/workload.h"
#include "core/check.h"
#include "model/checkpoints/checkpoint.h"
#include "model/system.h"

namespace aft::bench {
namespace {

using nlohmann::json;

json machine() {
    const SystemReport report = system_report();
    return {{"program", report.program},
            {"libtorch", report.libtorch},
            {"cpu", report.cpu},
            {"cpu_capability", report.cpu_capability},
            {"cores", report.cores},
            {"threads", report.threads},
            {"omp_wait_policy", report.omp_wait_policy},
            {"gomp_spincount", report.gomp_spincount}};
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm day{};
    gmtime_r(&now, &day);
    return fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

std::vector<RowPlan> plans_of(const WorkloadRoom& room, bool quick) {
    if (room.rows != nullptr) return room.rows(quick);
    std::vector<RowPlan> plans;
    for (const Problem& problem : room.problems(quick))
        plans.push_back(
            {problem.name, [problem](const BenchSettings& settings, const JobControl& control) {
                 return race(problem, settings, control);
             }});
    return plans;
}

json failed_row(std::string_view why) {  // LibTorch puts the stack below its first line
    return {{"kind", "failed"},
            {"note", fmt::format("FAILED: {}", why.substr(0, why.find('\n')))},
            {"contestants", json::array()},
            {"accept", json::array()}};
}

json measured(const RowPlan& plan, const BenchSettings& settings, const JobControl& control) {
    json row;
    try {
        row = plan.measure(settings, control);
    } catch (const Interrupted&) {
        throw;
    } catch (const std::exception& error) {  // a peer out of memory, a display that is not there
        row = failed_row(error.what());
    }
    row["case"] = plan.name;
    return row;
}

// False if the work was stopped before all rows were there.
bool add_rows(const std::vector<RowPlan>& plans, const BenchSettings& settings,
              const JobControl& control, json& rows) {
    for (const RowPlan& plan : plans) {
        if (control.stop.stop_requested()) return false;
        try {
            rows.push_back(measured(plan, settings, control));
        } catch (const Interrupted&) {
            return false;
        }
    }
    return true;
}

int64_t count_failed(const json& workloads) {
    int64_t count = 0;
    for (const json& workload : workloads)
        for (const json& row : workload["rows"]) count += row["kind"] == "failed" ? 1 : 0;
    return count;
}

std::vector<const WorkloadRoom*> meant(const std::string& filter) {
    std::vector<const WorkloadRoom*> rooms;
    if (const WorkloadRoom* const named = room_named(workloads(), filter)) return {named};
    for (const WorkloadRoom& room : workloads())
        if (room.info.name.find(filter) != std::string::npos) rooms.push_back(&room);
    if (rooms.empty()) static_cast<void>(find_room(workloads(), filter, "workload"));
    return rooms;
}

struct Workload {
    RoomInfo info;
    std::function<std::vector<RowPlan>()> plans;
};

std::vector<Workload> of_model(const BenchRequest& request) {
    std::vector<Workload> all;
    std::string names;
    for (const OwnWorkload& one : own_workloads(read_checkpoint_header(request.model).config)) {
        names += (names.empty() ? "" : ", ") + one.info.name;
        if (one.info.name.find(request.filter) != std::string::npos)
            all.push_back({one.info, [rows = one.rows] { return rows; }});
    }
    AFT_CHECK(
        !names.empty(),
        "bench: {} has nothing to time: no operator of AFT, no tokens one by one, no known data "
        "to train with",
        request.model);
    if (all.empty())
        fail_usage("bench: unknown workload '{}' of a model; {} has: {}", request.filter,
                   request.model, names);
    return all;
}

std::vector<Workload> workloads_of(const BenchRequest& request) {
    if (!request.model.empty()) return of_model(request);
    std::vector<Workload> all;
    for (const WorkloadRoom* room : meant(request.filter))
        all.push_back({room->info, [room, &request] { return plans_of(*room, request.quick); }});
    return all;
}

}  // namespace

json run(const BenchRequest& request, const JobControl& control) {
    const std::vector<Workload> rooms = workloads_of(request);
    // Whoever asks about one model waits for the answer; the rates only guard its ratios.
    const Calibrator calibrator(request.quick           ? CalibrationSize::tiny
                                : request.model.empty() ? CalibrationSize::whole
                                                        : CalibrationSize::brief);
    const BenchSettings settings{.rounds = request.rounds,
                                 .quick = request.quick,
                                 .program = request.program,
                                 .calibrator = &calibrator};
    json all = json::array();
    bool stopped = false;
    for (std::size_t i = 0; i < rooms.size() && !stopped; ++i) {
        const RoomInfo& info = rooms[i].info;
        control.report({static_cast<int64_t>(i), static_cast<int64_t>(rooms.size()), info.name});
        json rows = json::array();
        stopped = !add_rows(rooms[i].plans(), settings, control, rows);
        if (!rows.empty())
            all.push_back({{"name", info.name}, {"sentence", info.sentence}, {"rows", rows}});
    }
    return {{"machine", machine()},
            {"date", today()},
            {"rounds", request.rounds},
            {"quick", request.quick},
            {"failed", count_failed(all)},
            {"stopped", stopped || control.stop.stop_requested()},
            {"workloads", all}};
}

std::vector<RoomInfo> workload_list() {
    std::vector<RoomInfo> list;
    for (const WorkloadRoom& room : workloads()) list.push_back(room.info);
    return list;
}

std::vector<RoomInfo> peer_list() {
    std::vector<RoomInfo> list;
    for (const PeerRoom& room : peers()) list.push_back(room.info);
    return list;
}

}  // namespace aft::bench
