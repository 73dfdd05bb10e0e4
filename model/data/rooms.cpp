// The list of data sources: one line a room.
#include "model/data/source.h"

namespace aft {

SourceRoom mirror_source();
SourceRoom tiles_source();
SourceRoom shapes_source();
SourceRoom cifar10_source();
SourceRoom mnist_source();
SourceRoom images_source();
SourceRoom shards_source();
SourceRoom text_source();

const std::vector<SourceRoom>& sources() {
    static const std::vector<SourceRoom> rooms = {
        mirror_source(), tiles_source(),  shapes_source(), cifar10_source(),
        mnist_source(),  images_source(), shards_source(), text_source(),
    };
    return rooms;
}

}  // namespace aft
