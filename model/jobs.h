// Jobs: the interface for everything that is not a live run. Free functions: request, control ->
// plain result. Block until done; stopped by control.stop (throws Interrupted). Any thread, no
// shared state. Plain types only. No LibTorch, no JSON. Errors: aft::Error with the file, key or
// flag. One header a subject; who needs one alone includes that.
#pragma once
#include "model/jobs/compare.h"
#include "model/jobs/complete.h"
#include "model/jobs/cost.h"
#include "model/jobs/eval.h"
#include "model/jobs/export.h"
#include "model/jobs/figure_data.h"
#include "model/jobs/import.h"
#include "model/jobs/inspect.h"
#include "model/jobs/lists.h"
#include "model/jobs/log_export.h"
#include "model/jobs/op.h"
#include "model/jobs/pack.h"
#include "model/jobs/probe.h"
#include "model/jobs/recipe.h"
#include "model/jobs/run.h"
#include "model/jobs/stored_biases.h"
#include "model/jobs/summary.h"
#include "model/jobs/sweep/sweep.h"
#include "model/jobs/train.h"
#include "model/system.h"
