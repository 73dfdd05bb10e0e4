// CPU load of other programs on the cores of this process. Any thread; Linux, elsewhere nothing is
// known. Beside one busy thread of another program demo-mirror made 75 steps in 6 s where it made
// 350 alone (spin_limiter.h), and figures of the benchmark are worth nothing: both look here.
#pragma once

namespace aft {

// CPU time in seconds, summed over the cores of this process.
struct CpuTimes {
    double programs = -1;  // used by programs; negative if the system does not report it
    double stolen = 0;     // given to other virtual machines by the host
    double own = 0;        // used by this process and the children that it has waited for
    double wall = 0;       // steady clock
    int cores = 0;
};

// The start of a measurement. share(): the fraction, 0..1, of these cores' CPU time since then that
// other processes used (this process and its ended children left out). Resolution 10 ms; negative
// if the system does not report it.
class ForeignCpuLoad {
  public:
    ForeignCpuLoad();                                                  // now
    explicit ForeignCpuLoad(const CpuTimes& times) : times_(times) {}  // at another moment
    // Other programs, and what the host of a virtual machine gave to other machines.
    [[nodiscard]] double share(const ForeignCpuLoad& now = ForeignCpuLoad()) const;
    // Other programs alone.
    [[nodiscard]] double programs(const ForeignCpuLoad& now = ForeignCpuLoad()) const;
    [[nodiscard]] const CpuTimes& times() const { return times_; }

  private:
    [[nodiscard]] double part(double others, const ForeignCpuLoad& now) const;

    CpuTimes times_;
};

}  // namespace aft
