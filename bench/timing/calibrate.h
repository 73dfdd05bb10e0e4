// What this process can do at this moment: rates of matrix products, of copying and of reading, and
// how much of the processor others take. Taken before and after each row; some hundred
// milliseconds. Benchmark thread only. No LibTorch here.
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>

namespace aft::bench {

struct Rates {
    double gemm_fp32 = 0, gemm_bf16 = 0;  // FLOP/s of square products
    double copy = 0;   // bytes/s read plus written with streaming stores, from memory to memory
    double cache = 0;  // bytes/s read of what lies in the last-level cache
};

// How long one calibration takes: `whole` about a second; `brief` a sixth of that, for somebody who
// waits for the answer: its copies may lie in a large last-level cache; `tiny` shows that it runs.
enum class CalibrationSize { whole, brief, tiny };

// Owns the buffers, so that every calibration of a run moves the same memory: 2 x 128 MiB (brief:
// 2 x 32), in huge pages (small pages cost a third and vary more than the rest).
class Calibrator {
  public:
    explicit Calibrator(CalibrationSize effort);
    ~Calibrator();
    [[nodiscard]] Rates rates() const;
    // bytes/s of all threads reading the same `bytes` again and again, as a decoder does its
    // weights: from a cache if they fit there.
    [[nodiscard]] double read_rate(int64_t bytes) const;

  private:
    struct Buffers;
    std::unique_ptr<Buffers> buffers_;
};

[[nodiscard]] int64_t last_level_cache();  // bytes; 0 if the system does not tell
[[nodiscard]] nlohmann::json rates_json(const Rates& rates);

// Of ForeignCpuLoad::share(); above it the row is flagged.
inline constexpr double kContended = 0.05;

}  // namespace aft::bench
