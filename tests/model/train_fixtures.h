// What the tests of checkpoints, trainer and run folders share: a small config, files as text.
#pragma once
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "model/config.h"
#include "tests/model/scratch.h"

namespace aft {

inline std::string file_text(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

// Trains in milliseconds: 8x8 mirror, 4 levels, 2 layers of 16.
inline Config tiny_config() {
    Config config;
    config.name = "tiny";
    config.model.layers = 2;
    config.model.dim = 16;
    config.model.own["factors"] = 8;
    config.model.dropout = 0.1;
    config.model.init = "fan-in";
    config.data.source = "mirror?size=8&levels=4";
    config.train.batch = 4;
    config.train.micro_batch = 3;  // two unequal micro batches
    config.train.steps = 40;
    config.train.warmup = 5;
    config.train.validate_every = 10;
    config.train.validate_examples = 6;
    config.train.checkpoint_every = 20;
    return config;
}

// The message of the aft::Error that `work` throws; "" if it throws none.
template <class Work>
std::string error_of(Work&& work) {
    try {
        work();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

}  // namespace aft
