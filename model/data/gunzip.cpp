#include "model/data/gunzip.h"

#include <zlib.h>

#include "core/check.h"

namespace aft {
namespace {

class Inflater {
  public:
    Inflater() { AFT_CHECK(inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK, "zlib does not start"); }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;
    ~Inflater() { inflateEnd(&stream); }
    z_stream stream{};
};

}  // namespace

std::string gunzip(const std::string& packed, const std::string& path, uint64_t max_bytes) {
    Inflater inflater;
    z_stream& stream = inflater.stream;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    std::string out, chunk(1 << 20, '\0');
    int result = Z_OK;
    while (result != Z_STREAM_END) {
        stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
        stream.avail_out = static_cast<uInt>(chunk.size());
        result = inflate(&stream, Z_NO_FLUSH);
        AFT_CHECK(result == Z_OK || result == Z_STREAM_END, "cannot unpack '{}': {} after {} bytes",
                  path, result == Z_BUF_ERROR ? "it is truncated" : "it is not valid gzip",
                  out.size());
        out.append(chunk, 0, chunk.size() - stream.avail_out);
        AFT_CHECK(out.size() <= max_bytes, "cannot unpack '{}': more than {} bytes", path,
                  max_bytes);
    }
    return out;
}

}  // namespace aft
