// What keeps a file from being a model by a mapping: all of it at once, with what to write instead.
// Called by convert(). Any thread; no state.
#pragma once
#include <string>
#include <vector>

#include "core/check.h"
#include "model/checkpoints/importers/convert.h"
#include "model/checkpoints/importers/mapping.h"

namespace aft::imports {

struct MappingFaults {
    std::vector<Left> unknown;    // tensors of the file that no rule takes
    std::vector<Left> failed;     // tensors whose rule cannot be applied; why
    std::vector<Left> missing;    // parameters that nothing gives
    std::vector<Left> misshapen;  // parameters of another shape; why: the one that is needed
    std::vector<Left> strange;    // names of `to` that the model does not have; why: the nearest
    ErrorKind kind = ErrorKind::failed;
};

// Error with a line for each kind of fault, the first of each and how many there are, and the rows
// of a mapping file that mend them; nothing where there is no fault. `path`: the file's.
void check_faults(const MappingFaults& faults, const Mapping& mapping, const std::string& path);

}  // namespace aft::imports
