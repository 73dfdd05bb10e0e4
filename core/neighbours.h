// What else runs on this machine. Any thread; Linux, elsewhere nothing is known.
#pragma once

namespace aft {

// The time, since construction, of the cores that this process may run on that went to others than
// this process and its ended children.
class Neighbours {
  public:
    Neighbours();
    // Parts of these cores, 0..1, in steps of a hundredth of a second; negative if the system does
    // not tell.
    [[nodiscard]] double share() const;

  private:
    double busy_ = 0, own_ = 0, wall_ = 0;  // seconds
};

}  // namespace aft
