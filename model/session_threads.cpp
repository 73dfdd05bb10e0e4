// How the trainer and the worker share the cores. Each owns a team of OpenMP threads from its first
// parallel region on. While more threads are in teams than there are cores, OpenMP's threads sleep
// at every barrier instead of spinning, also those of the team that works: a step of demo-mirror
// took 25 ms beside an idle team of the worker where it took 17 without a window. So who rests
// keeps no team.
#include <ATen/Parallel.h>
#include <omp.h>

#include "model/session_shared.h"

namespace aft::session {

void use_threads(int count) {
    static_cast<void>(at::get_num_threads());  // this thread's first call would undo the next line
    at::set_num_threads(count);
}

void give_back_threads() {
    omp_pause_resource_all(omp_pause_soft);  // the next parallel region makes a new team
}

}  // namespace aft::session
