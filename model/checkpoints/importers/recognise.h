// Which mapping a file of tensors belongs to, and which part of the file is meant: the tensors may
// lie under "model.", "state_dict.", "module." and their like. Any thread; no state.
#pragma once
#include <string>
#include <vector>

#include "model/checkpoints/format.h"
#include "model/checkpoints/importers/mapping.h"

namespace aft::imports {

// The tensors below one prefix, by the rest of their names.
struct View {
    std::string prefix;  // "state_dict.module."; "" = the whole file
    std::vector<std::pair<std::string, at::Tensor>> tensors;
    [[nodiscard]] const at::Tensor* find(const std::string& name) const;
    [[nodiscard]] bool has(const std::string& pattern) const;
};

struct Recognised {
    Mapping mapping;
    View view;
};

struct ImportChoice {
    std::string path;                // for messages
    std::string as;                  // a known mapping by name; "" = by the tensors' names
    std::string map;                 // the user's mapping file; "" = none
    std::vector<std::string> given;  // keys of the settings that the user gives
};

// Error where nothing fits: it names the nearest mapping and the first differences. Error with the
// reason where such a file is refused.
[[nodiscard]] Recognised recognise(const TensorFile& file, const ImportChoice& wanted);

// "'blocks.0.ls1.gamma' [192], ... (and 10 more)"
[[nodiscard]] std::string names_with_shapes(
    const std::vector<std::pair<std::string, at::Tensor>>& tensors);
// Whether a rule of the mapping is for this name.
[[nodiscard]] bool knows(const Mapping& mapping, const std::string& name);

}  // namespace aft::imports
