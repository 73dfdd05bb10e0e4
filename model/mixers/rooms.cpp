#include "model/mixers/mixer.h"

namespace aft {

MixerRoom aft_simple_mixer();
MixerRoom aft_full_mixer();
MixerRoom aft_local_mixer();
MixerRoom aft_conv1d_mixer();
MixerRoom aft_conv2d_mixer();
MixerRoom softmax_mixer();

static std::vector<MixerRoom>& list() {
    static std::vector<MixerRoom> rooms{aft_simple_mixer(), aft_full_mixer(),   aft_local_mixer(),
                                        aft_conv1d_mixer(), aft_conv2d_mixer(), softmax_mixer()};
    return rooms;
}

const std::vector<MixerRoom>& mixers() {
    return list();
}

void add_mixer(MixerRoom room) {
    list().push_back(std::move(room));
}

}  // namespace aft
