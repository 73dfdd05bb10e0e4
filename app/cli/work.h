// What commands that compute do before and around their job: interrupts, LibTorch's start, progress
// on standard error. Main thread; progress may be reported from any thread.
#pragma once
#include <memory>
#include <string>

#include "app/cli/interrupts.h"
#include "app/commands/rooms.h"
#include "core/progress.h"

namespace aft::app {

class ProgressLine;

// Starts LibTorch on the device asked for. Make it after the arguments are known, before any job.
class Work {
  public:
    explicit Work(const Globals& globals);
    ~Work();
    [[nodiscard]] JobControl control();  // shows progress, stops at Ctrl-C
    void finish_progress();              // before anything else is printed
    [[nodiscard]] const std::string& device() const { return device_; }  // as asked for

  private:
    Interrupts interrupts_;
    std::shared_ptr<ProgressLine> line_;
    std::string device_;
};

}  // namespace aft::app
