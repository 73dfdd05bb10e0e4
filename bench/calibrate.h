// What this process can do at this moment: rates of matrix products and of copying, and how much of
// the processor others take. Called before and after each workload; some hundred milliseconds.
// No LibTorch here.
#pragma once
#include <cstdint>

namespace aft::bench {

struct Rates {
    double gemm_fp32 = 0, gemm_bf16 = 0;  // FLOP/s of square products
    double copy = 0;                      // bytes/s read plus written, streaming stores
};
[[nodiscard]] Rates calibrate(bool quick);

// The processor's time since construction that went to others: parts of all cores, 0..1; negative
// if the system does not tell.
class Neighbours {
  public:
    Neighbours();
    [[nodiscard]] double share() const;

  private:
    double busy_ = 0, own_ = 0, wall_ = 0;
};
inline constexpr double kContended = 0.05;  // above it the row is flagged

}  // namespace aft::bench
