// Job: looks through data without a model. Plain types. No LibTorch. Blocks until done; any thread.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/data_item.h"

namespace aft {

class DataSource;

// What the data say of themselves.
struct DataFacts {
    bool is_text = false;
    int64_t height = 0, width = 0, channels = 0, levels = 0, classes = 0;
    std::vector<std::string> class_names{};
    std::vector<uint8_t> alphabet{};         // texts: the byte of each token
    std::array<int64_t, 3> examples{};       // of train, validation, test
    std::array<std::string, 3> too_short{};  // of texts: why a part has no example; else empty
    std::string usual_part{};                // that is looked at when none is named
};

// The data that config.data.source names, open: pages of them are read without opening them again.
// The seed moves generated data, the model's length cuts texts into windows. Error: they cannot be
// had. Throws Interrupted where `stop` asks to stop while a folder is listed.
[[nodiscard]] std::shared_ptr<const DataSource> open_data(const Config& config,
                                                          const std::stop_token& stop = {});
[[nodiscard]] DataFacts facts_of_data(const DataSource& data);
// Example `index` of a part ("train", "validation", "test").
[[nodiscard]] DataItem data_example(const DataSource& data, const std::string& part, int64_t index);

}  // namespace aft
