// RankPlace: which process of how many this is, as the launcher says in the environment: torchrun
// and all who follow it (RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT),
// srun (SLURM_PROCID, ...), mpirun (OMPI_COMM_WORLD_RANK, ..., or PMI_RANK, PMI_SIZE). No LibTorch.
#pragma once
#include <optional>
#include <string>

namespace aft {

struct RankPlace {
    int rank = 0, size = 1;  // of all processes
    int local_rank = 0, local_size = 1;
    std::string address = "127.0.0.1";  // of rank 0
    int port = 29500;                   // of the store
    bool has_agent_store = false;       // torchrun holds the store: no rank opens its server
    int listener = -1;                  // a socket that is open at `port` already; -1 = none
    int restart = 0;                    // of torchrun: how often it has started the ranks again
    std::string said_by{};              // "RANK and WORLD_SIZE", ...: for messages
};

// nullopt: alone, or one of one. usage Error names a variable that is missing or no number, with
// what it holds.
[[nodiscard]] std::optional<RankPlace> rank_place();

// Of this machine, "?" where the system does not say it.
[[nodiscard]] std::string host_name();

}  // namespace aft
