#include "core/system/omp_team.h"

#include <omp.h>

namespace aft {

void release_omp_team() {
    omp_pause_resource_all(omp_pause_soft);
}

}  // namespace aft
