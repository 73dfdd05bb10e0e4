// RecordFile: records of fixed size read one at a time from an open file, so that opening costs
// nothing and memory stays small. Any thread may read. Errors name the path.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace aft {

class RecordFile {
  public:
    // Throws if the file cannot be read or its size is no multiple of record_bytes.
    RecordFile(const std::filesystem::path& path, int64_t record_bytes);
    ~RecordFile();
    RecordFile(RecordFile&& other) noexcept;
    RecordFile(const RecordFile&) = delete;
    RecordFile& operator=(const RecordFile&) = delete;

    [[nodiscard]] int64_t records() const { return records_; }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::vector<uint8_t> read(int64_t index) const;  // index in [0, records)

  private:
    std::filesystem::path path_;
    int64_t record_bytes_ = 0, records_ = 0;
    int fd_ = -1;
};

}  // namespace aft
