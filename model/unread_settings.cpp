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

// Whether the room learns a position bias, in the model's other settings. aft-local does, though
// not in a window of 0.
bool learns_bias(const MixerRoom& room, ModelConfig model) {
    model.mixer = room.info.name;
    model.own["window"] = int64_t{1};
    return room.traits(model).bias_values > 0;
}

// How a position bias is trained is every such mixer's, though none declares it.
Keys keys_of(const MixerRoom& room, const ModelConfig& model) {
    Keys keys;
    add_keys(room.visit, keys);
    if (learns_bias(room, model))
        keys.insert({"train.bias_learning_rate_scale", "train.bias_weight_decay"});
    return keys;
}

// The size of a picture is every picture task's, and the start token every sequence's, though none
// declares them. Position biases alone are of no setting.
Keys keys_of(const TaskRoom& room, const ModelConfig&) {
    Keys keys;
    if (room.traits.is_autoregressive) keys.insert("model.start_token");
    add_keys(room.visit, keys);
    add_keys(room.visit_training, keys);
    if (!room.traits.is_text() && !room.traits.is_bias_alone)
        keys.insert({"model.height", "model.width", "model.channels"});
    return keys;
}

template <class Room>
Keys unread_of(const std::vector<Room>& rooms, const Room& chosen, const ModelConfig& model) {
    Keys all;
    for (const Room& room : rooms) all.merge(keys_of(room, model));
    for (const std::string& key : keys_of(chosen, model)) all.erase(key);
    return all;
}

template <class Room>
std::string readers_of(const std::vector<Room>& rooms, const std::string& key,
                       const ModelConfig& model) {
    std::string names;
    for (const Room& room : rooms)
        if (keys_of(room, model).contains(key))
            names += (names.empty() ? "" : ", ") + room.info.name;
    return names;
}

// What the rooms read in general, though not beside what else is set.
std::vector<IdleSetting> idle_settings(const Config& config) {
    const MixerRoom& mixer = find_mixer(config.model.mixer);
    std::vector<IdleSetting> idle;
    if (mixer.idle != nullptr) idle = mixer.idle(config.model);
    if (config.data.resolved().rand_augment <= 0)
        idle.push_back({"data.rand_augment_ops",
                        config.data.strengths.rand_augment == 0
                            ? "data.rand_augment=0"
                            : fmt::format("data.augment={}", config.data.augment),
                        "data.rand_augment above 0"});
    return idle;
}

}  // namespace

Keys unread_settings(const Config& config) {
    const MixerRoom& mixer = find_mixer(config.model.mixer);
    const TaskRoom& task = task_of(config.model);
    Keys unread = unread_of(mixers(), mixer, config.model);
    unread.merge(unread_of(tasks(), task, config.model));
    // What both kinds of rooms know is read where one of the two reads it.
    for (const std::string& key : keys_of(mixer, config.model)) unread.erase(key);
    for (const std::string& key : keys_of(task, config.model)) unread.erase(key);
    for (const IdleSetting& one : idle_settings(config)) unread.insert(one.key);
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
    const std::vector<IdleSetting> idle = idle_settings(config);
    for (const std::string& key : given) {
        if (!unread.contains(key)) continue;
        for (const IdleSetting& one : idle)
            if (one.key == key)
                fail_usage("{}{}: {} does not read it; it is read with {}", where, shown(key),
                           one.by, one.needs);
        const std::string mixer_names = readers_of(mixers(), key, config.model);
        if (!mixer_names.empty())
            fail_usage("{}{}: model.mixer={} does not read it; mixers that do: {}", where,
                       shown(key), config.model.mixer, mixer_names);
        fail_usage("{}{}: model.task={} does not read it; tasks that do: {}", where, shown(key),
                   config.model.task, readers_of(tasks(), key, config.model));
    }
}

}  // namespace aft
