#include "model/jobs/browse.h"

#include "core/check.h"
#include "model/data/loader.h"

namespace aft {

std::shared_ptr<const DataSource> open_data(const Config& config, const std::stop_token& stop) {
    return open_source(parse_spec(config.data.source, stop),
                       static_cast<uint64_t>(config.train.seed), text_length(config.model));
}

DataFacts facts_of_data(const DataSource& data) {
    const DataInfo& info = data.info();
    std::array<std::string, 3> too_short;
    for (const Split split : {Split::train, Split::validation, Split::test})
        if (data.size(split) == 0)
            too_short[static_cast<size_t>(split)] = why_too_short(data, split);
    return {
        .is_text = info.is_text,
        .height = info.height,
        .width = info.width,
        .channels = info.channels,
        .levels = info.levels,
        .classes = info.classes,
        .class_names = info.class_names,
        .alphabet = info.alphabet,
        .examples = {data.size(Split::train), data.size(Split::validation), data.size(Split::test)},
        .too_short = too_short,
        .usual_part = split_name(usual_split(data))};
}

DataItem data_example(const DataSource& data, const std::string& part, int64_t index) {
    const Split split = parse_split(part);
    const int64_t size = data.size(split);
    AFT_CHECK(index >= 0 && index < size, "the {} part has {} examples, found index {}", part, size,
              index);
    Example example = data.example(split, index);
    return {.tokens = std::move(example.values),
            .label = example.label,
            .split = part,
            .caption = {},
            .part_size = size};
}

}  // namespace aft
