#include <unistd.h>

#include <filesystem>

#include "bench/training.h"
#include "core/files.h"
#include "core/rng.h"
#include "model/traits.h"

namespace aft::bench {
namespace {

// Random bytes: what they are costs nothing.
class ByteFile {
  public:
    ByteFile()
        : path_(std::filesystem::temp_directory_path() /
                fmt::format("afterimage-bench-{}.bytes", getpid())) {
        std::string bytes(size_t{1} << 18, ' ');
        CounterRng rng(1, 0);
        for (char& byte : bytes) byte = static_cast<char>(rng.below(256));
        write_atomically(path_, bytes);
    }
    ~ByteFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    ByteFile(const ByteFile&) = delete;
    ByteFile& operator=(const ByteFile&) = delete;
    [[nodiscard]] std::string source() const { return "text:" + path_.string(); }

  private:
    std::filesystem::path path_;
};

Config byte_config(const std::string& mixer, const std::string& source, bool quick) {
    Config config = pixel_config(mixer, quick);
    ModelConfig& model = config.model;
    model.task = "text";
    model.dim = quick ? 32 : 512;
    model.own["factors"] = quick ? 4 : 256;
    model.own["window"] = quick ? 4 : 32;  // of those that have one
    if (!mixer_traits(model).has_prior()) model.own["heads"] = 8;
    model.own["length"] = quick ? 64 : 1024;
    config.data.source = source;
    config.train.batch = quick ? 2 : 4;
    return config;
}

nlohmann::json row_of(const BenchSettings& settings, const JobControl& control) {
    const ByteFile file;
    const auto config = [&](const char* mixer) {
        return byte_config(mixer, file.source(), settings.quick);
    };
    return train_race(
        {.forms = against_baselines(config("aft-local"), config("softmax")),
         .accept = {{.group = "einsum", .ratio = 1.5}, {.group = "attention", .ratio = 1.15}}},
        settings, control);
}

std::vector<RowPlan> rows(bool quick) {
    return {{step_words(byte_config("aft-local", "", quick)), row_of}};
}

}  // namespace

WorkloadRoom step_bytes_workload() {
    return {.info = {"step_bytes", "a training step of aft-local, window 32, over bytes"},
            .rows = rows};
}

}  // namespace aft::bench
