// The paper's tasks at the sizes of its models, for rows of whole nets: bytes of a text, and
// classification. (Sub-pixels: pixel_config of training.h.) Benchmark thread only.
#pragma once
#include <filesystem>
#include <string>

#include "model/config.h"

namespace aft::bench {

// A file of random bytes, which costs a training as much as a text; removed at the end.
class ByteFile {
  public:
    ByteFile();
    ~ByteFile();
    ByteFile(const ByteFile&) = delete;
    ByteFile& operator=(const ByteFile&) = delete;
    [[nodiscard]] std::string source() const { return "text:" + path_.string(); }

  private:
    std::filesystem::path path_;
};

// enwik8: T = 1024, d = 512, window 32; two layers, four texts a step. `source`: of a ByteFile.
[[nodiscard]] Config byte_config(const std::string& mixer, const std::string& source, bool quick);
// A preset of classification on drawn pictures of the same size, four a step.
[[nodiscard]] Config image_config(const std::string& preset, bool quick);

}  // namespace aft::bench
