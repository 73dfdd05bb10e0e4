#include "bench/workloads/workload.h"

namespace aft::bench {

WorkloadRoom simple_fwd_workload();
WorkloadRoom simple_bwd_workload();
WorkloadRoom local_fwd_workload();
WorkloadRoom local_bwd_workload();
WorkloadRoom local_noncausal_workload();
WorkloadRoom local_bytes_workload();
WorkloadRoom full_workload();
WorkloadRoom conv2d_workload();
WorkloadRoom long_workload();
WorkloadRoom memory_net_workload();
WorkloadRoom accuracy_workload();
WorkloadRoom memory_workload();
WorkloadRoom decode_1_workload();
WorkloadRoom decode_local_workload();
WorkloadRoom decode_full_workload();
WorkloadRoom decode_batch_workload();
WorkloadRoom image_workload();
WorkloadRoom step_cifar_workload();
WorkloadRoom step_simple_workload();
WorkloadRoom step_bytes_workload();
WorkloadRoom step_images_workload();
WorkloadRoom gui_train_workload();
WorkloadRoom startup_workload();

const std::vector<WorkloadRoom>& workloads() {
    static const std::vector<WorkloadRoom> rooms = {
        simple_fwd_workload(),   simple_bwd_workload(),      local_fwd_workload(),
        local_bwd_workload(),    local_noncausal_workload(), local_bytes_workload(),
        full_workload(),         conv2d_workload(),          long_workload(),
        memory_workload(),       memory_net_workload(),      accuracy_workload(),
        decode_1_workload(),     decode_local_workload(),    decode_full_workload(),
        decode_batch_workload(), image_workload(),           step_cifar_workload(),
        step_simple_workload(),  step_bytes_workload(),      step_images_workload(),
        gui_train_workload(),    startup_workload(),
    };
    return rooms;
}

}  // namespace aft::bench
