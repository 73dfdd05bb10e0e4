// What a sweep file says, read and checked.
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "core/caught.h"
#include "core/check.h"
#include "core/files.h"
#include "core/json.h"
#include "core/outside.h"
#include "core/text.h"
#include "model/jobs/sweep/sweep.h"
#include "model/run_name.h"

namespace aft {
namespace {

using Json = nlohmann::json;
using Settings = std::vector<std::pair<std::string, std::string>>;

constexpr size_t kMostRuns = 10000;
const std::set<std::string> kKeys{"sentence", "paper",    "preset", "data",  "from",  "set",
                                  "axes",     "variants", "seeds",  "split", "limit", "x"};
constexpr uint64_t kMostBytes = uint64_t{1} << 20;

struct SweepAxis {
    std::string key;
    std::vector<std::string> values;
};

// A sweep file and the key at which one is.
struct SweepReader {
    const Json& object;
    std::string file;

    [[noreturn]] void refuse(const std::string& key, const Json& found,
                             const std::string& allowed) const {
        fail_usage("{}: {}: found {}; allowed: {}", file, key, found_json(found), allowed);
    }
    [[nodiscard]] std::string text(const char* key) const {
        const auto found = object.find(key);
        if (found == object.end()) return "";
        if (!found->is_string()) refuse(key, *found, "a text");
        return found->get<std::string>();
    }
    // A number as it is written: 2.74 is "2.74".
    [[nodiscard]] std::string text_or_number(const char* key) const {
        const auto found = object.find(key);
        if (found == object.end()) return "";
        if (found->is_number()) return found->dump();
        if (!found->is_string()) refuse(key, *found, "a text or a number");
        return found->get<std::string>();
    }
    [[nodiscard]] int64_t whole(const char* key, int64_t fallback) const {
        const auto found = object.find(key);
        if (found == object.end()) return fallback;
        if (!found->is_number_unsigned() || *found > 1000000000)
            refuse(key, *found, "a whole number from 0 to 1000000000");
        return found->get<int64_t>();
    }
    [[nodiscard]] const Json* list(const char* key) const {
        const auto found = object.find(key);
        if (found == object.end()) return nullptr;
        if (!found->is_array() || found->empty() || found->size() > kMostRuns)
            refuse(key, *found, fmt::format("a list of 1 to {} entries", kMostRuns));
        return &*found;
    }
    void allow(const std::set<std::string>& keys, const std::string& where) const {
        if (!object.is_object()) refuse(where, object, "an object");
        for (const auto& [key, value] : object.items())
            if (!keys.contains(key))
                fail_usage("{}: {} has no key '{}'; allowed: {}", file, where, shown(key),
                           fmt::join(keys, ", "));
    }
};

// As --set takes it.
std::string value_of(const SweepReader& in, const std::string& key, const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
    if (value.is_number_integer()) return value.dump();
    if (value.is_number()) return exact_number(value.get<double>());
    in.refuse(key, value, "a number, a text, true or false");
}

Settings settings_of(const SweepReader& in) {
    Settings settings;
    const auto found = in.object.find("set");
    if (found == in.object.end()) return settings;
    if (!found->is_object()) in.refuse("set", *found, "an object of keys and values");
    for (const auto& [key, value] : found->items())
        settings.emplace_back(key, value_of(in, "set." + shown(key), value));
    return settings;
}

std::vector<SweepAxis> axes_of(const SweepReader& in) {
    std::vector<SweepAxis> axes;
    const Json* const list = in.list("axes");
    if (list == nullptr) return axes;
    for (const Json& entry : *list) {
        const SweepReader axis{entry, in.file};
        axis.allow({"key", "values"}, "an entry of axes");
        SweepAxis one{.key = axis.text("key"), .values = {}};
        const Json* const values = axis.list("values");
        if (one.key.empty() || values == nullptr)
            fail_usage("{}: an entry of axes has a key and values", in.file);
        for (const Json& value : *values) one.values.push_back(value_of(axis, one.key, value));
        axes.push_back(std::move(one));
    }
    return axes;
}

std::vector<SweepPoint> variants_of(const SweepReader& in) {
    std::vector<SweepPoint> variants;
    const Json* const list = in.list("variants");
    if (list == nullptr) return {SweepPoint{}};
    for (const Json& entry : *list) {
        const SweepReader variant{entry, in.file};
        variant.allow({"name", "set", "paper"}, "an entry of variants");
        SweepPoint point;
        point.variant = point.name = variant.text("name");
        point.paper = variant.text_or_number("paper");
        if (point.name.empty()) fail_usage("{}: an entry of variants has a name", in.file);
        point.settings = settings_of(variant);
        variants.push_back(std::move(point));
    }
    return variants;
}

// "model.window", "32" -> "window=32", as a part of a path.
std::string path_part(const std::string& key, const std::string& value) {
    std::string part = key.substr(key.rfind('.') + 1) + "=" + value;
    for (char& c : part)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 &&
            std::string_view("=._-+").find(c) == std::string_view::npos)
            c = '-';
    return part.substr(0, 60);
}

std::vector<SweepPoint> product(std::vector<SweepPoint> points, const std::vector<SweepAxis>& axes,
                                const std::string& file) {
    for (const SweepAxis& axis : axes) {
        std::vector<SweepPoint> next;
        for (const SweepPoint& point : points)
            for (const std::string& value : axis.values) {
                SweepPoint longer = point;
                longer.settings.emplace_back(axis.key, value);
                longer.name += (longer.name.empty() ? "" : ",") + path_part(axis.key, value);
                next.push_back(std::move(longer));
            }
        if (next.size() > kMostRuns)
            fail_usage("{}: {} points; allowed: at most {}", file, next.size(), kMostRuns);
        points = std::move(next);
    }
    return points;
}

std::vector<int64_t> seeds_of(const SweepReader& in, int64_t most) {
    std::vector<int64_t> seeds;
    if (const Json* const list = in.list("seeds"); list != nullptr) {
        for (const Json& seed : *list) {
            if (!seed.is_number_unsigned() || seed > int64_t{1} << 53)
                in.refuse("seeds", seed, "whole numbers, 0 or more");
            if (std::find(seeds.begin(), seeds.end(), seed.get<int64_t>()) != seeds.end())
                fail_usage("{}: seeds: {} is there twice", in.file, seed.get<int64_t>());
            seeds.push_back(seed.get<int64_t>());
        }
    } else {
        seeds = {1, 2, 3};
    }
    if (most > static_cast<int64_t>(seeds.size()))
        fail_usage("--seeds: found {}; {} has {}", most, in.file, seeds.size());
    if (most > 0) seeds.resize(static_cast<size_t>(most));
    return seeds;
}

Config base_of(const SweepReader& in, const SweepRequest& request, const std::string& name) {
    const std::string preset = in.text("preset");
    if (preset.empty())
        fail_usage("{}: has no 'preset', the settings that its runs share", in.file);
    Config config = with_context(in.file + ": preset", [&] { return load_preset(preset); });
    config.name = name;
    SettingRows rows = config.rows();
    with_context(in.file + ": set", [&] {
        for (const auto& [key, value] : settings_of(in)) set_from_text(rows, key, value);
    });
    if (const std::string data = in.text("data"); !data.empty())
        set_from_text(rows, "data.source", data);
    for (const std::string& line : request.set) {
        const size_t equals = line.find('=');
        if (equals == std::string::npos) fail_usage("--set '{}': expected key=value", line);
        set_from_text(rows, line.substr(0, equals), line.substr(equals + 1));
    }
    if (!request.data.empty()) set_from_text(rows, "data.source", request.data);
    return config;
}

void check_points(const SweepPlan& plan, const std::string& file) {
    std::set<std::string> names;
    for (const SweepPoint& point : plan.points) {
        const std::string where = fmt::format("{}: point '{}'", file, shown(point.name));
        if (const std::string problem = name_problem(point.name); !problem.empty())
            fail_usage("{}: {}", where, problem);
        if (!names.insert(point.name).second) fail_usage("{} is there twice", where);
        with_context(where, [&] {
            std::vector<std::string> given;
            for (const auto& setting : point.settings) given.push_back(setting.first);
            const Config config = sweep_config(plan, point, 1);
            config.model.check();
            check_read(config, given, "");
        });
    }
    const size_t runs = plan.points.size() * plan.seeds.size();
    if (runs > kMostRuns) fail_usage("{}: {} runs; allowed: at most {}", file, runs, kMostRuns);
}

// The only axis, if it has numbers; else what the file says.
std::string x_key_of(const SweepReader& in, const std::vector<SweepAxis>& axes) {
    const std::string given = in.text("x");
    const auto named = std::find_if(axes.begin(), axes.end(),
                                    [&](const SweepAxis& axis) { return axis.key == given; });
    if (!given.empty() && named == axes.end())
        fail_usage("{}: x: found '{}'; allowed: the key of an axis", in.file, shown(given));
    const auto is_number = [](const std::string& text) {
        return !text.empty() && text.find_first_not_of("0123456789.e+-") == std::string::npos;
    };
    const SweepAxis* const axis = !given.empty() ? &*named : axes.size() == 1 ? &axes[0] : nullptr;
    if (axis == nullptr || !std::all_of(axis->values.begin(), axis->values.end(), is_number))
        return "";
    return axis->key;
}

fs::path sweep_folder() {
    return shared_file("assets/sweeps");
}

fs::path file_of(const SweepRequest& request) {
    if (request.file.empty() == request.preset.empty())
        fail_usage("sweep: needs either FILE or --preset NAME; presets: afterimage list sweeps");
    if (!request.file.empty()) return request.file;
    const std::vector<RoomInfo> known = list_sweeps();
    std::vector<std::string> names;
    for (const RoomInfo& room : known) names.push_back(room.name);
    if (std::find(names.begin(), names.end(), request.preset) == names.end())
        fail_usage("unknown sweep '{}'; allowed: {}", shown(request.preset),
                   fmt::join(names, ", "));
    return sweep_folder() / (request.preset + ".json");
}

}  // namespace

