// The file of weights that a job is to write: its ending, and that it is none of those it reads.
// No LibTorch. Any thread; asks the disk.
#pragma once
#include <string>
#include <vector>

namespace aft {

// command: "import", for messages. inputs: files that the job reads; "" = none. usage Error where
// `out` ends as another format, and where it is one of the inputs, through links too: writing
// would destroy what is read.
void check_weights_out(const std::string& command, const std::string& out,
                       const std::vector<std::string>& inputs);

}  // namespace aft
