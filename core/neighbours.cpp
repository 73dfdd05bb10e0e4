#include "core/neighbours.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

namespace aft {

namespace {

// Seconds all cores were busy since the system started; negative if unknown.
double busy_seconds() {
    std::ifstream in("/proc/stat");
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
    if (!(in >> name >> user >> nice >> system >> idle >> wait >> irq >> soft >> steal)) return -1;
    return (user + nice + system + irq + soft + steal) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// Of this process and of the children that it has waited for.
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

}  // namespace

Neighbours::Neighbours() : busy_(busy_seconds()), own_(own_seconds()), wall_(wall_seconds()) {}

double Neighbours::share() const {
    const double busy = busy_seconds(), wall = wall_seconds() - wall_;
    if (busy < 0 || busy_ < 0 || wall <= 0) return -1;
    const double others = (busy - busy_) - (own_seconds() - own_);
    return std::clamp(others / (wall * std::thread::hardware_concurrency()), 0.0, 1.0);
}

}  // namespace aft
