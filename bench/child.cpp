#include "bench/child.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "core/check.h"

namespace aft::bench {
namespace {

constexpr double kPatience = 20;  // seconds for an orderly end

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> list;
    for (std::string& word : words) list.push_back(word.data());
    list.push_back(nullptr);
    return list;
}

void pause_ms(int64_t ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

bool is_set(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0';
}

}  // namespace

Child::Child(const ChildRequest& request) : start_(std::chrono::steady_clock::now()) {
    std::vector<std::string> words{request.program}, variables = request.variables;
    words.insert(words.end(), request.words.begin(), request.words.end());
    for (char** one = environ; *one != nullptr; ++one) variables.emplace_back(*one);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
    const int failure = posix_spawn(&process_, request.program.c_str(), &actions, nullptr,
                                    pointers(words).data(), pointers(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    words_ = fmt::format("{}", fmt::join(words, " "));
    AFT_CHECK(failure == 0, "bench: cannot start {}", words_);
}

Child::~Child() {
    if (has_ended()) return;
    kill(process_, SIGINT);
    for (const double until = seconds() + kPatience; seconds() < until; pause_ms(5))
        if (has_ended()) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
}

bool Child::has_ended() {
    if (process_ > 0 && waitpid(process_, nullptr, WNOHANG) == process_) process_ = -1;
    return process_ < 0;
}

double Child::seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

double Child::wait_for_lines(const std::filesystem::path& file, int64_t lines, double at_most) {
    while (count_lines(file) < lines) {
        const bool over = has_ended() && count_lines(file) < lines;
        AFT_CHECK(!over, "bench: '{}' ended before it wrote line {} of {}", words_, lines,
                  file.string());
        AFT_CHECK(seconds() < at_most, "bench: '{}' wrote no line {} of {} in {} s", words_, lines,
                  file.string(), at_most);
        pause_ms(1);
    }
    return seconds();
}

int64_t count_lines(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
}

bool has_display() {
    return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
}

}  // namespace aft::bench
