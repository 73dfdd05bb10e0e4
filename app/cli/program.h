// The program: reads the arguments, runs one command, turns errors into one message and an exit
// code.
#pragma once

namespace aft::app {

// 0 done, 1 the work failed, 2 wrong usage, 130 interrupted (state saved). Main thread.
int run_program(int argc, char** argv);

}  // namespace aft::app
