#include "bench/timing/child.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>

#include "core/check.h"
#include "core/progress.h"

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

struct Start {
    char** words = nullptr;
    char** variables = nullptr;
    int errors = -1, output = -1;  // files: standard error; standard output, -1 = it is dropped
    int failure = -1;              // the report of a failed start
    pid_t parent = -1;
};

// The new process between fork and exec: only calls that are safe there.
[[noreturn]] void become(const Start& start) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != start.parent) _exit(127);  // it died before that call
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    signal(SIGINT, SIG_DFL);
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nowhere, STDIN_FILENO);
    dup2(start.output < 0 ? nowhere : start.output, STDOUT_FILENO);
    dup2(start.errors, STDERR_FILENO);
    execve(start.words[0], start.words, start.variables);
    const int why = errno;
    static_cast<void>(!write(start.failure, &why, sizeof why));
    _exit(127);
}

// -> the process; `failure` 0, or why it could not be started.
pid_t started(Start start, int& failure) {
    std::array<int, 2> failure_pipe{-1, -1};
    failure = pipe2(failure_pipe.data(), O_CLOEXEC) == 0 ? 0 : errno;
    if (failure != 0) return -1;
    start.failure = failure_pipe[1];
    start.parent = getpid();
    const pid_t process = fork();
    if (process == 0) become(start);
    failure = process < 0 ? errno : 0;
    close(failure_pipe[1]);  // the child's end closes when its program runs
    if (process > 0 && read(failure_pipe[0], &failure, sizeof failure) > 0)
        waitpid(process, nullptr, 0);
    close(failure_pipe[0]);
    return failure == 0 ? process : -1;
}

std::string last_line(int file) {
    struct stat about{};
    if (file < 0 || fstat(file, &about) != 0) return "";
    std::string text(static_cast<size_t>(std::min<off_t>(about.st_size, 4096)), ' ');
    const auto length = static_cast<off_t>(text.size());
    if (pread(file, text.data(), text.size(), about.st_size - length) != length) return "";
    while (!text.empty() && std::strchr("\r\n ", text.back()) != nullptr) text.pop_back();
    return text.substr(text.find_last_of("\r\n") + 1);
}

}  // namespace

Child::Child(const ChildRequest& request) {
    std::vector<std::string> words{request.program}, variables = request.variables;
    words.insert(words.end(), request.words.begin(), request.words.end());
    for (char** one = environ; *one != nullptr; ++one) variables.emplace_back(*one);
    words_ = fmt::format("{}", fmt::join(words, " "));
    errors_ = memfd_create("errors", MFD_CLOEXEC);
    if (request.keeps_output) output_ = memfd_create("output", MFD_CLOEXEC);
    const std::vector<char*> arguments = pointers(words), surroundings = pointers(variables);
    Start start{.errors = errors_, .output = output_};
    start.words = const_cast<char**>(arguments.data());
    start.variables = const_cast<char**>(surroundings.data());
    int failure = 0;
    start_ = std::chrono::steady_clock::now();
    process_ = started(start, failure);
    if (failure == 0) return;
    close_files();
    fail("bench: cannot start '{}': {}", words_, std::strerror(failure));
}

Child::~Child() {
    if (!has_ended()) kill(process_, SIGINT);
    resume();  // SIGINT is not delivered while the process is stopped
    for (const double until = seconds() + kPatience; seconds() < until && !has_ended();)
        pause_ms(5);
    if (!has_ended()) {
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    close_files();
}

void Child::close_files() {
    for (const int file : {errors_, output_})
        if (file >= 0) close(file);
}

bool Child::has_ended() {
    if (process_ > 0 && waitpid(process_, &status_, WNOHANG) == process_) process_ = -1;
    return process_ < 0;
}

std::string Child::end_words() const {
    std::string words = WIFSIGNALED(status_) ? fmt::format("signal {} ({})", WTERMSIG(status_),
                                                           strsignal(WTERMSIG(status_)))
                                             : fmt::format("exit code {}", WEXITSTATUS(status_));
    const std::string line = last_line(errors_);
    return line.empty() ? words : fmt::format("{}, its last words: {}", words, line);
}

double Child::seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

double Child::wait_for_lines(const LinesWanted& wanted, const std::stop_token& stop) {
    while (count_lines(wanted.file) < wanted.lines) {
        if (stop.stop_requested()) throw Interrupted();
        if (has_ended() && count_lines(wanted.file) < wanted.lines)
            fail("bench: '{}' ended before it wrote line {} of {}: {}", words_, wanted.lines,
                 wanted.file.string(), end_words());
        AFT_CHECK(seconds() < wanted.at_most, "bench: '{}' wrote no line {} of {} in {} s", words_,
                  wanted.lines, wanted.file.string(), wanted.at_most);
        pause_ms(wanted.look_every_ms);
    }
    return seconds();
}

std::string Child::wait_for_output(const std::stop_token& stop) {
    for (; !has_ended(); pause_ms(10)) {
        if (!stop.stop_requested()) continue;
        kill(process_, SIGKILL);  // what it would print is not wanted any more
        throw Interrupted();
    }
    AFT_CHECK(WIFEXITED(status_) && WEXITSTATUS(status_) == 0, "bench: '{}' failed: {}", words_,
              end_words());
    struct stat about{};
    if (fstat(output_, &about) != 0) return "";
    std::string text(static_cast<size_t>(about.st_size), ' ');
    text.resize(
        static_cast<size_t>(std::max<ssize_t>(0, pread(output_, text.data(), text.size(), 0))));
    return text;
}

void Child::hold() {
    if (!has_ended()) kill(process_, SIGSTOP);
}

void Child::resume() {
    if (!has_ended()) kill(process_, SIGCONT);
}

int64_t count_lines(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
}

}  // namespace aft::bench
