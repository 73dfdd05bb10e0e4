#include "model/distributed/local_ranks.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "core/check.h"
#include "core/clock.h"
#include "core/environment.h"

namespace aft {
namespace {

constexpr const char* kParent = "AFTERIMAGE_PARENT";
constexpr double kLastSeconds = 10;  // that the others have to end by themselves

volatile std::sig_atomic_t stop_asked = 0;

// A port that is ours from here on.
int listen_somewhere(int& port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (fd < 0 || bind(fd, any, size) != 0 || listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, any, &size) != 0)
        fail("--nproc: no port to be had on 127.0.0.1: {}", std::strerror(errno));
    port = ntohs(address.sin_port);
    return fd;
}

// The arguments of this process without --nproc.
std::vector<std::string> own_arguments() {
    std::ifstream in("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(in, word, '\0');) {
        if (word == "--nproc") {
            std::getline(in, word, '\0');
            continue;
        }
        if (!word.starts_with("--nproc=")) words.push_back(word);
    }
    return words;
}

std::vector<std::string> environment_of(const RankPlace& place, int rank) {
    std::vector<std::string> all;
    const std::string ours[] = {"RANK=",
                                "WORLD_SIZE=",
                                "LOCAL_RANK=",
                                "LOCAL_WORLD_SIZE=",
                                "MASTER_ADDR=",
                                "MASTER_PORT=",
                                std::string(kParent) + "="};
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        bool is_ours = false;
        for (const std::string& name : ours) is_ours = is_ours || text.starts_with(name);
        if (!is_ours) all.push_back(text);
    }
    const int values[] = {rank, place.size, rank, place.size};
    for (size_t i = 0; i < 4; ++i) all.push_back(ours[i] + std::to_string(values[i]));
    all.push_back(ours[4] + place.address);
    all.push_back(ours[5] + std::to_string(place.port));
    all.push_back(ours[6] + std::to_string(getpid()));
    return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> all;
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    return all;
}

// Its results are the leader's to print; what it has to complain of goes where ours goes.
pid_t start(const RankPlace& place, int rank) {
    std::vector<std::string> words = own_arguments(), variables = environment_of(place, rank);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    const int error = posix_spawn(&child, "/proc/self/exe", &files, nullptr, pointers(words).data(),
                                  pointers(variables).data());
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) fail("--nproc: rank {} cannot be started: {}", rank, std::strerror(error));
    return child;
}

bool has_ended(pid_t child) {
    int status = 0;
    return waitpid(child, &status, WNOHANG) != 0;
}

}  // namespace

LocalRanks::LocalRanks(int count) {
    place_.size = place_.local_size = count;
    place_.said_by = "--nproc";
    place_.listener = listen_somewhere(place_.port);
    for (int rank = 1; rank < count; ++rank) others_.push_back(start(place_, rank));
}

LocalRanks::~LocalRanks() {
    const auto began = std::chrono::steady_clock::now();
    for (const pid_t child : others_) {
        while (!has_ended(child)) {
            if (seconds_since(began) > kLastSeconds) kill(child, SIGKILL);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }
}

void hold_signals() {
    struct sigaction note{};
    note.sa_handler = [](int) { stop_asked = 1; };
    note.sa_flags = SA_RESTART;
    sigaction(SIGTERM, &note, nullptr);
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGHUP, SIG_IGN);
    const std::string parent = variable(kParent);
    if (parent.empty()) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (std::to_string(getppid()) != parent) fail("rank 0 has ended");
}

bool is_stop_asked() {
    return stop_asked != 0;
}

bool is_child_rank() {
    return !variable(kParent).empty();
}

}  // namespace aft
