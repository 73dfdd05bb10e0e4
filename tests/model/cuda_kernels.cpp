#include "tests/model/cuda_kernels.h"

#include <fstream>
#include <map>
#include <mutex>
#include <regex>
#include <sstream>

namespace aft {
namespace {

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// "aten::add_", "Scalar" -> add_ in add_cuda_dispatch.h; "aten::sum", "IntList_out" -> sum_out.
bool is_declared(const c10::OperatorName& name) {
    std::string function = name.name.substr(name.name.find("::") + 2);
    std::string file = function;
    const bool in_place = file.size() > 1 && file.back() == '_' && file[file.size() - 2] != '_';
    if (in_place) file.pop_back();
    const std::string& overload = name.overload_name;
    const bool fills = overload.size() >= 3 && overload.substr(overload.size() - 3) == "out";
    if (fills) function += "_out";
    const std::string header = text_of(LIBTORCH_INCLUDE "/ATen/ops/" + file + "_cuda_dispatch.h");
    return std::regex_search(header, std::regex("[ &]" + function + "\\("));
}

}  // namespace

bool has_cuda_kernel(const c10::OperatorName& name) {
    static std::mutex mutex;
    static std::map<std::string, bool> known;
    const std::lock_guard lock(mutex);
    const std::string key = name.name + "." + name.overload_name;
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    return known[key] = is_declared(name);
}

}  // namespace aft
