// A probe room: what a panel shows, as numbers. A pure function of (net, request); no state, no
// thread of its own. Room = one .cpp with one exported function `ProbeRoom NAME_probe();`, listed
// in rooms.cpp.
#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/field.h"
#include "core/progress.h"
#include "core/rooms.h"
#include "model/net/net.h"
#include "model/probe/option.h"
#include "model/requests.h"

namespace aft {

// What one forward pass left behind, kept for the next request: hovering another target or layer of
// the same input costs no second pass. Of large nets it keeps 64 MiB: as many layers side by side
// as fit. One owner (the worker, a job); clear() when the net changes.
class Activations {
  public:
    [[nodiscard]] const LayerTaps& of(const Net& net, const std::vector<uint8_t>& tokens,
                                      int64_t layer);
    // How much of a position's stream after the mixer's branch was there before it:
    // |x| / (|x| + |branch|), [T], float64, in [0, 1]; 1 where both are 0. Kept of all layers.
    [[nodiscard]] const at::Tensor& residual_share(const Net& net,
                                                   const std::vector<uint8_t>& tokens,
                                                   int64_t layer);
    void clear();

  private:
    void pass(const Net& net, const std::vector<uint8_t>& tokens, int64_t layer);
    void take(const std::string& name, const at::Tensor& value, at::Tensor& stream);
    std::vector<uint8_t> tokens_;
    int64_t first_ = 0, end_ = 0;  // layers that are kept
    std::map<int64_t, LayerTaps> layers_;
    std::map<int64_t, at::Tensor> residual_;
};

struct ProbeContext {
    const Net& net;
    int64_t step = -1;  // of the weights, written into the fields
    const JobControl& control;
    Activations& kept;
};

// What a probe reads: the position biases alone (which are stored more often than whole weights),
// the weights, or the weights and an input.
enum class ProbeNeeds { biases, weights, input };

struct ProbeRoom {
    RoomInfo info;
    std::vector<ProbeOption> options;
    ProbeNeeds needs = ProbeNeeds::weights;
    // Its main field holds rows over the sources of a picture, each drawn as a small one.
    bool folds_sources = false;
    // Its tokens are two inputs, one after the other: of `--data` the example `--other N`, too.
    bool takes_two = false;
    // The mean of its main field over several inputs says something: `--limit N` takes N of them.
    bool averages_inputs = false;
    // The first field is the main one (what `afterimage probe` writes). Checks head, channel and
    // position against the net and names the range.
    FieldSet (*run)(const ProbeContext& context, const ProbeRequest& request) = nullptr;
};

[[nodiscard]] const std::vector<ProbeRoom>& probes();

// Finds the room, checks options, tokens and the layer, runs it without gradients. Usage Errors
// name the option or flag, what was found and what is allowed.
[[nodiscard]] FieldSet run_probe(const ProbeContext& context, const ProbeRequest& request);

}  // namespace aft
