#include "app/state/workspace.h"

namespace aft::app {

const char* workspace_name(Workspace workspace) {
    static constexpr const char* kNames[] = {"Home",     "Train",   "Biases", "Attention",
                                             "Complete", "Compare", "Lab"};
    return kNames[static_cast<int>(workspace)];
}

const char* workspace_id(Workspace workspace) {
    static constexpr const char* kIds[] = {"home",     "train",   "biases", "attention",
                                           "complete", "compare", "lab"};
    return kIds[static_cast<int>(workspace)];
}

}  // namespace aft::app
