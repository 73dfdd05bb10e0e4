#include "core/system/foreign_cpu_load.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

namespace aft {

namespace {

// The cores that this process may run on.
cpu_set_t own_cores() {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    if (sched_getaffinity(0, sizeof cores, &cores) != 0) CPU_ZERO(&cores);  // none is known
    return cores;
}

// CPU time of this process and of the children that it has waited for.
double own_seconds() {
    double sum = 0;
    for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage use{};
        getrusage(who, &use);
        for (const timeval& t : {use.ru_utime, use.ru_stime})
            sum += static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    }
    return sum;
}

double wall_seconds() {
    using Seconds = std::chrono::duration<double>;
    return Seconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Reads what programs and the host used of these cores.
void read_busy_seconds(const cpu_set_t& cores, CpuTimes& times) {
    std::ifstream in("/proc/stat");  // cpu..., then cpuN... of each core
    double ticks = 0, stolen = 0;
    int found = 0;
    for (std::string line; std::getline(in, line) && line.starts_with("cpu");) {
        std::istringstream words(line.substr(3));
        double core = 0, user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0,
               steal = 0;
        if (line.starts_with("cpu ") || !(words >> core)) continue;
        if (core >= CPU_SETSIZE || !CPU_ISSET(static_cast<size_t>(core), &cores)) continue;
        words >> user >> nice >> system >> idle >> wait >> irq >> soft >> steal;
        ticks += user + nice + system + irq + soft;
        stolen += steal;
        ++found;
    }
    if (found == 0) return;
    const auto rate = static_cast<double>(sysconf(_SC_CLK_TCK));
    times.programs = ticks / rate;
    times.stolen = stolen / rate;
}

}  // namespace

ForeignCpuLoad::ForeignCpuLoad() {
    const cpu_set_t cores = own_cores();
    read_busy_seconds(cores, times_);
    times_.own = own_seconds();
    times_.wall = wall_seconds();
    times_.cores = CPU_COUNT(&cores);
}

double ForeignCpuLoad::part(double others, const ForeignCpuLoad& now) const {
    const double wall = now.times_.wall - times_.wall;
    if (now.times_.programs < 0 || times_.programs < 0 || wall <= 0) return -1;
    return std::clamp(others / (wall * now.times_.cores), 0.0, 1.0);
}

double ForeignCpuLoad::programs(const ForeignCpuLoad& now) const {
    return part((now.times_.programs - times_.programs) - (now.times_.own - times_.own), now);
}

double ForeignCpuLoad::share(const ForeignCpuLoad& now) const {
    const double busy = now.times_.programs - times_.programs + now.times_.stolen - times_.stolen;
    return part(busy - (now.times_.own - times_.own), now);
}

}  // namespace aft
