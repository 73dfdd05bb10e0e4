// The warnings that one test causes. A text is reported once in a process. Tests only.
#pragma once
#include <string>

#include "core/warnings.h"

namespace aft {

class WarningsOfTest {
  public:
    WarningsOfTest()
        : before_(set_warning_sink([this](const std::string& text) { all += text + "\n"; })) {}
    ~WarningsOfTest() { set_warning_sink(before_); }
    WarningsOfTest(const WarningsOfTest&) = delete;
    WarningsOfTest& operator=(const WarningsOfTest&) = delete;
    std::string all;

  private:
    WarningSink before_;
};

}  // namespace aft
