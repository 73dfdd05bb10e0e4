// docs/format.md and the rows of the settings say the same: every key of `config.model` but those
// that one room alone declares, and the defaults of those in its table.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/files.h"
#include "core/text.h"
#include "model/jobs.h"
#include "model/mixers/mixer.h"
#include "model/tasks/task.h"
#include "tests/source_file.h"

namespace aft {
namespace {

std::string stripped(std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '`' || c == '"'; });
    return text;
}

// "| `window` | 0 | ... |" -> key and default of each, of the table under config.model
std::map<std::string, std::string> documented(const std::string& document) {
    std::map<std::string, std::string> out;
    const size_t from = document.find("`config.model`:"), to = document.find("The others, ", from);
    EXPECT_NE(to, std::string::npos);
    for (const std::string& line : split(document.substr(from, to - from), '\n')) {
        const std::vector<std::string> cells = split(line, '|');
        if (cells.size() < 4 || cells[1].find('`') == std::string::npos) continue;
        const std::vector<std::string> keys = split(cells[1], ','), values = split(cells[2], ',');
        EXPECT_EQ(keys.size(), values.size()) << line;
        for (size_t i = 0; i < std::min(keys.size(), values.size()); ++i)
            out[stripped(keys[i])] = stripped(values[i]);
    }
    return out;
}

// Keys that a single mixer or task has for itself: `list settings` is their document.
std::set<std::string> keys_of_one_room() {
    std::map<std::string, int> rooms_of;
    const auto count = [&](RoomVisit visit) {
        RoomSettings own;
        SettingRows rows;
        if (visit != nullptr) visit(own, rows);
        for (const Setting& row : rows) ++rooms_of[row.key];
    };
    for (const MixerRoom& room : mixers()) count(room.visit);
    for (const TaskRoom& room : tasks()) count(room.visit);
    std::set<std::string> keys;
    for (const auto& [key, rooms] : rooms_of)
        if (rooms == 1) keys.insert(key);
    return keys;
}

TEST(Documents, FormatListsTheSettingsOfTheModel) {
    const std::string document = read_file(source_file("docs/format.md"));
    std::map<std::string, std::string> table = documented(document);
    EXPECT_GT(table.size(), 15U);
    Config config;
    const std::set<std::string> of_one_room = keys_of_one_room();
    const std::string group = "model.";
    for (const Setting& row : config.rows()) {
        if (!row.key.starts_with(group)) continue;
        const std::string name = row.key.substr(group.size());
        if (!of_one_room.contains(row.key)) {
            EXPECT_NE(document.find("`" + name + "`"), std::string::npos) << row.key;
        }
        const auto found = table.find(name);
        if (found == table.end()) continue;
        EXPECT_EQ(found->second, value_text(row)) << row.key;
        table.erase(found);
    }
    for (const auto& [name, value] : table) ADD_FAILURE() << name << " is no setting";
}

// The tasks that a checkpoint may name.
TEST(Documents, FormatListsTheTasks) {
    const std::string document = read_file(source_file("docs/format.md"));
    for (const NamedList& list : model_lists()) {
        if (list.name != "tasks") continue;
        for (const RoomInfo& room : list.rooms)
            EXPECT_NE(document.find("`" + room.name + "`"), std::string::npos) << room.name;
    }
}

}  // namespace
}  // namespace aft
