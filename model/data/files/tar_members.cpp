#include "model/data/files/tar_members.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "core/check.h"
#include "core/files.h"
#include "core/outside.h"

namespace aft {
namespace {

constexpr int64_t kTarBlock = 512;
constexpr size_t kReadBlock = 16384;                   // bytes of one read
constexpr int64_t kMostTarMembers = int64_t{1} << 24;  // of one file
constexpr int64_t kMostMemberSize = int64_t{1} << 50;  // sums stay in 64 bits

struct TarClose {
    void operator()(archive* reader) const { archive_read_free(reader); }
};
using TarHandle = std::unique_ptr<archive, TarClose>;

std::string reader_words(archive* reader) {
    const char* words = archive_error_string(reader);
    return words == nullptr ? "it cannot be read" : shown(words);
}

// The name of a compression that these first bytes belong to; empty: of none that is known.
std::string compression_of(std::string_view bytes) {
    if (bytes.starts_with("\x1f\x8b")) return "gzip";
    if (bytes.starts_with("\x28\xb5\x2f\xfd")) return "zstd";
    if (bytes.starts_with("\xfd"
                          "7zXZ"))
        return "xz";
    if (bytes.starts_with("BZh")) return "bzip2";
    if (bytes.starts_with("\x04\x22\x4d\x18")) return "lz4";
    return "";
}

[[noreturn]] void fail_no_tar(const fs::path& path, uint64_t file_size, const std::string& why) {
    constexpr uint64_t kMostMagic = 6;
    const std::string begin = read_file_part(path, 0, std::min(file_size, kMostMagic));
    const std::string packed = compression_of(begin), file = shown_path(path.string());
    if (!packed.empty())
        fail(
            "'{}' is compressed ({}): pictures are read where they lie in a tar file, in any "
            "order; "
            "unpack it to a plain .tar",
            file, packed);
    fail("'{}' is not a tar file: {}", file, why);
}

// One pass over an open file. A member is handed out when the next header shows where it ends.
class TarPass {
  public:
    TarPass(const fs::path& path, const TarVisitor& visitor)
        : path_(path), visitor_(visitor), reader_(archive_read_new()) {
        AFT_CHECK(reader_ != nullptr, "libarchive does not start");
        // Checks that it is a regular file, too.
        (void)read_file_part(path, 0, 0);
        file_size_ = static_cast<int64_t>(fs::file_size(path));
        const bool is_open =
            archive_read_support_format_tar(reader_.get()) == ARCHIVE_OK &&
            archive_read_open_filename(reader_.get(), path.c_str(), kReadBlock) == ARCHIVE_OK;
        if (!is_open) fail_first();
    }

    TarEnd run() {
        archive_entry* entry = nullptr;
        for (int64_t members = 0;; ++members) {
            const int result = archive_read_next_header(reader_.get(), &entry);
            if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return end(result);
            AFT_CHECK(members < kMostTarMembers, "'{}' has more than {} members",
                      shown_path(path_.string()), kMostTarMembers);
            close_pending(archive_read_header_position(reader_.get()));
            open_pending(entry);
        }
    }

  private:
    [[noreturn]] void fail_first() const {
        fail_no_tar(path_, static_cast<uint64_t>(file_size_), reader_words(reader_.get()));
    }

    void open_pending(archive_entry* entry) {
        const char* name = archive_entry_pathname(entry);
        TarMember member{.name = name == nullptr ? "" : name,
                         .offset = archive_filter_bytes(reader_.get(), 0),
                         .size = archive_entry_size(entry)};
        member.problem = problem_of(entry, member);
        end_.is_truncated = member.size > file_size_ - member.offset;
        end_.at = end_.is_truncated ? file_size_ : padded_end(member);
        is_folder_ = archive_entry_filetype(entry) == AE_IFDIR;
        if (member.problem.empty() && member.size <= visitor_.most_content(member.name))
            read_content(member);
        pending_ = std::move(member);
    }

    [[nodiscard]] std::string problem_of(archive_entry* entry, const TarMember& member) const {
        if (archive_entry_hardlink(entry) != nullptr) return "it is a link to another member";
        if (archive_entry_filetype(entry) == AE_IFLNK) return "it is a symbolic link";
        if (archive_entry_filetype(entry) != AE_IFREG) return "it is no file";
        if (archive_entry_sparse_count(entry) > 0) return "it is stored with holes (sparse)";
        if (member.size < 0 || member.size > kMostMemberSize) return "it has no size that can be";
        if (member.size > file_size_ - member.offset)
            return fmt::format("it is cut: {} of {} bytes are there",
                               std::max<int64_t>(0, file_size_ - member.offset), member.size);
        return "";
    }

    void read_content(TarMember& member) {
        member.content.resize(static_cast<size_t>(member.size));
        const la_ssize_t count =
            archive_read_data(reader_.get(), member.content.data(), member.content.size());
        if (count == member.size) return;
        member.content.clear();
        member.problem = "it cannot be read";
    }

    static int64_t padded_end(const TarMember& member) {
        if (member.size < 0 || member.size > kMostMemberSize) return member.offset;
        return member.offset + (member.size + kTarBlock - 1) / kTarBlock * kTarBlock;
    }

    // `next`: the byte where the next header was looked for.
    void close_pending(int64_t next) {
        if (!pending_) return;
        if (pending_->problem.empty() && padded_end(*pending_) != next)
            pending_->problem = "it is stored in a form whose bytes are not those of the file";
        TarMember member = *std::move(pending_);
        pending_.reset();
        if (!is_folder_) visitor_.visit(std::move(member));
    }

    TarEnd end(int result) {
        const bool is_first = !pending_;
        if (result != ARCHIVE_EOF && is_first) fail_first();
        if (result == ARCHIVE_EOF) {
            const int64_t at = archive_read_header_position(reader_.get());
            if (!end_.is_truncated) close_pending(at);
            end_.is_marked = at + kTarBlock <= file_size_;
        } else if (!end_.is_truncated) {
            end_.damage = reader_words(reader_.get());
        }
        if (pending_) close_pending(padded_end(*pending_));
        return std::move(end_);
    }

    const fs::path& path_;
    const TarVisitor& visitor_;
    TarHandle reader_;
    int64_t file_size_ = 0;
    std::optional<TarMember> pending_{};
    bool is_folder_ = false;
    TarEnd end_{};
};

}  // namespace

TarEnd visit_tar(const fs::path& path, const TarVisitor& visitor) {
    return TarPass(path, visitor).run();
}

}  // namespace aft
