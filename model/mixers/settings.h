// Settings that several mixer rooms share, as parts of a room's own: a room's settings are a struct
// of these, and its visit() calls theirs. model/room_settings.h says how they reach a config. No
// LibTorch.
#pragma once
#include "core/settings.h"

namespace aft {

// Rows of one key that more than one room has.
[[nodiscard]] Setting heads_row(int64_t* heads);
[[nodiscard]] Setting window_row(int64_t* window);
[[nodiscard]] Setting bias_std_row(double* bias_std);
[[nodiscard]] Setting outside_row(std::string* outside);

// Every room of the list has these two, if only to refuse what it cannot do.
struct MixerSettings {
    int64_t heads = 1;       // of aft-conv and of attention
    bool query_gate = true;  // AFT: sigmoid(Q)
    void visit(SettingRows& rows);
};

// w [T, T] or its factors: aft-full, aft-local
struct BiasTableSettings {
    int64_t factors = 64;     // d' of w = u r^T; 0 = w itself
    double bias_std = 0.01;   // w without factors
    double factor_std = 0.1;  // u, r
    void visit(SettingRows& rows);
};

// The kernels of aft-conv
struct KernelSettings {
    int64_t window = 0;         // taps s along an axis
    bool naive_kernel = false;  // w = kernel, without gamma and beta (Table 10)
    double bias_std = 0.01;     // w of a naive kernel
    std::string outside = "0";  // w outside the kernel, "0" or "-inf"
    double kernel_entropy = 0;  // weight of the entropy of softmax(w) in the loss (Eq. 9)
    // Temperature of the Gumbel-softmax sample that multiplies w in training (Eq. 10); 0 = off
    double kernel_gumbel_tau = 0;
    void visit(SettingRows& rows);
    [[nodiscard]] bool hides_outside() const { return outside == "-inf"; }
};

struct ConvSettings : MixerSettings, KernelSettings {
    void visit(SettingRows& rows) {
        MixerSettings::visit(rows);
        KernelSettings::visit(rows);
    }
};

}  // namespace aft
