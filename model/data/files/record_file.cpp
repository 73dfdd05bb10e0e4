#include "model/data/files/record_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/check.h"

namespace aft {

RecordFile::RecordFile(const std::filesystem::path& path, int64_t record_bytes)
    : path_(path), record_bytes_(record_bytes) {
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    AFT_CHECK(fd_ >= 0, "cannot read '{}': {}", path.string(), std::strerror(errno));
    struct stat info{};
    const bool regular = ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode);
    if (!regular) ::close(std::exchange(fd_, -1));
    AFT_CHECK(regular, "cannot read '{}': not a file", path.string());
    if (info.st_size == 0 || info.st_size % record_bytes != 0) {
        ::close(std::exchange(fd_, -1));
        fail(
            "'{}' has {} bytes; expected a multiple of {} (one record each): it is truncated or "
            "not of this format",
            path.string(), info.st_size, record_bytes);
    }
    records_ = info.st_size / record_bytes;
}

RecordFile::~RecordFile() {
    if (fd_ >= 0) ::close(fd_);
}

RecordFile::RecordFile(RecordFile&& other) noexcept
    : path_(std::move(other.path_)),
      record_bytes_(other.record_bytes_),
      records_(other.records_),
      fd_(std::exchange(other.fd_, -1)) {}

std::vector<uint8_t> RecordFile::read(int64_t index) const {
    AFT_ASSERT(index >= 0 && index < records_);
    std::vector<uint8_t> record(static_cast<size_t>(record_bytes_));
    size_t done = 0;
    while (done < record.size()) {
        const ssize_t n = ::pread(fd_, record.data() + done, record.size() - done,
                                  index * record_bytes_ + static_cast<int64_t>(done));
        if (n < 0 && errno == EINTR) continue;
        AFT_CHECK(n > 0, "cannot read record {} of '{}': {}", index, path_.string(),
                  n < 0 ? std::strerror(errno) : "the file has become shorter");
        done += static_cast<size_t>(n);
    }
    return record;
}

}  // namespace aft
