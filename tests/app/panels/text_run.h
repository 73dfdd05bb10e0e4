// A run of a tiny model of bytes, for tests of texts in the window.
#pragma once
#include <fstream>

#include "tests/app/stage_fixture.h"

namespace aft::app {

// Its text is written into the folder beside it.
inline OpenRequest text_run(const std::filesystem::path& folder, int64_t steps) {
    std::ofstream text(folder / "plain.txt");
    for (int i = 0; i < 200; ++i) text << "Line " << i << " says: all's well.\n";
    OpenRequest request;
    request.config = tiny_config();
    request.config->model.task = "text";
    request.config->model.mixer = "aft-local";
    request.config->model.own["window"] = 8;
    request.config->model.own["length"] = 32;
    request.config->model.levels = 256;
    request.config->data.source = "text:" + (folder / "plain.txt").string();
    request.config->train.steps = steps;
    request.out = (folder / "text").string();
    return request;
}

}  // namespace aft::app
