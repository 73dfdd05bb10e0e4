// This program started again as a process of its own, for rows that time its start and its window.
// Benchmark thread only. Ends the process when it goes, and the system ends it when this process
// dies first. No LibTorch.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace aft::bench {

struct ChildRequest {
    std::string program;
    std::vector<std::string> words;      // arguments
    std::vector<std::string> variables;  // "NAME=value", beside those of this process
    bool keeps_output = false;           // for wait_for_output()
};

struct LinesWanted {
    std::filesystem::path file;  // that the child writes
    int64_t lines = 1;
    double at_most = 60;  // seconds since the start
    int64_t look_every_ms = 1;
};

class Child {
  public:
    // Runs when this returns, in a process group of its own: Ctrl-C of the terminal reaches this
    // process alone. What it prints is dropped but for the last words of an error, and what is
    // kept.
    explicit Child(const ChildRequest& request);
    ~Child();  // interrupts it as Ctrl-C does, and waits
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    [[nodiscard]] double seconds() const;  // since it was started
    // Waits -> seconds() then. Interrupted if stopped; Error if it ends before, or takes too long.
    double wait_for_lines(const LinesWanted& wanted, const std::stop_token& stop = {});
    // Waits for its end -> what it wrote to standard output. Interrupted if stopped; Error if it
    // ends with another code than 0.
    std::string wait_for_output(const std::stop_token& stop);
    // Stops all of its threads (SIGSTOP), and continues them (SIGCONT).
    void hold();
    void resume();

  private:
    [[nodiscard]] bool has_ended();
    void close_files();
    [[nodiscard]] std::string end_words() const;  // "exit code 1, its last words: ..."

    std::string words_;
    pid_t process_ = -1;
    int errors_ = -1;  // a file without a name: what it wrote to standard error
    int output_ = -1;  // the same of standard output; -1 = it is dropped
    int status_ = 0;   // as waitpid tells it
    std::chrono::steady_clock::time_point start_;
};

[[nodiscard]] int64_t count_lines(const std::filesystem::path& file);  // 0 if it is not there

}  // namespace aft::bench
