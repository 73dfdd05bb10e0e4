#include "model/device.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <link.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <thread>

#include "core/check.h"
#include "core/environment.h"
#include "core/files.h"
#include "model/ops/aft.h"
#include "model/ops/cpu/cpu.h"
#include "model/system.h"
#include "model/tensor_memory.h"
#include "model/train/trainer.h"

namespace aft {
namespace {

// Folder of the loaded libtorch_cpu.so, found without calling into it.
std::filesystem::path libtorch_folder() {
    std::filesystem::path folder;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* out) {
            const std::filesystem::path path = info->dlpi_name ? info->dlpi_name : "";
            if (path.filename() != "libtorch_cpu.so") return 0;
            *static_cast<std::filesystem::path*>(out) = path.parent_path();
            return 1;
        },
        &folder);
    return folder;
}

// "" where the NVIDIA driver answers and has a device, else what is missing.
std::string missing_driver() {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver) return "no NVIDIA driver is installed (libcuda.so.1)";
    const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
    const auto count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
    int devices = 0;
    if (!init || !count || init(0) != 0 || count(&devices) != 0 || devices == 0)
        return "the NVIDIA driver finds no usable device";
    return "";  // the driver stays loaded: LibTorch needs it
}

// Opens libtorch_cuda.so; "" or what is missing. Must come before LibTorch's first look for CUDA,
// which is why nothing here calls LibTorch.
std::string open_cuda() {
    const std::string driver = missing_driver();
    if (!driver.empty()) return driver;
    const std::filesystem::path library = libtorch_folder() / "libtorch_cuda.so";
    if (!std::filesystem::exists(library))
        return fmt::format(
            "this LibTorch has no CUDA part ({} is missing; LIBTORCH_ROOT chooses "
            "another one)",
            library.string());
    ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
    if (!dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
        const char* error = dlerror();
        return fmt::format("{} cannot be opened: {}", library.string(), error ? error : "unknown");
    }
    return "";
}

// Kernels of CUDA that add up by atomics give other bits each time: LibTorch has others, a little
// slower. cuBLAS wants a workspace of a fixed size, said before it is opened.
void repeat_bit_for_bit() {
    at::Context& context = at::globalContext();
    context.setDeterministicAlgorithms(true, /*warn_only=*/false);
    context.setDeterministicFillUninitializedMemory(false);
    context.setDeterministicCuDNN(true);
}

std::string cpu_name() {
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("model name") && line.find(": ") != std::string::npos)
            return line.substr(line.find(": ") + 2);
    return "unknown";
}

// The instruction sets of LibTorch and of our kernels.
std::string cpu_capability() {
    const std::string_view set = ops::cpu::instruction_set();
    std::string text = at::get_cpu_capability();
    if (set == "avx512_bf16" || set == "amx") text += ", AVX512-BF16";
    if (set == "amx") text += ", AMX-BF16";
    return text;
}

int64_t kilobytes_in(const char* file, const std::string& key) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(key)) return std::atoll(line.c_str() + key.size());
    return 0;
}

// How LibTorch and the libraries below it say that there is too little memory.
bool names_memory(const std::string& text) {
    constexpr const char* kWords[] = {"out of memory", "can't allocate memory", "not enough memory",
                                      "ALLOC_FAILED"};
    return std::any_of(std::begin(kWords), std::end(kWords), [&](const char* const words) {
        return text.find(words) != std::string::npos;
    });
}

int& chosen_gpu() {
    static int number = 0;
    return number;
}

at::Device gpu() {
    const int index = chosen_gpu() % static_cast<int>(at::getNumGPUs());
    return {at::kCUDA, static_cast<at::DeviceIndex>(index)};
}

std::map<std::string, at::Device>& added_devices() {
    static std::map<std::string, at::Device> devices;
    return devices;
}

}  // namespace

at::Device parse_device(const std::string& name) {
    if (name == "cpu") return at::kCPU;
    const bool here = at::hasCUDA() && at::getNumGPUs() > 0;
    if (name == "auto") return here ? gpu() : at::Device(at::kCPU);
    if (name == "cuda") {
        AFT_CHECK(here, "device 'cuda' is not to be had; use --device cpu");
        return gpu();
    }
    if (const auto found = added_devices().find(name); found != added_devices().end())
        return found->second;
    fail_usage("unknown device '{}'; allowed: cpu, cuda, auto", name);
}

void add_device(const std::string& name, at::Device device) {
    added_devices().insert_or_assign(name, device);
}

std::string plain_words(const std::exception& error) {
    std::string text = error.what();
    if (dynamic_cast<const Error*>(&error) != nullptr) return text;  // ours say it already
    if (const auto* const libtorch = dynamic_cast<const c10::Error*>(&error)) {
        text = libtorch->what_without_backtrace();
        text.resize(std::min(text.find('\n'), text.size()));
    }
    if (dynamic_cast<const std::bad_alloc*>(&error) == nullptr && !names_memory(text)) return text;
    return fmt::format(
        "out of memory: {} (smaller train.micro_batch or train.batch, train.recompute=true, or "
        "fewer samples need less)",
        text);
}

void with_plain_errors(const std::function<void()>& work) {
    try {
        work();
    } catch (const c10::Error& error) {
        fail("{}", plain_words(error));
    } catch (const std::bad_alloc& error) {
        fail("{}", plain_words(error));
    }
}

void choose_gpu(int local_rank) {
    chosen_gpu() = local_rank;
}

void initialize_model(const std::string& device, int64_t threads) {
    if (device != "cpu" && device != "cuda" && device != "auto")
        fail_usage("unknown device '{}'; allowed: cpu, cuda, auto", device);
    if (device != "cpu") {
        const std::string missing = open_cuda();
        if (device == "cuda" && !missing.empty())
            fail("device 'cuda' is not to be had: {}; use --device cpu", missing);
        if (missing.empty()) repeat_bit_for_bit();
    }
    if (threads < 0 || threads > 1024)
        fail_usage("--threads {}; allowed: 0 (as many as there are cores) to 1024", threads);
    keep_tensor_memory();
    if (threads > 0) at::set_num_threads(static_cast<int>(threads));
    (void)ops::cpu::instruction_set();  // a wrong AFTERIMAGE_CPU is said before any work
}

SystemReport system_report() {
    const bool cuda = at::hasCUDA() && at::getNumGPUs() > 0;
    constexpr int64_t kKilo = 1024;
    return {
        .program = "Afterimage " + version(),
        .libtorch = TORCH_VERSION,
        .libtorch_folder = libtorch_folder().string(),
        .device = cuda ? "cuda" : "cpu",
        .cuda_devices = cuda ? static_cast<int64_t>(at::getNumGPUs()) : 0,
        .cpu = cpu_name(),
        .cpu_capability = cpu_capability(),
        .cores = std::thread::hardware_concurrency(),
        .threads = at::get_num_threads(),
        .omp_wait_policy = variable("OMP_WAIT_POLICY"),
        .gomp_spincount = variable("GOMP_SPINCOUNT"),
        .memory_bytes = memory_bytes(),
        .memory_total_bytes = kilobytes_in("/proc/meminfo", "MemTotal:") * kKilo,
        .memory_available_bytes = kilobytes_in("/proc/meminfo", "MemAvailable:") * kKilo,
        .exact_blocks = ops::exact_blocks(),
    };
}

}  // namespace aft
