#include "core/json.h"

#include <algorithm>
#include <vector>

#include "core/files.h"
#include "core/outside.h"
#include "core/text.h"

namespace aft {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const JsonOrigin& origin, const std::string& what) {
    const std::string line =
        origin.line_at ? fmt::format(" the line at byte {} is", *origin.line_at) : std::string();
    throw Error(fmt::format("{}:{} {}", origin.file, line, what), origin.kind);
}

[[noreturn]] void refuse_depth(const JsonOrigin& origin) {
    refuse(origin, fmt::format("nested too deep; allowed: {} levels of JSON", kMostJsonLevels));
}

// The lexer repeats what it read last, which can be the whole text.
[[noreturn]] void refuse_syntax(const JsonOrigin& origin, const std::string& error) {
    const std::string words = plain_json_error(error);
    const size_t last = words.find("; last read: ");
    constexpr size_t kMostBytes = 160;  // a number out of range is repeated whole
    const std::string reason = words.substr(0, last);
    std::string said = printable_line(reason.substr(0, kMostBytes));
    if (reason.size() > kMostBytes) said += "...";
    if (last != std::string::npos) said += shown(std::string_view(words).substr(last));
    refuse(origin, "not valid JSON: " + said);
}

// Builds the value; arrays and objects that are still open lie on a stack of its own.
class Builder final : public JsonEvents {
  public:
    Builder(Json& root, const JsonOrigin& origin) : root_(root), origin_(origin) {}

    bool null() override { return put(nullptr); }
    bool boolean(bool value) override { return put(value); }
    bool number_integer(Json::number_integer_t value) override { return put(value); }
    bool number_unsigned(Json::number_unsigned_t value) override { return put(value); }
    bool number_float(Json::number_float_t value, const std::string&) override {
        return put(value);
    }
    bool string(std::string& value) override { return put(std::move(value)); }
    bool binary(Json::binary_t& value) override { return put(std::move(value)); }
    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(std::string& key) override {
        auto& object = open_.back()->get_ref<Json::object_t&>();
        const auto [place, is_new] = object.try_emplace(std::move(key));
        if (!is_new)
            refuse(origin_,
                   fmt::format("key '{}' is there twice in one object", shown(place->first)));
        value_ = &place->second;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
        refuse_syntax(origin_, error.what());
    }

  private:
    Json& place() {
        if (open_.empty()) return root_;
        if (open_.back()->is_object()) return *value_;
        return open_.back()->get_ref<Json::array_t&>().emplace_back();
    }
    template <class T>
    bool put(T&& value) {
        place() = std::forward<T>(value);
        return true;
    }
    bool open(Json empty) {
        if (open_.size() == kMostJsonLevels) refuse_depth(origin_);
        Json& at = place();
        at = std::move(empty);
        open_.push_back(&at);
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    Json& root_;
    const JsonOrigin& origin_;
    std::vector<Json*> open_;
    Json* value_ = nullptr;  // of the key that was read last
};

class DepthGuard final : public JsonEvents {
  public:
    DepthGuard(JsonEvents& events, const JsonOrigin& origin) : events_(events), origin_(origin) {}

    bool null() override { return events_.null(); }
    bool boolean(bool value) override { return events_.boolean(value); }
    bool number_integer(Json::number_integer_t value) override {
        return events_.number_integer(value);
    }
    bool number_unsigned(Json::number_unsigned_t value) override {
        return events_.number_unsigned(value);
    }
    bool number_float(Json::number_float_t value, const std::string& text) override {
        return events_.number_float(value, text);
    }
    bool string(std::string& value) override { return events_.string(value); }
    bool binary(Json::binary_t& value) override { return events_.binary(value); }
    bool start_object(std::size_t size) override {
        deeper();
        return events_.start_object(size);
    }
    bool start_array(std::size_t size) override {
        deeper();
        return events_.start_array(size);
    }
    bool end_object() override {
        --depth_;
        return events_.end_object();
    }
    bool end_array() override {
        --depth_;
        return events_.end_array();
    }
    bool key(std::string& key) override { return events_.key(key); }
    bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
        refuse_syntax(origin_, error.what());
    }

  private:
    void deeper() {
        if (depth_++ == kMostJsonLevels) refuse_depth(origin_);
    }

    JsonEvents& events_;
    const JsonOrigin& origin_;
    size_t depth_ = 0;
};

const char* type_words(const Json& value) {
    if (value.is_object()) return "an object";
    if (value.is_array()) return "an array";
    return value.is_string() ? "a string" : "a number";
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const JsonOrigin& origin) {
    Json root;
    Builder builder(root, origin);
    Json::sax_parse(text.begin(), text.end(), &builder);
    return root;
}

nlohmann::json read_json_file(const std::filesystem::path& path, uint64_t max_bytes,
                              ErrorKind kind) {
    const std::string name = path.string(), text = read_file(path, max_bytes);
    return parse_json(text, {.file = name, .kind = kind});
}

void scan_json(std::string_view text, const JsonOrigin& origin, JsonEvents& events) {
    DepthGuard guard(events, origin);
    Json::sax_parse(text.begin(), text.end(), &guard);
}

std::string json_text(const nlohmann::json& value, int indent) {
    return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string json_text(const nlohmann::ordered_json& value, int indent) {
    return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string found_json(const nlohmann::json& value) {
    const std::string text = json_text(value);
    constexpr size_t kShort = 80;
    const bool is_short = text.size() <= kShort;
    if (is_short && !value.is_structured()) return printable_line(text);
    return fmt::format("{} {}", type_words(value), shown(text));
}

double clamped_number(const nlohmann::json& of, const char* key, const NumberLimits& limits) {
    if (!of.is_object()) fail("found {}, allowed: an object", found_json(of));
    const auto found = of.find(key);
    if (found == of.end()) return std::clamp(limits.standard, limits.low, limits.high);
    if (!found->is_number()) fail("{}: found {}, allowed: a number", key, found_json(*found));
    return std::clamp(found->get<double>(), limits.low, limits.high);
}

int64_t clamped_whole(const nlohmann::json& of, const char* key, const NumberLimits& limits) {
    return static_cast<int64_t>(clamped_number(of, key, limits));
}

}  // namespace aft
