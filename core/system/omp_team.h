// The OpenMP team of the calling thread. Any thread; outside parallel regions.
//
// Each thread that has run a parallel region owns a team from then on. While more threads are in
// teams than there are cores, OpenMP's threads sleep at every barrier instead of spinning, also
// those of the team that works: a step of demo-mirror took 25 ms beside an idle team of another
// thread where it took 17 without. So a thread that rests keeps no team.
#pragma once

namespace aft {

// Ends the calling thread's team; its next parallel region makes a new one.
void release_omp_team();

}  // namespace aft
