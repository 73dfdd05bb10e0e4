// data_picture: what the data of a source look like, without a model.
#include "model/data/source.h"
#include "model/jobs/lists.h"

namespace aft {

Image data_picture(const std::string& source, int64_t index) {
    const std::unique_ptr<DataSource> data = open_source(source, 0);
    const DataInfo& info = data->info();
    AFT_CHECK(!info.is_text, "data '{}' are text, expected pictures", source);
    AFT_CHECK(info.channels == 1 || info.channels == 3, "data '{}': {} channels, expected 1 or 3",
              source, info.channels);
    const Split split = Split::test;
    const int64_t size = data->size(split);
    AFT_CHECK(index >= 0 && index < size, "data '{}': picture {}, expected 0 to {}", source, index,
              size - 1);
    Image image{info.width, info.height, info.channels, data->example(split, index).values};
    for (uint8_t& value : image.pixels)
        value = static_cast<uint8_t>((2 * 255 * value + info.levels - 1) / (2 * (info.levels - 1)));
    return image;
}

}  // namespace aft
