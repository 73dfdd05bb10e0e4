// Progress of a job, reported by the thread that runs it; the receiver must return at once.
#pragma once
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

namespace aft {

struct Progress {
    int64_t done = 0, total = 0;  // total 0 = unknown
    std::string what;             // "reading layer", "examples", "tokens"
};

// What every job takes: where to report, and when to stop (checked between tokens, batches and
// layers).
struct JobControl {
    std::function<void(const Progress&)> report = [](const Progress&) {};
    std::stop_token stop;
};

// A job stopped by its token.
class Interrupted : public std::exception {
  public:
    [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace aft
