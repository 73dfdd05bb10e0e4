#include "model/data/files/tar_writer.h"

#include <archive.h>
#include <archive_entry.h>

#include "core/check.h"
#include "core/outside.h"

namespace aft {
namespace {

struct EntryFree {
    void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

// Called by libarchive. A stream that fails keeps that to itself, whoever owns it says why.
la_ssize_t write_to_stream(archive*, void* stream, const void* bytes, size_t count) {
    auto& out = *static_cast<std::ostream*>(stream);
    out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
    return static_cast<la_ssize_t>(count);
}

void check_writer(archive* writer, int result, const std::string& what) {
    if (result == ARCHIVE_OK || result == ARCHIVE_WARN) return;
    const char* words = archive_error_string(writer);
    fail("cannot write the tar member '{}': {}", shown(what),
         words == nullptr ? "libarchive does not say why" : shown(words));
}

}  // namespace

void TarWriter::Free::operator()(archive* writer) const {
    archive_write_free(writer);
}

TarWriter::TarWriter(std::ostream& out) : writer_(archive_write_new()) {
    AFT_CHECK(writer_ != nullptr, "libarchive does not start");
    const bool is_open =
        archive_write_set_format_pax_restricted(writer_.get()) == ARCHIVE_OK &&
        archive_write_set_bytes_in_last_block(writer_.get(), 1) == ARCHIVE_OK &&
        archive_write_open(writer_.get(), &out, nullptr, write_to_stream, nullptr) == ARCHIVE_OK;
    AFT_CHECK(is_open, "libarchive does not start to write");
}

void TarWriter::add(const std::string& name, std::string_view content) {
    constexpr unsigned kMode = 0644;
    const std::unique_ptr<archive_entry, EntryFree> entry(archive_entry_new());
    AFT_CHECK(entry != nullptr, "libarchive does not start");
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), kMode);
    archive_entry_set_mtime(entry.get(), 0, 0);
    check_writer(writer_.get(), archive_write_header(writer_.get(), entry.get()), name);
    const la_ssize_t written = archive_write_data(writer_.get(), content.data(), content.size());
    AFT_CHECK(written == static_cast<la_ssize_t>(content.size()),
              "cannot write the tar member '{}': {} of {} bytes were taken", shown(name), written,
              content.size());
}

void TarWriter::close() {
    check_writer(writer_.get(), archive_write_close(writer_.get()), "end");
}

int64_t TarWriter::member_bytes(int64_t content) {
    constexpr int64_t kBlock = 512;
    return kBlock + (content + kBlock - 1) / kBlock * kBlock;
}

}  // namespace aft
