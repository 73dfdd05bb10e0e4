#include "model/checkpoints/importers/mapping.h"

#include <algorithm>

#include "core/check.h"
#include "core/files.h"
#include "core/json.h"
#include "core/outside.h"
#include "core/text.h"

namespace aft::imports {

namespace {

using Json = nlohmann::json;

constexpr uint64_t kMostBytes = uint64_t{1} << 20;
constexpr size_t kMostRules = 500;

// An object of the file, with the place for messages; every key must be asked for.
class Reader {
  public:
    Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
        if (!object.is_object())
            fail_usage("{}: an object is expected, found {}", where_, found_json(object));
    }
    std::string text(const char* key) {
        const Json* value = find(key);
        if (value == nullptr) return "";
        if (value->is_number_integer()) return std::to_string(value->get<int64_t>());
        if (!value->is_string()) refuse(key, "a text", *value);
        return value->get<std::string>();
    }
    bool flag(const char* key) {
        const Json* value = find(key);
        if (value == nullptr) return false;
        if (!value->is_boolean()) refuse(key, "true or false", *value);
        return value->get<bool>();
    }
    // A text alone counts as a list of one.
    std::vector<std::string> texts(const char* key) {
        const Json* value = find(key);
        if (value == nullptr) return {};
        if (value->is_string()) return {value->get<std::string>()};
        if (!value->is_array() || value->size() > kMostRules)
            refuse(key, "a list of at most 500 texts", *value);
        std::vector<std::string> out;
        for (const Json& item : *value) {
            if (item.is_number_integer())
                out.push_back(std::to_string(item.get<int64_t>()));
            else if (item.is_string())
                out.push_back(item.get<std::string>());
            else
                refuse(key, "a list of texts", item);
        }
        return out;
    }
    std::map<std::string, std::string> table(const char* key) {
        std::map<std::string, std::string> out;
        for (const auto& [name, value] : entries(key)) {
            if (value.is_string())
                out[name] = value.get<std::string>();
            else if (value.is_number() || value.is_boolean())
                out[name] = value.dump();
            else
                refuse(name.c_str(), "a text, a number, true or false", value);
        }
        return out;
    }
    std::map<std::string, double> numbers(const char* key) {
        std::map<std::string, double> out;
        for (const auto& [name, value] : entries(key)) {
            if (!value.is_number()) refuse(name.c_str(), "a number", value);
            out[name] = value.get<double>();
        }
        return out;
    }
    const Json* find(const char* key) {
        asked_.emplace_back(key);
        const auto found = object_.find(key);
        return found == object_.end() ? nullptr : &*found;
    }
    void done() const {
        for (const auto& item : object_.items()) {
            if (std::find(asked_.begin(), asked_.end(), item.key()) != asked_.end()) continue;
            const std::string near = nearest_word(item.key(), asked_);
            fail_usage("{}: unknown key '{}'{}", where_, shown(item.key()),
                       near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
        }
    }
    [[noreturn]] void refuse(const char* key, const char* expected, const Json& found) const {
        fail_usage("{}: '{}' is {}, found {}", where_, shown(key), expected, found_json(found));
    }

  private:
    std::map<std::string, Json> entries(const char* key) {
        const Json* value = find(key);
        if (value == nullptr) return {};
        if (!value->is_object() || value->size() > kMostRules)
            refuse(key, "an object of at most 500 entries", *value);
        return value->get<std::map<std::string, Json>>();
    }
    const Json& object_;
    std::string where_;
    std::vector<std::string> asked_;
};

Rule read_rule(const Json& json, const std::string& where) {
    Reader in(json, where);
    Rule rule{.from = in.text("from"),
              .to = in.texts("to"),
              .drop = in.text("drop"),
              .check = in.text("check"),
              .otherwise = in.text("otherwise"),
              .copy = in.flag("copy"),
              .transpose = in.flag("transpose"),
              .shape = in.texts("shape"),
              .back = in.texts("back"),
              .first = in.text("first"),
              .scale = in.text("scale"),
              .times = in.text("times"),
              .visible = in.text("visible"),
              .hidden = in.text("hidden")};
    in.done();
    if (rule.from.empty()) fail_usage("{}: 'from' says which tensors are meant", where);
    if (rule.to.empty() == rule.drop.empty())
        fail_usage("{}: either 'to' (our name) or 'drop' (why it is left out)", where);
    if (!rule.check.empty() && rule.check != "band" && rule.check != "sinusoidal")
        fail_usage("{}: 'check' is '{}'; allowed: band, sinusoidal", where, shown(rule.check));
    return rule;
}

Argument read_argument(const Json& json, const std::string& where) {
    Reader in(json, where);
    Argument out{.setting = in.text("setting"),
                 .text = in.text("text"),
                 .values = in.table("values"),
                 .is_free = in.flag("free"),
                 .is_note = in.flag("note")};
    in.done();
    if (out.setting.empty()) fail_usage("{}: 'setting' says which setting is meant", where);
    return out;
}

Constructor read_constructor(const Json& json, const std::string& where) {
    Reader in(json, where);
    Constructor out{.name = in.text("name"), .arguments = {}};
    const Json* list = in.find("arguments");
    if (list == nullptr || !list->is_array() || list->size() > kMostRules)
        fail_usage("{}: 'arguments' is a list of at most 500", where);
    for (size_t i = 0; i < list->size(); ++i)
        out.arguments.push_back(
            read_argument((*list)[i], fmt::format("{}: arguments[{}]", where, i)));
    in.done();
    return out;
}

}  // namespace

Mapping read_mapping(const std::filesystem::path& file) {
    const std::string where = file.string();
    const Json json = read_json_file(file, kMostBytes, ErrorKind::usage);
    Reader in(json, where);
    Mapping out;
    out.file = where;
    out.info = {shown_path(where), in.text("sentence")};
    out.needs = in.texts("needs");
    out.lacks = in.texts("lacks");
    out.notes = in.texts("notes");
    out.given = in.texts("given");
    out.by_name_only = in.flag("by_name_only");
    out.refuse = in.text("refuse");
    out.sizes = in.table("sizes");
    out.settings = in.table("settings");
    out.ask = in.table("ask");
    out.fill = in.numbers("fill");
    out.fresh = in.texts("new");
    if (const Json* rules = in.find("tensors")) {
        if (!rules->is_array() || rules->size() > kMostRules)
            in.refuse("tensors", "a list of at most 500 rules", *rules);
        for (size_t i = 0; i < rules->size(); ++i)
            out.rules.push_back(read_rule((*rules)[i], fmt::format("{}: tensors[{}]", where, i)));
    }
    if (const Json* constructor = in.find("constructor"))
        out.constructor = read_constructor(*constructor, where + ": constructor");
    in.done();
    if (out.refuse.empty() && out.rules.empty())
        fail_usage("{}: 'tensors' lists the rules, one at least", where);
    return out;
}

std::vector<Mapping> known_mappings() {
    std::vector<Mapping> all;
    for (const auto& entry : fs::directory_iterator(shared_file("assets/imports")))
        if (entry.path().extension() == ".json") {
            all.push_back(read_mapping(entry.path()));
            all.back().info.name = entry.path().stem().string();
            all.back().is_known = true;
        }
    std::sort(all.begin(), all.end(),
              [](const Mapping& a, const Mapping& b) { return a.info.name < b.info.name; });
    return all;
}

}  // namespace aft::imports
