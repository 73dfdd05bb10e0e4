// Job: one probe of a stored model, to a file of numbers or a picture. Plain types. No LibTorch.
// Blocks until done; any thread.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/progress.h"
#include "model/probe/option.h"

namespace aft {

[[nodiscard]] std::vector<ProbeInfo> probe_list();  // every probe with its options
// Its row of that key; null without such a probe or option. It lives as long as the program.
[[nodiscard]] const ProbeOption* probe_option(std::string_view probe, std::string_view key);

struct ProbeJob {
    std::string probe, model, image, text, data, device = "cpu";
    int64_t index = 0, layer = 0, head = -1, channel = -1, position = 0;
    // The mean over so many examples of data: spread over the part, or in a row from index on.
    int64_t limit = 1;
    bool is_row = false;
    int64_t other = -1;    // of probes that take two inputs: the second example of data
    bool moments = false;  // of a run: at every stored step, along a new first axis
    std::map<std::string, std::string> options;
    std::string out;     // .npy, .csv, .png, .svg
    std::string recipe;  // file of interventions on the model (jobs/recipe.h); "" = none
    // Of pictures: pixels of a .png for one of the figure, 1 to 4; light or dark.
    int64_t scale = 1;
    std::string theme = "light";
};
// The field that was written, without its values.
struct ProbeResult {
    std::string probe, model;  // as asked for
    int64_t layer = 0;
    std::string file;
    std::string input_note;  // what became of the input; "" = nothing to say
    std::string field, unit;
    std::vector<int64_t> shape;
    std::vector<std::string> axes;  // one word per dimension
    int64_t step = -1;              // of the weights
    std::map<std::string, std::string> notes;
    std::vector<std::string> not_finite;  // weights with NaN or infinity, as inspect names them
    // Over the finite values; NaN where there are none.
    double min = std::numeric_limits<double>::quiet_NaN(), max = min, mean = min;
};
[[nodiscard]] ProbeResult probe_job(const ProbeJob& request, const JobControl& control);

}  // namespace aft
