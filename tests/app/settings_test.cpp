// What the window remembers, numbers in fields, opening of paths, the selection.
#include <fstream>
#include <map>
#include <set>

#include "app/state/open_path.h"
#include "app/state/settings_merge.h"
#include "app/widgets/number_text.h"
#include "core/files.h"
#include "tests/app/stage_fixture.h"
#include "tests/source_file.h"

namespace aft::app {
namespace {

namespace fs = std::filesystem;

class UserSettingsTest : public ::testing::Test {
  protected:
    fs::path folder_ =
        fs::temp_directory_path() / ("afterimage-settings-" + std::to_string(::getpid()));
    void SetUp() override { fs::create_directories(folder_); }
    void TearDown() override { fs::remove_all(folder_); }
};

TEST(Numbers, SmallAndLargeMeasuredValuesKeepTheirDigits) {
    EXPECT_EQ(short_value(0, 2), "0.00");
    EXPECT_EQ(short_value(0.05, 2), "0.05");
    EXPECT_EQ(short_value(4.176e-5, 2), "4.176e\u22125");
    EXPECT_EQ(short_value(-2e-5, 3), "\u22122.000e\u22125");
    EXPECT_EQ(short_value(3.3964e9, 3), "3.396e9");
}

TEST_F(UserSettingsTest, RoundTrip) {
    UserSettings settings;
    settings.theme = ThemeName::high_contrast;
    settings.zoom = 1.25;
    settings.smooth_while_interact = false;
    settings.many_steps = 250;
    settings.attention = {.scale = 2, .colors = 1, .over_image = true, .opacity = 35};
    settings.layout = "[Window][x]\nPos=1,2\n";
    settings.remember({.path = "/a/\xC3\xA9", .name = "one", .what = "w", .opened = 5});
    settings.remember({.path = "/b", .name = "two", .what = "", .opened = 6});
    settings.remember({.path = "/a/\xC3\xA9", .name = "one", .what = "w", .opened = 7});
    save_user_settings(folder_ / "sub" / "window.json", settings);
    std::string problem;
    const UserSettings back = load_user_settings(folder_ / "sub" / "window.json", problem);
    EXPECT_EQ(problem, "");
    EXPECT_EQ(back.theme, ThemeName::high_contrast);
    EXPECT_EQ(back.zoom, 1.25);
    EXPECT_FALSE(back.smooth_while_interact);
    EXPECT_EQ(back.many_steps, 250);
    EXPECT_EQ(back.attention.scale, 2);
    EXPECT_EQ(back.attention.colors, 1);
    EXPECT_TRUE(back.attention.over_image);
    EXPECT_EQ(back.attention.opacity, 35);
    EXPECT_EQ(back.layout, settings.layout);
    ASSERT_EQ(back.recent.size(), 2u);
    EXPECT_EQ(back.recent[0].path, "/a/\xC3\xA9");
    EXPECT_EQ(back.recent[0].opened, 7);
}

TEST(UserSettingsOfTwoWindows, KeepWhatTheOtherHasNoted) {
    UserSettings loaded, theirs, ours;
    loaded.notes["/both"].name = "before";
    theirs = ours = loaded;
    theirs.notes["/theirs"].name = "slow lr";
    theirs.notes["/both"].name = "theirs";
    theirs.notes["/both"].recipe.interventions.emplace_back().name = "zero";
    theirs.notes["/both"].mask.height = 4;
    theirs.recent.push_back({.path = "/theirs", .name = "", .what = ""});
    ours.notes["/ours"].tag = "mine";
    ours.notes["/theirs"];  // as a window keeps it of every run that it shows
    merge_user_settings(theirs, loaded, ours);
    EXPECT_EQ(ours.notes["/theirs"].name, "slow lr");
    EXPECT_EQ(ours.notes["/both"].name, "theirs");
    EXPECT_EQ(ours.notes["/both"].recipe.interventions.size(), 1u) << "of the Lab";
    EXPECT_EQ(ours.notes["/both"].mask.height, 4) << "of Complete";
    EXPECT_EQ(ours.notes["/ours"].tag, "mine");
    ASSERT_EQ(ours.recent.size(), 1u);
    EXPECT_EQ(ours.recent[0].path, "/theirs");
    ours.notes["/both"].name = "ours";
    merge_user_settings(theirs, loaded, ours);
    EXPECT_EQ(ours.notes["/both"].name, "ours") << "what was changed here is the newer one";
}

TEST(UserSettingsOfTwoWindows, ForgetWhatTheOtherHasForgotten) {
    UserSettings loaded, ours;
    for (const char* path : {"/gone", "/stays"}) {
        loaded.notes[path].tag = "tag";
        loaded.recent.push_back({.path = path, .name = "", .what = "", .opened = 1});
    }
    UserSettings theirs = ours = loaded;
    theirs.forget("/gone");
    ours.notes["/stays"].note = "one field";
    theirs.notes["/stays"].name = "another";
    theirs.recent.push_back({.path = "/new", .name = "", .what = "", .opened = 2});
    merge_user_settings(theirs, loaded, ours);
    EXPECT_TRUE(ours.notes["/gone"].is_empty());
    EXPECT_EQ(ours.notes["/stays"].note, "one field");
    EXPECT_EQ(ours.notes["/stays"].name, "another");
    ASSERT_EQ(ours.recent.size(), 2u);
    EXPECT_EQ(ours.recent[0].path, "/new");
    EXPECT_EQ(ours.recent[1].path, "/stays");
}

TEST_F(UserSettingsTest, ARunKeepsItsColour) {
    UserSettings settings;
    const auto remember = [&](const std::string& path) {
        settings.remember({.path = path, .name = path, .what = "", .opened = 1});
    };
    std::map<std::string, int> colors;
    for (const char* path : {"/a", "/b", "/c", "/d", "/e", "/f", "/g"}) {
        remember(path);
        for (const auto& [other, color] : colors)
            EXPECT_NE(settings.recent[0].color, color) << path << " and " << other;
        EXPECT_NE(settings.recent[0].color, 3) << "that of validation";
        colors[path] = settings.recent[0].color;
    }
    remember("/h");  // there are seven
    remember("/b");
    save_user_settings(folder_ / "window.json", settings);
    std::string problem;
    const UserSettings back = load_user_settings(folder_ / "window.json", problem);
    colors["/h"] = settings.recent[1].color;
    for (const RecentItem& item : back.recent)
        EXPECT_EQ(item.color, colors.at(item.path)) << item.path;
}

TEST_F(UserSettingsTest, RunsOfOldOrStrangeFilesGetColoursOfTheirOwn) {
    std::ofstream(folder_ / "window.json")
        << R"({"recent": [{"path": "/a"}, {"path": "/b", "color": 99}, {"path": "/c", "color": 3}]})";
    std::string problem;
    const UserSettings back = load_user_settings(folder_ / "window.json", problem);
    ASSERT_EQ(back.recent.size(), 3u);
    std::set<int> seen;
    for (const RecentItem& item : back.recent) {
        EXPECT_TRUE(item.color >= 0 && item.color < 8 && item.color != 3) << item.color;
        seen.insert(item.color);
    }
    EXPECT_EQ(seen.size(), 3u);
}

TEST_F(UserSettingsTest, DamagedFileIsPutAside) {
    for (const char* content : {"{", "[1,2]", "{\"zoom\": \"large\"}", "", "\xFF\xFE"}) {
        const fs::path file = folder_ / "window.json";
        std::ofstream(file) << content;
        std::string problem;
        const UserSettings settings = load_user_settings(file, problem);
        EXPECT_NE(problem.find("window.json"), std::string::npos) << content;
        EXPECT_FALSE(fs::exists(file)) << content;
        EXPECT_EQ(settings.zoom, 1) << content;
    }
    std::string problem;
    (void)load_user_settings(folder_ / "absent.json", problem);
    EXPECT_EQ(problem, "");
}

TEST(Numbers, ShownAndTyped) {
    const NumberField plain{.name = "x"};
    EXPECT_EQ(typed_number(plain, 0.0015), "1.5e-3");
    EXPECT_EQ(shown_number(plain, 0.0015), "1.5e\u22123");
    EXPECT_EQ(typed_number(plain, 0.1), "0.1");
    EXPECT_EQ(typed_number(plain, 0), "0");
    NumberField whole{.name = "n", .min = 0, .max = 1e6};
    whole.integer = true;
    EXPECT_EQ(shown_number(whole, 78100), "78 100");
    EXPECT_EQ(typed_number(whole, 78100), "78100");
}

TEST(Numbers, BadEntriesSayAllowedAndFound) {
    const NumberField share{.name = "s", .min = 0, .max = 1};
    std::string error;
    EXPECT_EQ(parse_number(share, "0.25", error), 0.25);
    EXPECT_EQ(parse_number(share, "2.5e\u22121", error), 0.25);
    EXPECT_FALSE(parse_number(share, "200", error));
    EXPECT_EQ(error, "0 to 1, found 200");
    for (const char* nonsense : {"", "abc", "1x", "nan", "inf", "--1", "1,5"})
        EXPECT_FALSE(parse_number(share, nonsense, error)) << nonsense;
    NumberField whole{.name = "n", .min = 1, .max = 9};
    whole.integer = true;
    EXPECT_FALSE(parse_number(whole, "2.5", error));
    EXPECT_EQ(parse_number(whole, "7", error), 7);
}

TEST(OpenPath, SaysWhatItIsOrWhyNot) {
    const fs::path folder =
        fs::temp_directory_path() / ("afterimage-open-" + std::to_string(::getpid()));
    fs::create_directories(folder / "run");
    std::ofstream(folder / "run" / "config.json") << "{}";
    std::ofstream(folder / "a.safetensors") << "x";
    std::ofstream(folder / "a.png") << "x";
    std::ofstream(folder / "a.xyz") << "x";
    std::ofstream(folder / "a.pt") << "x";
    const auto kind = [&](const char* name, bool has_session = false) {
        return classify_path((folder / name).string(), has_session).kind;
    };
    EXPECT_EQ(kind("run"), Opening::model);
    EXPECT_EQ(classify_path(source_file("assets/demo/mirror.safetensors").string(), false).kind,
              Opening::model);
    EXPECT_EQ(kind("a.png", true), Opening::picture);
    EXPECT_EQ(kind("a.png", false), Opening::impossible);
    for (const char* name : {"a.xyz", "absent", ".", "a.safetensors", "a.pt"}) {
        EXPECT_EQ(kind(name), Opening::impossible) << name;
        const std::string path = (folder / name).string();
        EXPECT_NE(classify_path(path, false).words.find(path), std::string::npos);
    }
    const std::string refused = classify_path((folder / "a.pt").string(), false).words;
    EXPECT_NE(refused.find("import says: not a file of tensors"), std::string::npos) << refused;
    fs::remove_all(folder);
}

TEST(SelectionTest, HoverPreviewsClickLocksEscUnlocks) {
    Selection s;
    s.point({.layer = 1, .target = 3});
    EXPECT_EQ(s.cell.target, 3);
    s.lock({.layer = 1, .target = 5});
    s.point({.layer = 1, .target = 9});
    EXPECT_EQ(s.cell.target, 5);
    EXPECT_EQ(s.shown().target, 9);
    EXPECT_TRUE(s.unlock());
    EXPECT_FALSE(s.unlock());
    s.pin(40);
    ASSERT_EQ(s.pins.size(), 1u);
    EXPECT_EQ(s.pins[0].words, "L1 t 9");
    Status small;
    small.layers.resize(1);
    small.tokens = 4;
    s.clamp(small, 1);
    EXPECT_EQ(s.cell.layer, 0);
    EXPECT_EQ(s.cell.target, -1);
}

}  // namespace
}  // namespace aft::app
