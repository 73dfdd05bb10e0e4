// A file in memory that has a path: for parsers that read files. For the programs of this folder
// only.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/refused.h"

namespace aft {

class MemoryFile {
  public:
    MemoryFile(const uint8_t* bytes, size_t size) : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
        const bool is_written = fd_ >= 0 && ::write(fd_, bytes, size) == static_cast<ssize_t>(size);
        require(is_written, "there is memory for the file", std::to_string(size));
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { ::close(fd_); }
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

  private:
    int fd_;
};

}  // namespace aft
