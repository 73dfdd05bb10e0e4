// CPU load of other programs on the cores of this process. Any thread; Linux, elsewhere nothing is
// known. Beside one busy thread of another program demo-mirror made 75 steps in 6 s where it made
// 350 alone (spin_limiter.h), and figures of the benchmark are worth nothing: both look here.
#pragma once

namespace aft {

// The start of a measurement. share(): the fraction, 0..1, of these cores' CPU time since then that
// other processes used (this process and its ended children left out). Resolution 10 ms; negative
// if the system does not report it.
class ForeignCpuLoad {
  public:
    ForeignCpuLoad();  // now
    // Other programs, and what the host of a virtual machine gave to other machines.
    [[nodiscard]] double share(const ForeignCpuLoad& now = ForeignCpuLoad()) const;
    // Other programs alone.
    [[nodiscard]] double programs(const ForeignCpuLoad& now = ForeignCpuLoad()) const;

  private:
    [[nodiscard]] double part(double others, const ForeignCpuLoad& now) const;

    struct Busy {
        double programs = -1, stolen = 0;
    };
    static Busy busy_seconds();

    Busy busy_;
    double own_ = 0, wall_ = 0;  // seconds
};

}  // namespace aft
