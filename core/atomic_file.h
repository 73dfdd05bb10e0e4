// AtomicFile: a file that is written piece by piece, as write_atomically() of core/files.h does at
// once. One thread at a time; blocks on the disk. Implemented in core/files.cpp.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

namespace aft {

// What is written lies in a temporary file beside `path` until commit() puts it there; without
// commit() it is removed. Errors name `path`.
class AtomicFile {
  public:
    explicit AtomicFile(const std::filesystem::path& path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;
    void write(std::string_view bytes);                      // at the end
    void write_at(uint64_t offset, std::string_view bytes);  // over what is there
    // Another program may write it before commit().
    [[nodiscard]] std::filesystem::path temporary() const;
    void commit();  // once, as the last

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace aft
