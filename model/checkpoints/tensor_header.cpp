#include "model/checkpoints/tensor_header.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include "core/check.h"
#include "core/json.h"
#include "core/outside.h"

namespace aft {
namespace {

constexpr size_t kMaxRank = 16;

struct Dtype {
    const char* name;
    uint64_t bytes;
};
constexpr Dtype kDtypes[] = {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},
                             {"I32", 4}, {"I16", 2}, {"I8", 1},  {"U64", 8},  {"U32", 4},
                             {"U16", 2}, {"U8", 1},  {"BOOL", 1}};

// Reads {"NAME": {"dtype": "F32", "shape": [..], "data_offsets": [a, b]}, "__metadata__": {..}} as
// events, so that a hostile header (deep nesting, millions of values) costs no more memory than its
// text.
class HeaderReader : public JsonEvents {
  public:
    HeaderReader(TensorHeader& header, const std::string& path) : header_(header), path_(path) {}

    bool start_object(std::size_t) override {
        if (depth_ == 0) {
            depth_ = 1;
        } else if (depth_ == 1) {
            depth_ = 2;
            fields_ = 0;
            if (!in_metadata()) header_.tensors.push_back({.name = name_});
        } else {
            refuse("an object");
        }
        return true;
    }
    bool end_object() override {
        if (depth_ == 2 && !in_metadata() && fields_ != kAllFields)
            fail("{}: tensor '{}' needs dtype, shape and data_offsets", path_, shown(name_));
        --depth_;
        return true;
    }
    bool key(std::string& key) override {
        if (depth_ == 1) {
            name_ = key;
            if (!names_.insert(key).second)
                fail("{}: tensor '{}' is there twice", path_, shown(key));
            return true;
        }
        field_ = key;
        const size_t field = std::find(std::begin(kFields), std::end(kFields), key) - kFields;
        if (!in_metadata() && field == std::size(kFields))
            fail("{}: tensor '{}' has an unknown key '{}'; allowed: dtype, shape, data_offsets",
                 path_, shown(name_), shown(key));
        const bool is_second =
            in_metadata() ? header_.metadata.contains(key) : (fields_ >> field & 1U) != 0;
        if (is_second) fail("{}: key '{}' of '{}' is there twice", path_, shown(key), shown(name_));
        fields_ |= in_metadata() ? 0 : 1U << field;
        return true;
    }
    bool start_array(std::size_t) override {
        if (depth_ != 2 || in_array_ || in_metadata() ||
            (field_ != "shape" && field_ != "data_offsets"))
            refuse("a list");
        in_array_ = true;
        numbers_.clear();
        return true;
    }
    bool end_array() override {
        in_array_ = false;
        TensorEntry& entry = header_.tensors.back();
        if (field_ == "shape") {
            entry.shape.assign(numbers_.begin(), numbers_.end());
        } else {
            if (numbers_.size() != 2)
                fail("{}: data_offsets of '{}' must be two numbers", path_, shown(name_));
            entry.begin = numbers_[0];
            entry.end = numbers_[1];
        }
        return true;
    }
    bool number_unsigned(number_unsigned_t value) override {
        if (!in_array_) refuse("a number");
        if (numbers_.size() >= kMaxRank)
            fail("{}: '{}' has more than {} dimensions", path_, shown(name_), kMaxRank);
        if (value > uint64_t{std::numeric_limits<int64_t>::max()})
            fail("{}: '{}' has a size or offset of {}", path_, shown(name_), value);
        numbers_.push_back(value);
        return true;
    }
    bool string(std::string& value) override {
        if (depth_ == 2 && in_metadata()) {
            header_.metadata[field_] = value;
        } else if (depth_ == 2 && !in_array_ && field_ == "dtype") {
            header_.tensors.back().dtype = value;
        } else {
            refuse("a text");
        }
        return true;
    }
    bool null() override { return refuse("null"); }
    bool boolean(bool) override { return refuse("true or false"); }
    bool number_integer(number_integer_t) override { return refuse("a negative number"); }
    bool number_float(number_float_t, const std::string&) override { return refuse("a fraction"); }
    bool binary(nlohmann::json::binary_t&) override { return refuse("binary data"); }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
        return false;  // scan_json throws instead
    }

  private:
    static constexpr std::string_view kFields[] = {"dtype", "shape", "data_offsets"};
    static constexpr unsigned kAllFields = 7;

