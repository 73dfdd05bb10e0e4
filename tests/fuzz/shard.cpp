// A tar shard of pictures and labels: headers by libarchive, keys and labels by us.
#include <sys/mman.h>
#include <unistd.h>

#include "core/warnings.h"
#include "model/data/shard_scan.h"
#include "tests/fuzz/refused.h"

namespace {

// A file in memory that has a path.
class MemoryFile {
  public:
    MemoryFile(const uint8_t* bytes, size_t size) : fd_(::memfd_create("shard", MFD_CLOEXEC)) {
        const bool is_written = fd_ >= 0 && ::write(fd_, bytes, size) == static_cast<ssize_t>(size);
        aft::require(is_written, "there is memory for the file", std::to_string(size));
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { ::close(fd_); }
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

  private:
    int fd_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    using namespace aft;
    [[maybe_unused]] static const WarningSink before = set_warning_sink([](const std::string&) {});
    const MemoryFile file(bytes, size);
    std::vector<ShardExample> examples;
    if (!is_taken([&] { examples = scan_shard(file.path(), -1); })) return 0;
    for (const ShardExample& example : examples) {
        for (const std::string& words : {example.problem, example.label_problem, example.label})
            require(words == printable_line(words), "a message can be shown as it is", words);
        if (!example.problem.empty()) continue;
        const auto end =
            static_cast<uint64_t>(example.offset) + static_cast<uint64_t>(example.size);
        require(example.offset >= 0 && example.size >= 0 && end <= size,
                "a picture lies within the file", example.name);
        require(printable_line(example.name) == example.name, "a name can be shown", example.name);
    }
    return 0;
}
