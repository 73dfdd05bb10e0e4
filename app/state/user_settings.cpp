#include "app/state/user_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/state/json_values.h"
#include "app/state/user_settings_text.h"
#include "core/caught.h"
#include "core/files.h"
#include "core/json.h"
#include "core/outside.h"

namespace aft::app {

namespace {

using nlohmann::json;
constexpr size_t kMostNotes = 500;
constexpr uint64_t kMostBytes = uint64_t{64} << 20;  // of the file

// The series that runs take, in this order; the fourth is that of validation.
constexpr int kRunColors[] = {kLoneColor, 1, 0, 4, 5, 6, 7};

bool is_run_color(int color) {
    return std::find(std::begin(kRunColors), std::end(kRunColors), color) != std::end(kRunColors);
}

int rarest_color(const std::vector<RecentItem>& items) {
    const auto uses = [&](int color) {
        return std::count_if(items.begin(), items.end(),
                             [&](const RecentItem& item) { return item.color == color; });
    };
    return *std::min_element(std::begin(kRunColors), std::end(kRunColors),
                             [&](int a, int b) { return uses(a) < uses(b); });
}

ThemeName theme_from(const std::string& word) {
    for (const ThemeName name : {ThemeName::dark, ThemeName::light, ThemeName::high_contrast})
        if (word == theme_word(name)) return name;
    return ThemeName::dark;
}

UserSettings from_json(const json& j, std::vector<std::string>& left_out) {
    UserSettings s;
    s.theme = theme_from(json_string(j, "theme", "dark"));
    s.zoom = clamped_number(j, "zoom", {1.0, 0.5, 3.0});
    s.trainer_share = clamped_number(j, "trainer_share", {1.0, 0.1, 1.0});
    s.many_steps = clamped_whole(j, "many_steps", {100, 1, 1000000});
    s.smooth_while_interact = json_flag(j, "smooth_while_interact", true);
    s.reduce_motion = json_flag(j, "reduce_motion", false);
    s.tour_done = json_flag(j, "tour_done", false);
    s.layout = json_string(j, "layout");
    s.layout_scale = clamped_number(j, "layout_scale", {0.0, 0.0, 16.0});
    const json& layouts = json_object(j, "layouts");
    for (const auto& [name, kept] : layouts.items())
        if (kept.is_object() && s.layouts.size() < kMostLayouts && is_layout_name(name))
            s.layouts[name] = {json_string(kept, "text"),
                               clamped_number(kept, "scale", {0.0, 0.0, 16.0})};
    s.last_folder = json_string(j, "last_folder");
    const json& look = json_object(j, "attention");
    s.attention.scale = static_cast<int>(clamped_whole(look, "scale", {1, 0, 2}));
    s.attention.colors = static_cast<int>(clamped_whole(look, "colors", {0, 0, 2}));
    s.attention.over_image = json_flag(look, "over_image", false);
    s.attention.opacity = clamped_number(look, "opacity", {60.0, 0.0, 100.0});
    const json& locations = json_object(j, "data_places");
    for (const auto& [said, chosen] : locations.items())
        if (chosen.is_string()) s.data_locations[said] = chosen.get<std::string>();
    for (const json& item : json_list(j, "recent"))
        s.recent.push_back({json_string(item, "path"), json_string(item, "name"),
                            json_string(item, "what"),
                            clamped_whole(item, "opened", {0, 0, 0x1p53}),
                            static_cast<int>(clamped_whole(item, "color", {-1, -1, 99}))});
    const json& keys = json_object(j, "keys");
    for (const auto& [action, shortcut] : keys.items())
        if (shortcut.is_string()) s.keys[action] = shortcut.get<std::string>();
    const json& notes = json_object(j, "notes");
    for (const auto& [path, kept] : notes.items())
        if (s.notes.size() < kMostNotes)
            s.notes[path] = with_context("notes of " + shown_path(path), [&, &kept = kept] {
                return notes_from_json(kept, &left_out);
            });
    s.view = view_from_json(json_object(j, "view"));
    s.window_width = static_cast<int>(clamped_whole(j, "window_width", {0, 0, 32768}));
    s.window_height = static_cast<int>(clamped_whole(j, "window_height", {0, 0, 32768}));
    if (s.recent.size() > kMostRecent) s.recent.resize(kMostRecent);
    for (RecentItem& item : s.recent)
        if (!is_run_color(item.color)) item.color = rarest_color(s.recent);
    return s;
}

}  // namespace

bool is_layout_name(std::string_view name) {
    const auto letters = std::count_if(
        name.begin(), name.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; });
    return letters > 0 && letters <= kMostLayoutLetters;
}

