// Files: limits on reading, atomic writing (temporary file beside it, flushed, renamed), the user's
// folders. Every error names the path. Any thread; blocks on the disk.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aft {

namespace fs = std::filesystem;

// Reads a regular file of at most `max_bytes`. Throws: missing, a folder, too large, unreadable.
[[nodiscard]] std::string read_file(const fs::path& path, uint64_t max_bytes = uint64_t{1} << 32);

// `bytes` bytes of a regular file from byte `offset` on. Throws the same, and where it ends before.
[[nodiscard]] std::string read_file_part(const fs::path& path, uint64_t offset, uint64_t bytes);

// Calls `write` with the temporary file's stream, then fsync and rename. A kill at any moment
// leaves the old file or the new one. On any error (disk full included) the temporary file is
// removed and Error is thrown.
void write_atomically(const fs::path& path, const std::function<void(std::ostream&)>& write);
void write_atomically(const fs::path& path, std::string_view content);

// Checks that `file` is writable before a long job; throws the error that the final write would
// give. Leaves no file.
void check_writable(const fs::path& file);

[[nodiscard]] std::string lower_ending(const fs::path& path);  // ".png" of A.PNG; ASCII alone

void make_folder(const fs::path& path);  // with parents; Error names the path

// A folder of its own in the system's place for such, removed with what is in it at the end.
class TemporaryFolder {
  public:
    explicit TemporaryFolder(const std::string& prefix = "afterimage-");
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] const fs::path& path() const { return path_; }
    [[nodiscard]] fs::path operator/(const fs::path& name) const { return path_ / name; }

  private:
    fs::path path_;
};

[[nodiscard]] fs::path config_folder();   // XDG_CONFIG_HOME/afterimage or ~/.config/afterimage
[[nodiscard]] std::string own_program();  // this program's file; empty where the system is silent
// assets/NAME or shaders/NAME: AFTERIMAGE_SHARE, beside the binary (../share/afterimage), or the
// source tree.
[[nodiscard]] fs::path shared_file(const std::string& name);
[[nodiscard]] std::string version();  // "0.1.0"

}  // namespace aft
