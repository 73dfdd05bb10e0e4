// Job: other people's weights as a model of ours. Plain types. No LibTorch. Blocks until done; any
// thread.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/rooms.h"

namespace aft {

struct ImportRequest {
    // out: not written with dry_run. usage Error where it is one of the files that are read.
    std::string file = {}, out = {};
    std::string as = {},
                map = {};  // an importer's name; a mapping file; "" = by the names of the tensors
    std::vector<std::pair<std::string, std::string>> set = {};  // settings over those of the file
    // Of a model of characters: a text in which each of them occurs. A token is then the place of
    // its byte among those that occur, in ascending order; "" = it stays unknown.
    std::string alphabet = {};
    // Of a classifier: a text of the names of its classes by their labels, one a line; "" = they
    // stay unknown.
    std::string classes = {};
    bool dry_run = false;  // say all, write nothing
};
struct ImportedTensor {
    std::string from, to, how;
    std::vector<int64_t> shape;
};
struct NamedReason {
    std::string name, why;
    std::vector<int64_t> shape;
};
struct ImportResult {
    std::string file, importer, sentence;
    std::string prefix;              // of the tensors that were taken: "model.", "" = all
    std::string out;                 // "" = nothing written
    std::string model;               // the mixer in words
    std::vector<std::string> notes;  // what was taken for granted
    std::vector<ImportedTensor> mapped;
    std::vector<NamedReason> dropped, fresh;
    // Tensors of the model that hold NaN or infinity, but for masks; masks that leave a target no
    // source.
    std::vector<std::string> not_finite;
    int64_t parameters = 0;
};
// Error, and nothing written, on whatever is not exactly known.
[[nodiscard]] ImportResult import_job(const ImportRequest& request);
// Why import_job() would refuse this file by the names and shapes of its tensors; "" where it would
// not. Reads no values; for a file of gigabytes it takes milliseconds.
[[nodiscard]] std::string import_refusal(const std::string& file);
// assets/imports/*.json
[[nodiscard]] std::vector<RoomInfo> importer_list();

}  // namespace aft
