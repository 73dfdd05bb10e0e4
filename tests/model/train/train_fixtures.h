// What the tests of checkpoints, trainer and run folders share: a small config, files as text.
#pragma once
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/model/mirror_config.h"
#include "tests/model/scratch.h"

namespace aft {

inline std::string file_text(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

// mirror_config() with everything that a run may do.
inline Config tiny_config() {
    Config config = mirror_config();
    config.name = "tiny";
    config.model.dropout = 0.1;
    config.train.micro_batch = 3;  // two unequal micro batches
    config.train.steps = 40;
    config.train.validate_every = 10;
    config.train.validate_examples = 6;
    config.train.checkpoint_every = 20;
    return config;
}

}  // namespace aft
