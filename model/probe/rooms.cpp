#include "model/probe/probe.h"

namespace aft {

ProbeRoom bias_probe();
ProbeRoom kernel_probe();
ProbeRoom attention_probe();
ProbeRoom keys_probe();
ProbeRoom gates_probe();
ProbeRoom predictions_probe();
ProbeRoom priors_probe();
ProbeRoom relative_attention_probe();
ProbeRoom loss_probe();
ProbeRoom reach_probe();
ProbeRoom rank_probe();
ProbeRoom patching_probe();
ProbeRoom formation_probe();
ProbeRoom components_probe();
ProbeRoom trace_probe();
ProbeRoom symmetry_probe();
ProbeRoom channels_probe();
ProbeRoom window_probe();

const std::vector<ProbeRoom>& probes() {
    static const std::vector<ProbeRoom> rooms{
        bias_probe(),      kernel_probe(),      attention_probe(), keys_probe(),
        gates_probe(),     predictions_probe(), priors_probe(),    relative_attention_probe(),
        loss_probe(),      reach_probe(),       rank_probe(),      patching_probe(),
        formation_probe(), components_probe(),  trace_probe(),     symmetry_probe(),
        channels_probe(),  window_probe()};
    return rooms;
}

}  // namespace aft
