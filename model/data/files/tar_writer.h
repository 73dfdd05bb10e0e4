// TarWriter: files as a tar archive on a stream, through libarchive. ustar, pax where a name or a
// size needs it; owner, times and permissions are always the same, so that the same files give the
// same bytes. One thread. No LibTorch.
#pragma once
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

struct archive;

namespace aft {

class TarWriter {
  public:
    // `out` outlives it. Where writing fails `out` is no longer good(): ask it, as write_atomically
    // does.
    explicit TarWriter(std::ostream& out);
    // Error where libarchive refuses the name.
    void add(const std::string& name, std::string_view content);
    void close();  // the mark at the end; nothing is added after it

    // Bytes that a member of so many bytes takes, if its name is short and in ASCII.
    [[nodiscard]] static int64_t member_bytes(int64_t content);
    static constexpr int64_t kEndBytes = 1024;

  private:
    struct Free {
        void operator()(archive* writer) const;
    };
    std::unique_ptr<archive, Free> writer_;
};

}  // namespace aft
