#include "model/distributed/rank_place.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/check.h"
#include "core/environment.h"

namespace aft {
namespace {

constexpr int kMostRanks = 65536, kMostPort = 65535;

// The variables of one kind of launcher. "" = it has none.
struct Launcher {
    const char *rank, *size, *local_rank, *local_size;
};
constexpr std::array<Launcher, 4> kLaunchers{{
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    // Of a step that srun started; SLURM_PROCID alone is set in a batch script, too.
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
}};

int whole_variable(const char* name, int low, int high) {
    const std::string text = variable(name);
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < low || value > high)
        fail_usage("{}='{:.40}': must be a whole number from {} to {}", name, text, low, high);
    return value;
}

int whole_variable_or(const char* name, int low, int high, int otherwise) {
    return variable(name).empty() ? otherwise : whole_variable(name, low, high);
}

// "4(x2),3": tasks of the first node.
int tasks_per_node(const std::string& text, int size) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value > 0 ? std::min(value, size) : size;
}

// "node[03-07,9],gpu1": its first name.
std::string first_node(const std::string& list) {
    const size_t bracket = list.find('['), comma = list.find(',');
    if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
    const size_t end = list.find_first_of("-,]", bracket);
    if (end == std::string::npos) return list;
    return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1);
}

std::string address_of_first(const RankPlace& place) {
    const std::string said = variable("MASTER_ADDR");
    if (!said.empty()) return said;
    if (const std::string nodes = variable("SLURM_STEP_NODELIST"); !nodes.empty())
        return first_node(nodes);
    if (place.local_size < place.size)
        fail_usage(
            "{}: this is rank {} of {} on several machines; MASTER_ADDR must name the machine of "
            "rank 0",
            place.said_by, place.rank, place.size);
    return place.address;
}

RankPlace place_of(const Launcher& launcher) {
    RankPlace place;
    place.said_by = fmt::format("{} and {}", launcher.rank, launcher.size);
    place.size = whole_variable(launcher.size, 1, kMostRanks);
    place.rank = whole_variable(launcher.rank, 0, place.size - 1);
    place.local_rank = whole_variable_or(launcher.local_rank, 0, place.size - 1, place.rank);
    const std::string local = variable(launcher.local_size);
    place.local_size = local.find_first_not_of("0123456789") == std::string::npos
                           ? whole_variable_or(launcher.local_size, 1, place.size, place.size)
                           : tasks_per_node(local, place.size);
    place.address = address_of_first(place);
    place.port = whole_variable_or("MASTER_PORT", 1, kMostPort, place.port);
    const std::string agent = variable("TORCHELASTIC_USE_AGENT_STORE");
    place.has_agent_store = agent == "True" || agent == "1";
    place.restart = whole_variable_or("TORCHELASTIC_RESTART_COUNT", 0, kMostRanks, 0);
    return place;
}

}  // namespace

std::optional<RankPlace> rank_place() {
    for (const Launcher& launcher : kLaunchers) {
        const bool has_rank = !variable(launcher.rank).empty();
        const bool has_size = !variable(launcher.size).empty();
        if (!has_size || (!has_rank && &launcher != &kLaunchers.front())) continue;
        if (!has_rank)
            fail_usage("{} is set, {} is not: set both, or neither", launcher.size, launcher.rank);
        const RankPlace place = place_of(launcher);
        if (place.size == 1) return std::nullopt;
        return place;
    }
    return std::nullopt;
}

std::string host_name() {
    char name[256] = {};
    return gethostname(name, sizeof name - 1) == 0 ? name : "?";
}

}  // namespace aft
