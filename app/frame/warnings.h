// Warnings of the model (core/warnings.h) as toasts and lines of the log. Lives as long as the
// window; made, asked and ended by the window thread.
#pragma once
#include <memory>

#include "core/warnings.h"

namespace aft::app {

struct Ui;

class Warnings {
  public:
    Warnings();
    ~Warnings();
    Warnings(const Warnings&) = delete;
    Warnings& operator=(const Warnings&) = delete;

    void report(Ui& ui);  // those that came since the last call

  private:
    struct WarningQueue;
    std::shared_ptr<WarningQueue> box_;
    WarningSink before_;
};

}  // namespace aft::app
