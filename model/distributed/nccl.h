// NCCL's functions, from the library that LibTorch's CUDA part has opened: nothing of NCCL or CUDA
// is needed to build the program. Types and values are those of nccl.h (2.x, whose C interface is
// stable). Any thread.
#pragma once
#include <array>
#include <cstddef>
#include <string>

namespace aft {

struct NcclId {  // ncclUniqueId
    std::array<char, 128> bytes{};
};
using NcclResult = int;  // ncclResult_t
inline constexpr NcclResult kNcclSuccess = 0, kNcclInProgress = 7;
inline constexpr int kNcclFloat = 7;  // ncclDataType_t

// comm: ncclComm_t; stream: cudaStream_t.
struct Nccl {
    NcclResult (*get_id)(NcclId* id) = nullptr;
    NcclResult (*init)(void** comm, int ranks, NcclId id, int rank) = nullptr;
    NcclResult (*abort)(void* comm) = nullptr;
    NcclResult (*async_error)(void* comm, NcclResult* error) = nullptr;
    NcclResult (*group_start)() = nullptr;
    NcclResult (*group_end)() = nullptr;
    NcclResult (*send)(const void* from, size_t count, int type, int peer, void* comm,
                       void* stream) = nullptr;
    NcclResult (*receive)(void* to, size_t count, int type, int peer, void* comm,
                          void* stream) = nullptr;
    const char* (*error_words)(NcclResult result) = nullptr;
};

// "" and all functions, or what is missing.
[[nodiscard]] std::string open_nccl(Nccl& nccl);
// Where a CUDA device sits in this machine, "0000:1b:00.0"; "" where the driver does not say.
// `index` is LibTorch's.
[[nodiscard]] std::string gpu_address(int index);

}  // namespace aft