void UserSettings::remember(RecentItem item) {
    const auto is_same = [&](const RecentItem& old) { return old.path == item.path; };
    const auto known = std::find_if(recent.begin(), recent.end(), is_same);
    item.color = known != recent.end() ? known->color : rarest_color(recent);
    std::erase_if(recent, is_same);
    recent.insert(recent.begin(), std::move(item));
    if (recent.size() > kMostRecent) recent.resize(kMostRecent);
}

std::string UserSettings::shown_name_of(const std::string& path, const std::string& name) const {
    const auto found = notes.find(path);
    return found == notes.end() || found->second.name.empty() ? name : found->second.name;
}

void UserSettings::forget(const std::string& path) {
    std::erase_if(recent, [&](const RecentItem& item) { return item.path == path; });
    notes.erase(path);
}

namespace {

// The first name beside the file that is free, or holds the same already.
std::filesystem::path aside_of(const std::filesystem::path& file, const std::string& content) {
    constexpr int kMostCopies = 20;  // then the last one is replaced
    std::filesystem::path aside;
    std::error_code ignored;
    for (int i = 1; i <= kMostCopies; ++i) {
        aside = file.string() + ".damaged" + (i == 1 ? "" : fmt::format("-{}", i));
        if (!std::filesystem::exists(aside, ignored)) return aside;
        std::string held;
        const std::string problem = error_words([&] { held = read_file(aside); });
        if (problem.empty() && held == content) return aside;
    }
    return aside;
}

// Before anything is written over it. "Kept as window.json.damaged.", or why not.
std::string keep_damaged(const std::filesystem::path& file, bool moves) {
    std::error_code error;
    std::string content;
    if (std::filesystem::file_size(file, error) <= kMostBytes)
        (void)error_words([&] { content = read_file(file); });
    const std::filesystem::path aside = aside_of(file, content);
    if (moves)
        std::filesystem::rename(file, aside, error);
    else
        std::filesystem::copy_file(file, aside, std::filesystem::copy_options::overwrite_existing,
                                   error);
    return error ? "Not kept: " + error.message() + "."
                 : fmt::format("Kept as {}.", aside.filename().string());
}

}  // namespace

std::optional<UserSettings> read_user_settings(const std::filesystem::path& file,
                                               std::string& problem) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return std::nullopt;
    UserSettings settings;
    std::vector<std::string> left_out;
    const std::string words =
        error_words([&] { settings = from_json(read_json_file(file, kMostBytes), left_out); });
    if (!words.empty()) {
        problem = fmt::format("The window's settings in {} could not be read ({}). {}",
                              file.string(), words, keep_damaged(file, true));
        return std::nullopt;
    }
    if (!left_out.empty())
        problem = fmt::format("{} of the window's settings in {} could not be read: {}. {}",
                              left_out.size(), file.string(), left_out.front(),
                              keep_damaged(file, false));
    return settings;
}

UserSettings load_user_settings(const std::filesystem::path& file, std::string& problem) {
    return read_user_settings(file, problem).value_or(UserSettings{});
}

UserSettings parse_user_settings(std::string_view text) {
    std::vector<std::string> left_out;
    return from_json(parse_json(text, {.file = "window.json"}), left_out);
}

std::string user_settings_text(const UserSettings& s) {
    json recent = json::array();
    for (const RecentItem& item : s.recent)
        recent.push_back({{"path", item.path},
                          {"name", item.name},
                          {"what", item.what},
                          {"opened", item.opened},
                          {"color", item.color}});
    json notes = json::object();
    for (const auto& [path, kept] : s.notes)
        if (!kept.is_empty()) notes[path] = notes_to_json(kept);
    json layouts = json::object();
    for (const auto& [name, kept] : s.layouts)
        layouts[name] = {{"text", kept.text}, {"scale", kept.scale}};
    const json look = {{"scale", s.attention.scale},
                       {"colors", s.attention.colors},
                       {"over_image", s.attention.over_image},
                       {"opacity", s.attention.opacity}};
    const json j = {{"theme", theme_word(s.theme)},
                    {"zoom", s.zoom},
                    {"trainer_share", s.trainer_share},
                    {"many_steps", s.many_steps},
                    {"smooth_while_interact", s.smooth_while_interact},
                    {"reduce_motion", s.reduce_motion},
                    {"tour_done", s.tour_done},
                    {"layout", s.layout},
                    {"layout_scale", s.layout_scale},
                    {"layouts", layouts},
                    {"last_folder", s.last_folder},
                    {"attention", look},
                    {"data_places", s.data_locations},
                    {"keys", s.keys},
                    {"recent", recent},
                    {"notes", notes},
                    {"view", view_to_json(s.view)},
                    {"window_width", s.window_width},
                    {"window_height", s.window_height}};
    return json_text(j, 1) + "\n";
}

void save_user_settings(const std::filesystem::path& file, const UserSettings& settings) {
    make_folder(file.parent_path());
    write_atomically(file, user_settings_text(settings));
}

}  // namespace aft::app
