// Which settings the rooms of a config read: asked of the rooms, by their visit().
#include "model/config.h"

#include "core/check.h"
#include "core/outside.h"
#include "model/mixers/find.h"
#include "model/tasks/task.h"

namespace aft {

namespace {

using Keys = std::set<std::string>;

void add_keys(RoomVisit visit, Keys& keys) {
    if (visit == nullptr) return;
    RoomSettings values;
    SettingRows rows;
    visit(values, rows);
    for (const Setting& row : rows) keys.insert(row.key);
}

Keys keys_of(const MixerRoom& room) {
    Keys keys;
    add_keys(room.visit, keys);
    return keys;
}

// The size of a picture is every picture task's, though none declares it. Position biases alone are
// of no setting.
Keys keys_of(const TaskRoom& room) {
    Keys keys;
    add_keys(room.visit, keys);
    add_keys(room.visit_training, keys);
    if (!room.traits.is_text() && !room.traits.is_bias_alone)
        keys.insert({"model.height", "model.width", "model.channels"});
    return keys;
}

template <class Room>
Keys unread_of(const std::vector<Room>& rooms, const Room& chosen) {
    Keys all;
    for (const Room& room : rooms) all.merge(keys_of(room));
    for (const std::string& key : keys_of(chosen)) all.erase(key);
    return all;
}

template <class Room>
std::string readers_of(const std::vector<Room>& rooms, const std::string& key) {
    std::string names;
    for (const Room& room : rooms)
        if (keys_of(room).contains(key)) names += (names.empty() ? "" : ", ") + room.info.name;
    return names;
}

}  // namespace

Keys unread_settings(const Config& config) {
    const MixerRoom& mixer = find_mixer(config.model.mixer);
    const TaskRoom& task = task_of(config.model);
    Keys unread = unread_of(mixers(), mixer);
    unread.merge(unread_of(tasks(), task));
    // What both kinds of rooms know is read where one of the two reads it.
    for (const std::string& key : keys_of(mixer)) unread.erase(key);
    for (const std::string& key : keys_of(task)) unread.erase(key);
    return unread;
}

void reset_unread(Config& config) {
    Config standard;
    SettingRows rows = config.rows(), defaults = standard.rows();
    for (const std::string& key : unread_settings(config)) {
        if (find_setting(rows, key) == nullptr) continue;  // of a room that no list has
        set_from_text(rows, key, value_text(*find_setting(defaults, key)));
    }
}

void check_read(const Config& config, const std::vector<std::string>& given,
                const std::string& where) {
    const Keys unread = unread_settings(config);
    for (const std::string& key : given) {
        if (!unread.contains(key)) continue;
        const std::string mixer_names = readers_of(mixers(), key);
        if (!mixer_names.empty())
            fail_usage("{}{}: model.mixer={} does not read it; mixers that do: {}", where,
                       shown(key), config.model.mixer, mixer_names);
        fail_usage("{}{}: model.task={} does not read it; tasks that do: {}", where, shown(key),
                   config.model.task, readers_of(tasks(), key));
    }
}

}  // namespace aft
