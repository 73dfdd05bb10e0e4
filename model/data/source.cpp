#include "model/data/source.h"

#include "core/check.h"
#include "core/outside.h"

namespace aft {
namespace {

const char* path_word(const SourceRoom& room) {
    if (room.path_kind == "pattern") return "GLOB";
    return room.path_kind == "file" ? "FILE" : "DIR";
}

void check_path(const Spec& spec, const SourceRoom& room) {
    if (room.path_kind.empty() && !spec.path.empty())
        fail_usage("data '{}': '{}' is made by the program and takes no path; found '{}'",
                   spec.text, spec.room, shown(spec.path));
    if (!room.path_kind.empty() && spec.path.empty())
        fail_usage("data '{}': a {} is missing; write {}:{}", spec.text, room.path_kind, spec.room,
                   path_word(room));
}

}  // namespace

void check_folder(const Spec& spec, const std::filesystem::path& folder) {
    std::error_code error;
    if (std::filesystem::is_directory(folder, error)) return;
    std::string options;
    for (const auto& [key, value] : spec.options)
        options += (options.empty() ? "?" : "&") + key + "=" + value;
    fail("data '{}': no folder '{}'; say where the files are, as in --data '{}:DIR{}'", spec.text,
         shown_path(folder.string()), spec.room, shown(options));
}

std::optional<Example> DataSource::readable_example(Split split, int64_t index) const {
    return example(split, index);
}

std::optional<WholePicture> DataSource::picture(Split split, int64_t index) const {
    auto example = readable_example(split, index);
    if (!example) return std::nullopt;
    const DataInfo& shape = info();
    const int64_t top = shape.levels - 1;
    Image image{shape.width, shape.height, shape.channels, std::move(example->values)};
    for (uint8_t& value : image.pixels)
        value = static_cast<uint8_t>((2 * 255 * value + top) / (2 * top));
    return WholePicture{std::move(image), example->label};
}

Example DataSource::window(Split, int64_t, int64_t) const {
    fail("this data source holds pictures, not text: it has no windows");
}

bool has_option(const SourceRoom& room, const std::string& key) {
    for (const std::string& line : room.options)
        if (line.starts_with(key + "=")) return true;
    return false;
}

std::unique_ptr<DataSource> open_source(const Spec& given, uint64_t seed, int64_t text_length) {
    Spec spec = given;
    const SourceRoom& room = find_room(sources(), shown(spec.room), "data source");
    check_path(spec, room);
    if (text_length > 0 && has_option(room, "length"))
        spec.options.emplace("length", std::to_string(text_length));
    return room.open(spec, seed);
}

std::unique_ptr<DataSource> open_source(const std::string& text, uint64_t seed,
                                        int64_t text_length) {
    return open_source(parse_spec(text), seed, text_length);
}

}  // namespace aft