    bool in_metadata() const { return name_ == "__metadata__"; }
    [[noreturn]] bool refuse(const char* found) const {
        if (depth_ == 0)
            fail("{}: the safetensors header must be an object, found {}", path_, found);
        if (depth_ == 1)
            fail("{}: entry '{}' must be an object, found {}", path_, shown(name_), found);
        fail("{}: '{}' of '{}' has the wrong kind of value: {}", path_, shown(field_), shown(name_),
             found);
    }

    TensorHeader& header_;
    const std::string& path_;
    int depth_ = 0;
    bool in_array_ = false;
    std::string name_, field_;
    std::unordered_set<std::string> names_;
    unsigned fields_ = 0;  // found in this tensor: a bit for each of kFields
    std::vector<uint64_t> numbers_;
};

// Bytes of one value. Error if the dtype is unknown: names the tensor and the allowed ones.
uint64_t dtype_bytes(const TensorEntry& entry, const std::string& path) {
    const auto* const found =
        std::find_if(std::begin(kDtypes), std::end(kDtypes),
                     [&](const Dtype& dtype) { return entry.dtype == dtype.name; });
    if (found != std::end(kDtypes)) return found->bytes;
    std::string known;
    for (const Dtype& dtype : kDtypes)
        known += (known.empty() ? "" : ", ") + std::string(dtype.name);
    fail("{}: tensor '{}': dtype '{}' is not supported; allowed: {}", path, shown(entry.name),
         shown(entry.dtype), known);
}

uint64_t checked_bytes(const TensorEntry& entry, uint64_t item_bytes, const std::string& path) {
    uint64_t bytes = item_bytes;
    bool empty = false;
    for (const int64_t size : entry.shape) {
        if (size == 0) empty = true;
        // Sizes beside a 0 count too: LibTorch computes strides from them.
        const auto factor = static_cast<uint64_t>(std::max<int64_t>(size, 1));
        if (bytes > uint64_t{std::numeric_limits<int64_t>::max()} / factor)
            fail("{}: the size of tensor '{}' overflows", path, shown(entry.name));
        bytes *= factor;
    }
    return empty ? 0 : bytes;
}

void check_offsets(TensorHeader& header, uint64_t data_bytes, const std::string& path) {
    std::sort(header.tensors.begin(), header.tensors.end(),
              [](const TensorEntry& a, const TensorEntry& b) {
                  return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
              });
    uint64_t at = 0;
    for (const TensorEntry& entry : header.tensors) {
        if (entry.begin != at || entry.end < entry.begin)
            fail("{}: tensor '{}' covers bytes {} to {}, expected it to begin at {}", path,
                 shown(entry.name), entry.begin, entry.end, at);
        const uint64_t bytes = checked_bytes(entry, dtype_bytes(entry, path), path);
        if (entry.end - entry.begin != bytes)
            fail("{}: tensor '{}' has {} bytes, its shape and dtype {} need {}", path,
                 shown(entry.name), entry.end - entry.begin, entry.dtype, bytes);
        at = entry.end;
    }
    if (at != data_bytes)
        fail("{}: the tensors cover {} bytes, but {} follow the header ({})", path, at, data_bytes,
             at > data_bytes ? "the file was cut off" : "bytes after the last tensor");
}

}  // namespace

TensorHeader parse_tensor_header(std::string_view text, uint64_t data_bytes,
                                 const std::string& path) {
    if (text.empty() || text.front() != '{')
        fail("{}: the safetensors header must start with '{{'", path);
    TensorHeader header;
    HeaderReader reader(header, path);
    scan_json(text, {.file = path}, reader);
    check_offsets(header, data_bytes, path);
    return header;
}

std::string print_tensor_header(const TensorHeader& header) {
    using nlohmann::ordered_json;
    ordered_json json = ordered_json::object();
    // As a vector: to find a name is a walk over all before it (200 000 tensors: 70 s).
    auto& entries =
        static_cast<ordered_json::object_t::Container&>(json.get_ref<ordered_json::object_t&>());
    if (!header.metadata.empty()) entries.emplace_back("__metadata__", header.metadata);
    for (const TensorEntry& entry : header.tensors)
        entries.emplace_back(entry.name, ordered_json{{"dtype", entry.dtype},
                                                      {"shape", entry.shape},
                                                      {"data_offsets", {entry.begin, entry.end}}});
    std::string text = json_text(json);
    text.resize((text.size() + 7) / 8 * 8, ' ');
    return text;
}

}  // namespace aft