Config sweep_config(const SweepPlan& plan, const SweepPoint& point, int64_t seed) {
    Config config = plan.base;
    SettingRows rows = config.rows();
    for (const auto& [key, value] : point.settings) set_from_text(rows, key, value);
    reset_unread(config);
    config.train.seed = seed;
    return config;
}

SweepPlan read_sweep(const SweepRequest& request) {
    const fs::path path = file_of(request);
    const Json object = read_json_file(path, kMostBytes, ErrorKind::usage);
    const SweepReader in{object, shown_path(path.string())};
    in.allow(kKeys, "a sweep");
    SweepPlan plan;
    plan.name = path.stem().string();
    if (const std::string problem = name_problem(plan.name); !problem.empty())
        fail_usage("{}: {}", in.file, problem);
    plan.sentence = in.text("sentence");
    plan.paper = in.text_or_number("paper");
    plan.base = base_of(in, request, plan.name);
    plan.from = request.from.empty() ? in.text("from") : request.from;
    if (std::error_code unknown; !plan.from.empty() && !fs::exists(plan.from, unknown))
        fail_usage("{}: {}: there are no weights {}", in.file,
                   request.from.empty() ? "from" : "--from", shown_path(plan.from));
    plan.seeds = seeds_of(in, request.seeds);
    plan.split = in.text("split");
    plan.limit = in.whole("limit", 0);
    const std::vector<SweepAxis> axes = axes_of(in);
    plan.points = product(variants_of(in), axes, in.file);
    if (plan.points.size() == 1 && plan.points[0].name.empty()) plan.points[0].name = plan.name;
    plan.x_key = x_key_of(in, axes);
    check_points(plan, in.file);
    return plan;
}

std::vector<RoomInfo> list_sweeps() {
    std::vector<RoomInfo> sweeps;
    for (const auto& entry : fs::directory_iterator(sweep_folder())) {
        if (entry.path().extension() != ".json") continue;
        const Json object = read_json_file(entry.path(), kMostBytes);
        const SweepReader in{object, entry.path().string()};
        in.allow(kKeys, "a sweep");
        sweeps.push_back({entry.path().stem().string(), in.text("sentence")});
    }
    std::sort(sweeps.begin(), sweeps.end(),
              [](const RoomInfo& a, const RoomInfo& b) { return a.name < b.name; });
    return sweeps;
}

}  // namespace aft
