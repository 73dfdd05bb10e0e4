#include "model/mixers/settings.h"

namespace aft {

Setting heads_row(int64_t* heads) {
    return number_row("model.heads", heads,
                      "Heads of aft-conv and of attention; aft-simple, -full and -local have none.",
                      {1, 65536});
}

Setting window_row(int64_t* window) {
    constexpr double kMost = 1e9;  // memory limits it
    return number_row("model.window", window,
                      "Window s: aft-local has w where |t-j| < s, aft-conv kernels are s wide; "
                      "local-softmax sees |t-j| < s, reformer the last s of a bucket.",
                      {0, kMost, "positions"});
}

Setting bias_std_row(double* bias_std) {
    return number_row("model.bias_std", bias_std, "Initial standard deviation of w.", {0, 100});
}

Setting outside_row(std::string* outside) {
    return text_row("model.outside", outside,
                    "aft-local and aft-conv: w outside the window; -inf hides those sources "
                    "(section 5.3).",
                    {"0", "-inf"});
}

void MixerSettings::visit(SettingRows& rows) {
    rows.push_back(heads_row(&heads));
    rows.push_back(
        flag_row("model.query_gate", &query_gate,
                 "AFT: multiply by sigmoid(Q); off is the paper's ablation (Table 12)."));
}

void BiasTableSettings::visit(SettingRows& rows) {
    rows.push_back(number_row("model.factors", &factors,
                              "Width d' of w = u r^T; 0 learns w itself.", {0, 65536}));
    rows.push_back(bias_std_row(&bias_std));
    rows.push_back(number_row("model.factor_std", &factor_std,
                              "Initial standard deviation of u and r.", {0, 100}));
}

void KernelSettings::visit(SettingRows& rows) {
    rows.push_back(window_row(&window));
    rows.push_back(flag_row("model.naive_kernel", &naive_kernel,
                            "aft-conv: learn w itself, without gamma and beta (Table 10)."));
    rows.push_back(bias_std_row(&bias_std));
    rows.push_back(outside_row(&outside));
    rows.push_back(number_row("model.kernel_entropy", &kernel_entropy,
                              "aft-conv: weight of the kernels' entropy in the training loss, "
                              "which makes them sparse (Eq. 9: 0.001); 0 = off.",
                              {0, 10}));
    rows.push_back(number_row("model.kernel_gumbel_tau", &kernel_gumbel_tau,
                              "aft-conv: temperature of the Gumbel-softmax that leaves a head one "
                              "position of its kernel (Eq. 10: 0.5); 0 = off.",
                              {0, 100}));
}

}  // namespace aft
