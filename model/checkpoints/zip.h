// ZipFile: the entries of a zip archive that are stored as they are, as PyTorch writes them (zip64
// too). Every offset is checked against the file, and all entries together are no larger than it.
// One thread; blocks on the disk. Format: PKWARE's APPNOTE 6.3, sections 4.3 to 4.5.
#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace aft {

class ZipFile {
  public:
    struct Member {
        uint64_t header = 0, bytes = 0;  // where its local header stands; size of its data
    };

    // Throws Error: not a zip archive, cut off, compressed or encrypted members.
    explicit ZipFile(const std::filesystem::path& path);
    [[nodiscard]] const std::map<std::string, Member>& members() const { return members_; }
    // nullptr: not there
    [[nodiscard]] const Member* find(const std::string& name) const;
    // Its first `bytes` bytes (at most its size).
    void read(const Member& member, char* to, uint64_t bytes);
    [[nodiscard]] std::string read_text(const Member& member, uint64_t most);

  private:
    std::string at(uint64_t offset, uint64_t bytes);
    void read_directory(uint64_t offset, uint64_t bytes, uint64_t count);

    std::filesystem::path path_;
    std::ifstream in_;
    uint64_t size_ = 0;
    std::map<std::string, Member> members_;
};

}  // namespace aft
