// Settings of a made-up oven, with a row of every kind: what tests of settings set and read. Tests
// only.
#pragma once
#include <string>

#include "core/settings.h"

namespace aft {

struct OvenSettings {
    int64_t trays = 2;
    double heat = 180.5;
    bool fan = false;
    std::string mode = "bake", label = "left";
    SettingRows rows() {
        return {{.key = "oven.trays", .value = &trays, .help = "Trays.", .min = 1, .max = 8},
                {.key = "oven.heat", .value = &heat, .help = "Heat.", .min = 0},
                {.key = "oven.fan", .value = &fan, .help = "Fan."},
                {.key = "oven.mode", .value = &mode, .help = "Mode.", .choices = {"bake", "grill"}},
                {.key = "oven.door.label", .value = &label, .help = "Label."}};
    }
};

}  // namespace aft
