// A data source room: labelled pictures, or a text. Deterministic in (seed, index). Any thread may
// call example(). Room = one .cpp with one exported function `SourceRoom NAME_source();`, listed in
// rooms.cpp. SPEC: NAME[:PATH][?key=value&key=value...]. Unknown options are usage Errors that list
// the allowed ones.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/images/image.h"
#include "core/rooms.h"

namespace aft {

enum class Split { train, validation, test };
[[nodiscard]] const char* split_name(Split split);
[[nodiscard]] Split parse_split(const std::string& name);
// ?split=all of a source that knows it: everything is its test part, and no other has anything.
inline constexpr const char* kAllParts = "all";

struct Spec {
    std::string text;  // as given, for messages: at most 80 characters
    std::string room, path;
    std::map<std::string, std::string> options;
    // Looked at between the entries of a folder that is listed; then Interrupted is thrown.
    std::stop_token stop{};
    [[nodiscard]] int64_t integer(const std::string& key, int64_t fallback, int64_t low,
                                  int64_t high) const;
    [[nodiscard]] double number(const std::string& key, double fallback, double low,
                                double high) const;
    [[nodiscard]] bool flag(const std::string& key, bool fallback) const;
    // Throws on an option not among these or "split".
    void allow(const std::vector<std::string>& keys) const;
};
[[nodiscard]] Spec parse_spec(const std::string& text, std::stop_token stop = {});
// Throws where `folder` of `spec` is not there, and says how to name the place of the data.
void check_folder(const Spec& spec, const std::filesystem::path& folder);

struct Example {
    // image: [height, width, channels] levels in [0, levels); text: `length` bytes
    std::vector<uint8_t> values;
    int64_t label = -1;
};

// 8 bits a value, info().channels of them.
struct WholePicture {
    Image image;
    int64_t label = -1;
};

struct DataInfo {
    bool is_text = false;
    int64_t height = 0, width = 0, channels = 0, levels = 256, classes = 0;
    std::vector<std::string> class_names;
    // text: byte of each token (256 entries, or the bytes that occur)
    std::vector<uint8_t> alphabet;
    std::optional<double> floor_bits;  // exact entropy in bits per dimension, where it is known
    std::string floor_note;            // how it was computed
};

class DataSource {
  public:
    virtual ~DataSource() = default;
    [[nodiscard]] virtual const DataInfo& info() const = 0;
    // Number of examples; generators: a fixed large number.
    [[nodiscard]] virtual int64_t size(Split split) const = 0;
    // Images: index in [0, size). Text: window `index` of `length` bytes (non-overlapping).
    [[nodiscard]] virtual Example example(Split split, int64_t index) const = 0;
    // The same; none where it cannot be read, which a source that notes such examples says in a
    // warning. Sources that do not note them: an Error.
    [[nodiscard]] virtual std::optional<Example> readable_example(Split split, int64_t index) const;
    // Images, for augmentation: the whole picture before it is cropped and scaled, else the example
    // as it is; none as above.
    [[nodiscard]] virtual std::optional<WholePicture> picture(Split split, int64_t index) const;
    // Called before the first step of a training; Error where too much cannot be read.
    virtual void check_readable() const {}
    // Text: `length` tokens from byte offset `start`; images: not supported.
    [[nodiscard]] virtual Example window(Split split, int64_t start, int64_t length) const;
    [[nodiscard]] virtual int64_t text_size(Split) const { return 0; }  // bytes of the split
};

struct PictureFolder;

struct SourceRoom {
    RoomInfo info;
    std::vector<std::string> options;  // "size=N side in pixels (16)", one line each
    // "", "folder", "file", "pattern": what stands after the colon
    std::string path_kind;
    // `seed` moves generators; readers ignore it.
    std::unique_ptr<DataSource> (*open)(const Spec& spec, uint64_t seed) = nullptr;
    // Sources whose pictures are files of their own: which these are (image_folder.h).
    PictureFolder (*files)(const Spec& spec) = nullptr;
};

[[nodiscard]] const std::vector<SourceRoom>& sources();
// text_length: T of a text model (its windows).
[[nodiscard]] std::unique_ptr<DataSource> open_source(const std::string& spec, uint64_t seed,
                                                      int64_t text_length = 0);
[[nodiscard]] std::unique_ptr<DataSource> open_source(const Spec& spec, uint64_t seed,
                                                      int64_t text_length = 0);
// Whether the room takes this option.
[[nodiscard]] bool has_option(const SourceRoom& room, const std::string& key);

}  // namespace aft
