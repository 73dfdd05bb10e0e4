#include "model/checkpoints/importers/own.h"

#include "core/caught.h"
#include "model/checkpoints/description.h"

namespace aft::imports {

bool has_settings(const TensorFile& file) {
    return file.metadata.contains(kDescriptionKey);
}

Converted convert_own(const std::string& path,
                      const std::vector<std::pair<std::string, std::string>>& settings) {
    Converted out{.checkpoint = read_checkpoint(path), .moved = {}, .dropped = {}, .fresh = {}};
    Checkpoint& checkpoint = out.checkpoint;
    check_whole(checkpoint, "import");
    SettingRows rows = checkpoint.config.rows();
    for (const auto& [key, text] : settings) set_from_text(rows, key, text);
    with_context(path, [&] { checkpoint.config.check(); });
    static_cast<void>(make_net(checkpoint));
    for (const auto& [name, tensor] : checkpoint.weights)
        out.moved.push_back({name, name, tensor.sizes().vec(), ""});
    for (const auto& [name, tensor] : checkpoint.optimizer)
        out.dropped.push_back({name, tensor.sizes().vec(), "the state of a training"});
    checkpoint.optimizer.clear();
    checkpoint.training = nullptr;
    return out;
}

}  // namespace aft::imports
