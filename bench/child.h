// This program started again as a process of its own, for rows that time its start and its window.
// Benchmark thread only. Ends the process when it goes. No LibTorch.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace aft::bench {

struct ChildRequest {
    std::string program;
    std::vector<std::string> words;      // arguments
    std::vector<std::string> variables;  // "NAME=value", beside those of this process
};

class Child {
  public:
    explicit Child(const ChildRequest& request);  // runs when this returns; its output is dropped
    ~Child();                                     // interrupts it as Ctrl-C does, and waits
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    [[nodiscard]] double seconds() const;  // since it was started
    // Waits for `lines` lines in a file that it writes -> seconds() then. Error if it ends before,
    // or after `at_most` seconds.
    double wait_for_lines(const std::filesystem::path& file, int64_t lines, double at_most);

  private:
    [[nodiscard]] bool has_ended();
    std::string words_;
    pid_t process_ = -1;
    std::chrono::steady_clock::time_point start_;
};

[[nodiscard]] int64_t count_lines(const std::filesystem::path& file);  // 0 if it is not there
[[nodiscard]] bool has_display();

}  // namespace aft::bench
