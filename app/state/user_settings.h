// UserSettings: what the window remembers between starts, as JSON in the XDG config folder (written
// atomically). A damaged file is put aside and reported, never fatal. Window thread; blocks on the
// disk for a moment.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/state/map_display.h"
#include "app/state/run_notes.h"
#include "app/state/theme.h"

namespace aft::app {

inline constexpr int kLoneColor = 2;  // of a run that is not among the recent ones

struct RecentItem {
    std::string path{}, name{},
        what;            // file or run folder; shown name; "CIFAR-10 pixels, aft-local, 4 layers"
    int64_t opened = 0;  // seconds since 1970
    int color = kLoneColor;  // of Theme::series, the run's everywhere; remember() chooses it
    [[nodiscard]] bool operator==(const RecentItem&) const = default;
};

inline constexpr size_t kMostLayouts = 50, kMostRecent = 24;
inline constexpr int64_t kMostLayoutLetters = 60;  // of its name

struct KeptLayout {
    std::string text;  // ImGui's ini text
    double scale = 0;  // of the interface when it was made; 0 = unknown
    [[nodiscard]] bool operator==(const KeptLayout&) const = default;
};

struct UserSettings {
    ThemeName theme = ThemeName::dark;
    double zoom = 1;           // Ctrl+plus and minus, on top of the display's scale
    double trainer_share = 1;  // 0.1 .. 1
    int64_t many_steps = 100;  // that "Run N steps" trains
    bool smooth_while_interact = true, reduce_motion = false, tour_done = false;
    AttentionLook attention;
    std::vector<RecentItem> recent;             // newest first, at most kMostRecent
    std::string layout;                         // ImGui's ini text
    double layout_scale = 0;                    // interface scale at which it was made; 0 = unknown
    std::map<std::string, KeptLayout> layouts;  // by the user's names
    std::string last_folder;                    // of the file browser
    std::map<std::string, std::string> data_locations;  // path as models name it -> chosen here

    std::map<std::string, std::string> keys;  // action -> its keys where they are the user's
    std::map<std::string, RunNotes> notes;    // by the path of a recent item
    KeptView view;
    int window_width = 0, window_height = 0;  // units of the screen; 0 = as the display suggests

    // The user's name for it, else `name`.
    [[nodiscard]] std::string shown_name_of(const std::string& path, const std::string& name) const;
    void forget(const std::string& path);  // leaves the list, with what was noted of it
    void remember(RecentItem item);        // moves it to the front; it keeps its colour
};

[[nodiscard]] bool is_layout_name(std::string_view name);  // UTF-8

// `problem` gets words if the file was damaged, or a part of it was left out; a copy of it as it
// was is then kept beside it. nullopt: it is absent, or nothing in it could be read.
[[nodiscard]] std::optional<UserSettings> read_user_settings(const std::filesystem::path& file,
                                                             std::string& problem);
// The same, else the defaults.
[[nodiscard]] UserSettings load_user_settings(const std::filesystem::path& file,
                                              std::string& problem);
void save_user_settings(const std::filesystem::path& file, const UserSettings& settings);

}  // namespace aft::app
