#include "bench/bench.h"

#include <cstdlib>
#include <ctime>

#include "bench/calibrate.h"
#include "bench/peer.h"
#include "bench/workload.h"
#include "model/jobs.h"

namespace aft::bench {
namespace {

using nlohmann::json;

json machine() {
    const json report = system_report();
    const char* const wait = std::getenv("OMP_WAIT_POLICY");
    json out{{"omp_wait_policy", wait == nullptr ? "" : wait}};
    for (const char* key : {"program", "libtorch", "cpu", "cpu_capability", "cores", "threads"})
        out[key] = report.at(key);
    return out;
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm day{};
    gmtime_r(&now, &day);
    return fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

json rows_of(const WorkloadRoom& room, const Settings& settings, const JobControl& control) {
    if (room.rows != nullptr) return room.rows(settings, control);
    json rows = json::array();
    for (const Problem& problem : room.problems(settings.quick))
        rows.push_back(race(problem, settings, control));
    return rows;
}

std::vector<const WorkloadRoom*> meant(const std::string& filter) {
    std::vector<const WorkloadRoom*> rooms;
    for (const WorkloadRoom& room : workloads())
        if (room.info.name == filter) return {&room};
    for (const WorkloadRoom& room : workloads())
        if (room.info.name.find(filter) != std::string::npos) rooms.push_back(&room);
    if (rooms.empty()) static_cast<void>(find_room(workloads(), filter, "workload"));
    return rooms;
}

}  // namespace

json run(const Request& request, const JobControl& control) {
    const std::vector<const WorkloadRoom*> rooms = meant(request.filter);
    const Calibrator calibrator(request.quick);
    const Settings settings{.rounds = request.rounds,
                            .quick = request.quick,
                            .program = request.program,
                            .calibrator = &calibrator};
    json all = json::array();
    for (std::size_t i = 0; i < rooms.size(); ++i) {
        const RoomInfo& info = rooms[i]->info;
        control.report({static_cast<int64_t>(i), static_cast<int64_t>(rooms.size()), info.name});
        all.push_back({{"name", info.name},
                       {"sentence", info.sentence},
                       {"rows", rows_of(*rooms[i], settings, control)}});
    }
    return {{"machine", machine()},
            {"date", today()},
            {"rounds", request.rounds},
            {"quick", request.quick},
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
