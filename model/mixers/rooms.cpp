#include <deque>

#include "core/check.h"
#include "model/mixers/find.h"

namespace aft {

MixerRoom aft_simple_mixer();
MixerRoom aft_full_mixer();
MixerRoom aft_local_mixer();
MixerRoom aft_conv1d_mixer();
MixerRoom aft_conv2d_mixer();
MixerRoom softmax_mixer();
MixerRoom linear_mixer();
MixerRoom local_softmax_mixer();
MixerRoom local2d_mixer();
MixerRoom strided_mixer();
MixerRoom performer_mixer();
MixerRoom reformer_mixer();
MixerRoom synthesizer_mixer();
MixerRoom lambda_mixer();
MixerRoom maps_mixer();  // hidden

static std::vector<MixerRoom>& list() {
    static std::vector<MixerRoom> rooms{
        aft_simple_mixer(),  aft_full_mixer(), aft_local_mixer(), aft_conv1d_mixer(),
        aft_conv2d_mixer(),  softmax_mixer(),  linear_mixer(),    local_softmax_mixer(),
        local2d_mixer(),     strided_mixer(),  performer_mixer(), reformer_mixer(),
        synthesizer_mixer(), lambda_mixer()};
    return rooms;
}

static std::deque<MixerRoom>& hidden() {
    static std::deque<MixerRoom> rooms{
        maps_mixer()};  // rooms stay where they are when one is added
    return rooms;
}

const std::vector<MixerRoom>& mixers() {
    return list();
}

const MixerRoom& find_mixer(const std::string& name) {
    for (const MixerRoom& room : hidden())
        if (name == room.info.name) return room;
    return find_room(mixers(), name, "model.mixer");
}

void add_mixer(MixerRoom room) {
    if (room.is_hidden)
        hidden().push_back(std::move(room));
    else
        list().push_back(std::move(room));
}

}  // namespace aft
