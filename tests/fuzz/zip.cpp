// Zip archives as torch.save writes them: every member that is listed can be read or is refused.
#include "model/checkpoints/zip.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/refused.h"

namespace {

// The bytes as a file that has a path.
class MemoryFile {
  public:
    MemoryFile(const uint8_t* bytes, size_t size) : fd_(memfd_create("fuzz", 0)) {
        aft::require(fd_ >= 0 && write(fd_, bytes, size) == static_cast<ssize_t>(size),
                     "a file in memory holds the bytes", std::to_string(size));
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { close(fd_); }
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

  private:
    int fd_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    const MemoryFile file(bytes, size);
    aft::is_taken([&] {
        aft::ZipFile zip(file.path());
        uint64_t total = 0;
        for (const auto& entry : zip.members()) {
            total += entry.second.bytes;
            aft::is_taken([&] {
                const std::string text = zip.read_text(entry.second, size);
                aft::require(text.size() == entry.second.bytes, "a member is read whole",
                             entry.first);
            });
        }
        aft::require(total <= size, "members are no larger than the file", std::to_string(total));
    });
    return 0;
}
