// Job: writes the weights of a model alone, to be given away. Plain types. No LibTorch. Blocks
// until done; any thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/jobs/import.h"

namespace aft {

struct ExportResult {
    std::string file;
    int64_t bytes = 0, parameters = 0;
    std::string dtype;  // F32, F16
    // How the origin's own code builds such a model: what its names do not hold. "" = nothing to
    // say.
    std::string constructor;
    // Under the names of others: what is not written, and why.
    std::vector<NamedReason> left_out = {};
};
// half: as F16, half the size; every value is then rounded to 11 bits, and reading turns it into
// float32 again.
// Under the names of others: an importer's, "torch" for our names as a plain state dict, or those
// of a mapping file of the user's. Error with the reason where the model would not read back as the
// same.
[[nodiscard]] ExportResult export_names(const std::string& model, const std::string& out,
                                        const std::string& as);
[[nodiscard]] ExportResult export_mapped(const std::string& model, const std::string& out,
                                         const std::string& map);
[[nodiscard]] ExportResult export_weights(const std::string& model, const std::string& out,
                                          bool half);

}  // namespace aft
