// The run that tests train in milliseconds: 8x8 mirror, 4 levels, 2 layers of 16. Tests only.
#pragma once
#include "model/config.h"

namespace aft {

inline Config mirror_config() {
    Config config;
    config.model.layers = 2;
    config.model.dim = 16;
    config.model.own["factors"] = 8;
    config.model.init = "fan-in";
    config.data.source = "mirror?size=8&levels=4";
    config.train.batch = 4;
    config.train.warmup = 5;
    return config;
}

}  // namespace aft
