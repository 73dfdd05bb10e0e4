// Actions on the open run: start, pause, step, stop, save, rewind. Window thread.
#pragma once
#include "app/state/ui.h"

namespace aft::app {

void add_run_actions(Actions& actions);
void report_rewind(Ui& ui);  // the run has gone back: a toast says so, views follow

}  // namespace aft::app
