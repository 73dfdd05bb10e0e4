// Jobs about this machine: opening LibTorch, what there is to compute with, errors in plain words.
// Implemented in model/device.cpp. Plain types. No LibTorch. Any thread.
#pragma once
#include <cstdint>
#include <exception>
#include <string>

namespace aft {

// First call of main, before anything else of LibTorch: opens CUDA where asked for and there, sets
// threads. device: cpu, cuda, auto. Error if cuda is asked for and not to be had (says what is
// missing).
void initialize_model(const std::string& device, int64_t threads);

// "cuda" is from now on the GPU of this number among the machine's, counted round: the local rank
// of a process that has others beside it. Before the first parse_device.
void choose_gpu(int local_rank);

struct SystemReport {
    std::string program;                    // "Afterimage 0.1.0"
    std::string libtorch, libtorch_folder;  // version; where it was loaded from
    std::string device;                     // what `auto` means here: cpu, cuda
    int64_t cuda_devices = 0;
    std::string cpu, cpu_capability;  // "AVX512, AVX512-BF16": LibTorch's and our kernels'
    int64_t cores = 0, threads = 0;   // logical ones; of LibTorch
    std::string omp_wait_policy, gomp_spincount;  // variables of OpenMP; "" = not set
    int64_t memory_bytes = 0;                     // of this process, now
    int64_t memory_total_bytes = 0, memory_available_bytes = 0;  // of the machine
    int64_t exact_blocks = 0;  // blocks that the operators computed by the exact fallback so far
};
[[nodiscard]] SystemReport system_report();

// One line for any exception of a job: without LibTorch's stack; out of memory with the remedy.
[[nodiscard]] std::string plain_words(const std::exception& error);

}  // namespace aft
