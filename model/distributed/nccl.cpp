#include "model/distributed/nccl.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace aft {
namespace {

constexpr const char* kLibrary = "libnccl.so.2";

// One function of a library into its place; "" or its name.
template <class Function>
void find(void* library, const char* name, Function& place, std::string& missing) {
    place = reinterpret_cast<Function>(dlsym(library, name));
    if (place == nullptr) missing = name;
}

}  // namespace

std::string open_nccl(Nccl& nccl) {
    // LibTorch's CUDA part needs it too, so that it is here already, if from a folder of its own.
    void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return fmt::format("{} is not to be had", kLibrary);
    std::string missing;
    find(library, "ncclGetUniqueId", nccl.get_id, missing);
    find(library, "ncclCommInitRank", nccl.init, missing);
    find(library, "ncclCommAbort", nccl.abort, missing);
    find(library, "ncclCommGetAsyncError", nccl.async_error, missing);
    find(library, "ncclGroupStart", nccl.group_start, missing);
    find(library, "ncclGroupEnd", nccl.group_end, missing);
    find(library, "ncclSend", nccl.send, missing);
    find(library, "ncclRecv", nccl.receive, missing);
    find(library, "ncclGetErrorString", nccl.error_words, missing);
    return missing.empty() ? "" : fmt::format("{} has no {}", kLibrary, missing);
}

std::string gpu_address(int index) {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver == nullptr) return "";
    const auto get = reinterpret_cast<int (*)(int*, int)>(dlsym(driver, "cuDeviceGet"));
    const auto say =
        reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetPCIBusId"));
    int device = 0;
    char address[64] = {};
    if (!get || !say || get(&device, index) != 0 || say(address, sizeof address - 1, device) != 0)
        return "";
    return address;
}

}  // namespace aft
