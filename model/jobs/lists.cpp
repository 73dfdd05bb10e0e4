#include "model/jobs/lists.h"

#include "model/checkpoints/format.h"
#include "model/data/source.h"
#include "model/mixers/mixer.h"
#include "model/jobs/sweep.h"
#include "model/probe/probe.h"
#include "model/tasks/task.h"

namespace aft {

namespace {

template <class Room>
NamedList list_of(const char* name, const std::vector<Room>& rooms) {
    NamedList list{name, {}};
    for (const Room& room : rooms) list.rooms.push_back(room.info);
    return list;
}

}  // namespace

std::vector<NamedList> model_lists() {
    NamedList presets{"presets", {}};
    for (const PresetInfo& preset : list_presets())
        presets.rooms.push_back({preset.name, preset.sentence});
    return {list_of("mixers", mixers()),   list_of("tasks", tasks()),
            list_of("sources", sources()), list_of("formats", formats()),
            list_of("probes", probes()),   presets,
            {"sweeps", list_sweeps()}};
}

}  // namespace aft
