// A peer: one way to compute a problem with LibTorch, in its best form. Room = one .cpp in
// bench/peers with one exported function, listed in bench/peers/rooms.cpp. Benchmark thread only.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "bench/workloads/problem.h"
#include "core/rooms.h"

namespace aft::bench {

struct Form {
    std::string name, group;  // "attention flash", "attention"
    at::ScalarType type = at::kFloat;
    // Once, outside the timing, unless gradients are wanted: what does not depend on Q, K, V
    // (exp(w)). May be empty.
    std::function<at::Tensor(const ops::Inputs& in)> table;
    // Q, K, V in `type`; -> Y [B, T, d] of any strides
    std::function<at::Tensor(const ops::Inputs& in, const at::Tensor& table)> forward;
    // Of peers that compute another function (attention): that function in float64 on the first
    // sample. They have gradients of Q, K, V only.
    std::function<at::Tensor(const ops::Inputs& in)> exact;
};

struct PeerRoom {
    RoomInfo info;
    std::vector<Form> (*forms)(const Problem& problem);  // empty = does not compute this
};

[[nodiscard]] const std::vector<PeerRoom>& peers();

[[nodiscard]] std::vector<Form> forms_of(const Problem& problem);  // ours first, fp32

// Ready to run again and again: what is timed is `run` alone.
struct Contestant {
    std::string name, group, precision;
    bool ours = false;
    std::function<Tensors()> run;
    std::function<at::Tensor(const ops::Inputs& in)> exact;  // empty = the problem's
};
[[nodiscard]] Contestant contestant(const Problem& problem, const Form& form);
[[nodiscard]] std::vector<Contestant> contestants(const Problem& problem);  // ours first

// Forward and backward as a training step does them, its inputs already there.
[[nodiscard]] std::function<Tensors()> both_ways(const Problem& problem, const Form& form);

}  // namespace aft::bench
