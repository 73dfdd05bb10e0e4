#include "bench/workloads/paper_configs.h"

#include <unistd.h>

#include "bench/workloads/training.h"
#include "core/files.h"
#include "core/rng.h"
#include "model/traits.h"

namespace aft::bench {

ByteFile::ByteFile()
    : path_(std::filesystem::temp_directory_path() /
            fmt::format("afterimage-bench-{}.bytes", getpid())) {
    std::string bytes(size_t{1} << 18, ' ');
    CounterRng rng(1, 0);
    for (char& byte : bytes) byte = static_cast<char>(rng.below(256));
    write_atomically(path_, bytes);
}

ByteFile::~ByteFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
}

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

Config image_config(const std::string& preset, bool quick) {
    Config config = load_preset(preset);
    ModelConfig& model = config.model;
    config.data = {.source = quick ? "shapes?size=32" : "shapes?size=224"};
    model.own["classes"] = 3;
    if (quick) {
        model.height = model.width = 32;
        model.own["patch"] = 8;
        model.layers = 2;
        if (mixer_traits(model).window > 0) model.own["window"] = 3;
    }
    config.train.batch = quick ? 2 : 4;
    config.train.micro_batch = 0;
    config.train.recompute = false;
    return config;
}

}  // namespace aft::bench
