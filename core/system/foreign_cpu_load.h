// What else runs on this machine. Any thread; Linux, elsewhere nothing is known.
#pragma once

namespace aft {

// A moment, from which on the time counts that others than this process and its ended children took
// of the cores that this process may run on. In parts of these cores, 0..1, in steps of a hundredth
// of a second; negative if the system does not tell.
class Neighbours {
  public:
    Neighbours();  // now
    // Other programs, and what the host of a virtual machine gave to other machines.
    [[nodiscard]] double share(const Neighbours& now = Neighbours()) const;
    // Other programs alone.
    [[nodiscard]] double programs(const Neighbours& now = Neighbours()) const;

  private:
    [[nodiscard]] double part(double others, const Neighbours& now) const;

    struct Busy {
        double programs = -1, stolen = 0;
    };
    static Busy busy_seconds();

    Busy busy_;
    double own_ = 0, wall_ = 0;  // seconds
};

}  // namespace aft
