#include "model/jobs/lists.h"

#include "model/checkpoints/format.h"
#include "model/data/source.h"
#include "model/jobs/sweep/sweep.h"
#include "model/mixers/mixer.h"
#include "model/probe/probe.h"
#include "model/tasks/task.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace aft {

namespace {

template <class Room>
NamedList list_of(const char* name, const std::vector<Room>& rooms) {
    NamedList list{name, {}};
    for (const Room& room : rooms) list.rooms.push_back(room.info);
    return list;
}

// Every setting with its help, what is allowed, its default, and whether it changes live.
NamedList settings_list() {
    NamedList list{"settings", {}};
    Config config;
    for (const Setting& row : config.rows()) {
        const std::string allowed = allowed_text(row), standard = value_text(row);
        list.rooms.push_back(
            {row.key,
             fmt::format("{} ({}default: {}{})", row.help, allowed.empty() ? "" : allowed + "; ",
                         standard.empty() ? "none" : standard, row.live ? "; changes live" : "")});
    }
    return list;
}

// Options of data ("cifar10?size") and of probes ("attention reduce").
NamedList options_list() {
    NamedList list{"options", {}};
    for (const SourceRoom& room : sources())
        for (const std::string& option : room.options) {
            const size_t blank = std::min(option.find(' '), option.size());
            list.rooms.push_back({room.info.name + "?" + option.substr(0, blank),
                                  option.substr(std::min(blank + 1, option.size()))});
        }
    for (const ProbeRoom& room : probes())
        for (const ProbeOption& option : room.options)
            list.rooms.push_back(
                {room.info.name + " " + option.key,
                 option.values.empty()
                     ? std::string("a whole number, 0 or more")
                     : fmt::format("{}; default: {}", fmt::join(option.values, ", "),
                                   option.standard)});
    return list;
}

}  // namespace

std::vector<NamedList> model_lists() {
    NamedList presets{"presets", {}};
    for (const PresetInfo& preset : list_presets())
        presets.rooms.push_back({preset.name, preset.sentence});
    return {list_of("mixers", mixers()),
            list_of("tasks", tasks()),
            list_of("sources", sources()),
            list_of("formats", formats()),
            list_of("probes", probes()),
            presets,
            {"sweeps", list_sweeps()},
            settings_list(),
            options_list()};
}

}  // namespace aft
