#include "model/checkpoints/zip.h"

#include <algorithm>
#include <string_view>

#include "core/check.h"
#include "core/files.h"
#include "core/outside.h"

namespace aft {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd64 = 0x06064b50,
                   kLocator64 = 0x07064b50;
constexpr uint64_t kEndBytes = 22, kLocatorBytes = 20, kEnd64Bytes = 56, kCentralBytes = 46,
                   kLocalBytes = 30, kLongestComment = 65535;
constexpr uint64_t kMostDirectoryBytes = uint64_t{64} << 20;
constexpr uint64_t kIn64 = 0xffffffff;  // stands where the number is in the zip64 field
constexpr uint16_t kExtra64 = 1;

uint64_t number(std::string_view bytes, size_t at, size_t count) {
    uint64_t value = 0;
    for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
    return value;
}

// Replaces the numbers of a directory entry that did not fit into 32 bits, in their order.
void read_extra64(std::string_view extra, std::initializer_list<uint64_t*> numbers) {
    while (extra.size() >= 4) {
        const uint64_t kind = number(extra, 0, 2), bytes = number(extra, 2, 2);
        extra.remove_prefix(4);
        if (bytes > extra.size()) return;
        if (kind == kExtra64) {
            size_t at = 0;
            for (uint64_t* value : numbers)
                if (*value == kIn64 && at + 8 <= bytes) *value = number(extra, at, 8), at += 8;
            return;
        }
        extra.remove_prefix(bytes);
    }
}

}  // namespace

ZipFile::ZipFile(const fs::path& path) : path_(path), in_(path, std::ios::binary) {
    if (!in_) fail("{}: cannot be opened for reading", path.string());
    std::error_code error;
    size_ = fs::file_size(path, error);
    if (error) fail("{}: {}", path.string(), error.message());
    const uint64_t tail_bytes = std::min(size_, kEndBytes + kLongestComment + kLocatorBytes);
    const std::string tail = at(size_ - tail_bytes, tail_bytes);
    const size_t end = tail.rfind("PK\x05\x06");
    if (end == std::string::npos || end + kEndBytes > tail.size())
        fail("{}: a zip archive without its end: the file is cut off", path.string());
    uint64_t count = number(tail, end + 10, 2), bytes = number(tail, end + 12, 4),
             offset = number(tail, end + 16, 4);
    if (end >= kLocatorBytes && number(tail, end - kLocatorBytes, 4) == kLocator64) {
        const std::string end64 = at(number(tail, end - kLocatorBytes + 8, 8), kEnd64Bytes);
        if (number(end64, 0, 4) != kEnd64) fail("{}: a damaged zip archive", path.string());
        count = number(end64, 32, 8), bytes = number(end64, 40, 8), offset = number(end64, 48, 8);
    }
    read_directory(offset, bytes, count);
}

std::string ZipFile::at(uint64_t offset, uint64_t bytes) {
    if (offset > size_ || bytes > size_ - offset)
        fail("{}: {} bytes at offset {} of a file of {}: cut off or damaged", path_.string(), bytes,
             offset, size_);
    std::string out(bytes, '\0');
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(offset));
    in_.read(out.data(), static_cast<std::streamsize>(bytes));
    if (static_cast<uint64_t>(in_.gcount()) != bytes) fail("{}: cannot be read", path_.string());
    return out;
}

void ZipFile::read_directory(uint64_t offset, uint64_t bytes, uint64_t count) {
    if (bytes > kMostDirectoryBytes || count > bytes / kCentralBytes)
        fail("{}: a zip directory of {} bytes for {} members", path_.string(), bytes, count);
    const std::string text = at(offset, bytes);
    std::string_view rest = text;
    uint64_t total = 0;
    for (uint64_t i = 0; i < count; ++i) {
        if (rest.size() < kCentralBytes || number(rest, 0, 4) != kCentral)
            fail("{}: a damaged zip directory", path_.string());
        const uint64_t flags = number(rest, 8, 2), method = number(rest, 10, 2);
        uint64_t packed = number(rest, 20, 4), size = number(rest, 24, 4);
        uint64_t header = number(rest, 42, 4);
        const uint64_t name_bytes = number(rest, 28, 2), extra_bytes = number(rest, 30, 2),
                       comment_bytes = number(rest, 32, 2);
        rest.remove_prefix(kCentralBytes);
        if (name_bytes + extra_bytes + comment_bytes > rest.size())
            fail("{}: a damaged zip directory", path_.string());
        const std::string name(rest.substr(0, name_bytes));
        read_extra64(rest.substr(name_bytes, extra_bytes), {&size, &packed, &header});
        rest.remove_prefix(name_bytes + extra_bytes + comment_bytes);
        if (method != 0 || packed != size || (flags & 1) != 0)
            fail("{}: '{}' is compressed or encrypted; torch.save stores data as they are",
                 path_.string(), shown(name));
        total += std::min(size, size_ + 1);
        if (total > size_)
            fail("{}: its members claim more than the {} bytes of the file", path_.string(), size_);
        if (!members_.emplace(name, Member{header, size}).second)
            fail("{}: '{}' is there twice", path_.string(), shown(name));
    }
}

const ZipFile::Member* ZipFile::find(const std::string& name) const {
    const auto found = members_.find(name);
    return found == members_.end() ? nullptr : &found->second;
}

void ZipFile::read(const Member& member, char* to, uint64_t bytes) {
    const std::string head = at(member.header, kLocalBytes);
    if (number(head, 0, 4) != kLocal) fail("{}: a damaged zip member", path_.string());
    const uint64_t data = member.header + kLocalBytes + number(head, 26, 2) + number(head, 28, 2);
    if (bytes > member.bytes || data > size_ || member.bytes > size_ - data)
        fail("{}: {} of {} bytes of a zip member at {}: cut off or damaged", path_.string(), bytes,
             member.bytes, data);
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(data));
    in_.read(to, static_cast<std::streamsize>(bytes));
    if (static_cast<uint64_t>(in_.gcount()) != bytes) fail("{}: cannot be read", path_.string());
}

std::string ZipFile::read_text(const Member& member, uint64_t most) {
    if (member.bytes > most)
        fail("{}: a member of {} bytes, at most {} are read", path_.string(), member.bytes, most);
    std::string out(member.bytes, '\0');
    read(member, out.data(), member.bytes);
    return out;
}

}  // namespace aft
