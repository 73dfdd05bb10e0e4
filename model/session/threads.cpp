// How the trainer and the worker share the cores (core/system/omp_team.h: who rests keeps no team).
#include <ATen/Parallel.h>

#include "model/session/channels.h"

namespace aft::session {

void use_threads(int count) {
    static_cast<void>(at::get_num_threads());  // this thread's first call would undo the next line
    at::set_num_threads(count);
}

}  // namespace aft::session
