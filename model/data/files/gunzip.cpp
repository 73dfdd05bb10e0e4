#include "model/data/files/gunzip.h"

#include <zlib.h>

#include <algorithm>

#include "core/check.h"

namespace aft {
namespace {

class Inflater {
  public:
    Inflater(const std::string& packed, const std::string& path) : path_(path) {
        AFT_CHECK(inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK, "zlib does not start");
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
        stream_.avail_in = static_cast<uInt>(packed.size());
    }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;
    ~Inflater() { inflateEnd(&stream_); }

    // Unpacks into out[begin, end): how much came, less at the end of the stream only.
    size_t read(std::string& out, size_t begin, size_t end) {
        constexpr size_t kMost = size_t{1} << 30;  // zlib counts in 32 bits
        size_t done = begin;
        while (done < end && !ended_) {
            const size_t capacity = std::min(end - done, kMost);
            stream_.next_out = reinterpret_cast<Bytef*>(out.data() + done);
            stream_.avail_out = static_cast<uInt>(capacity);
            const int result = inflate(&stream_, Z_NO_FLUSH);
            done += capacity - stream_.avail_out;
            AFT_CHECK(result == Z_OK || result == Z_STREAM_END,
                      "cannot unpack '{}': {} after {} bytes", path_,
                      result == Z_BUF_ERROR ? "it is truncated" : "it is not valid gzip", done);
            ended_ = result == Z_STREAM_END;
        }
        return done - begin;
    }

  private:
    const std::string& path_;
    z_stream stream_{};
    bool ended_ = false;
};

}  // namespace

std::string gunzip(const std::string& packed, const std::string& path, const Promise& promise) {
    // Deflate packs 258 bytes into two bits at best.
    constexpr uint64_t kMostPerByte = 1032;
    Inflater inflater(packed, path);
    std::string out(promise.head_bytes, '\0');
    const size_t head = inflater.read(out, 0, out.size());
    AFT_CHECK(head == out.size(), "'{}': {} bytes, its header alone has {}", path, head,
              promise.head_bytes);
    const uint64_t total = promise.total(out);
    AFT_CHECK(total >= head && total / kMostPerByte <= packed.size(),
              "cannot unpack '{}': its header says {} bytes, its {} packed bytes cannot hold them",
              path, total, packed.size());
    out.resize(total);
    const size_t rest = inflater.read(out, head, out.size());
    AFT_CHECK(head + rest == total, "'{}': {} bytes of data, its header says {}", path, rest,
              total - head);
    std::string more(1, '\0');
    AFT_CHECK(inflater.read(more, 0, 1) == 0,
              "'{}': more than the {} bytes of data that its header says", path, total - head);
    return out;
}

}  // namespace aft
