// The confusion matrix of an evaluation as a file. Main thread; blocks on the file.
#pragma once
#include <string>

#include "model/jobs/eval.h"

namespace aft::app {

// .csv: a header, then a line for each label with the examples by answer. .png, .svg: a labelled
// figure, rows by label as shares. usage Error: another ending, a model without classes.
void write_confusion(const std::string& path, const EvalResult& result);
// Before the work begins.
void check_confusion_file(const std::string& path);

}  // namespace aft::app
