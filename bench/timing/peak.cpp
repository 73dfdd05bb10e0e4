#include "bench/timing/peak.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "core/system/heap.h"

namespace aft::bench {
namespace {

int64_t resident(const std::string& key) {  // bytes; 0 if unknown
    std::ifstream in("/proc/self/status");
    std::string word;
    while (in >> word) {
        if (word != key) continue;
        int64_t kilobytes = 0;
        in >> kilobytes;
        return kilobytes * 1024;
    }
    return 0;
}

bool reset_peak() {
    std::ofstream out("/proc/self/clear_refs");
    out << "5" << std::flush;
    return out.good();
}

}  // namespace

std::optional<int64_t> peak_above(const std::function<void()>& work) {
    trim_heap();
    const bool known = reset_peak();
    const int64_t before = resident("VmRSS:");
    work();
    if (!known) return {};
    return std::max<int64_t>(resident("VmHWM:") - before, 0);
}

}  // namespace aft::bench
