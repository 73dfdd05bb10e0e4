// Jobs: what figures show of a stored model, as plain numbers and pictures. Plain types. No
// LibTorch. Block until done; any thread.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/field.h"
#include "core/images/image.h"
#include "core/progress.h"
#include "model/metrics.h"
#include "model/requests.h"
#include "model/traits.h"

namespace aft {

// What a figure says of a model and decides by.
struct ModelFacts {
    std::string path = {}, name = {}, data = {};  // data: the source it was trained on
    int64_t step = 0, layers = 0, tokens = 0, dim = 0;
    int64_t grid_height = 0, grid_width = 0, channels = 1;  // token grid; values of a pixel
    int64_t height = 0;                                     // of a picture
    int64_t prefix_tokens = 0;     // before the grid: class token, distillation token
    bool has_start_token = false;  // false in a causal model: token 0 is at the start
    bool is_causal = false;        // a target sees the sources up to itself alone
    MixerTraits mixer = {};
    TaskTraits task = {};
};
[[nodiscard]] ModelFacts model_facts(const std::string& path);  // reads no tensor data

// One probe on several layers, for one input or the mean over several.
struct LayerProbes {
    std::string probe, model, device = "cpu";
    std::vector<int64_t> layers = {};
    int64_t head = -1;
    std::map<std::string, std::string> options = {};
    std::string data = {};          // "" = the probe needs no input
    int64_t index = -1, count = 1;  // index -1: the inputs are spread over the part
    bool is_at_most = false;        // count: fewer where the data have no more
};
struct LayerFields {
    int64_t count = 1;               // of inputs that were read
    std::vector<Field> layers = {};  // the main field of each, in the order asked for
    std::vector<Image> inputs = {};  // pictures that were looked at, as the model sees them
    std::string input_note = {};     // "mirror test 0 to 15"
};
// The mean over inputs is of finite values; a cell that is NaN for one of them is NaN.
[[nodiscard]] LayerFields probe_layers(const LayerProbes& request, const JobControl& control);

// Completions of several pictures of a source.
struct PictureCompletions {
    std::string model, data, device = "cpu";
    int64_t index = -1, count = 8, keep_rows = 0;  // index -1: spread over the part
    SampleOptions sample = {};
    std::vector<int64_t> pictures = {};  // these examples instead of `index` and `count`
};
struct CompletedPictures {
    std::vector<Image> originals = {};
    std::vector<std::vector<Image>> samples = {};  // [picture][sample]
    std::vector<uint8_t> hidden = {};              // [height, width]: 1 = was filled in
    std::string input_note = {};
};
[[nodiscard]] CompletedPictures complete_pictures(const PictureCompletions& request,
                                                  const JobControl& control);

// What a run folder has logged, with the settings that curves are drawn against.
struct RunCurves {
    std::string path = {}, name = {};
    int64_t layers = 0, dim = 0, seed = 0;
    MixerTraits mixer = {};
    TaskTraits task = {};
    std::string mixer_name = {};
    Curves curves = {};
};
// Error for a checkpoint: it has no log.
[[nodiscard]] RunCurves run_curves(const std::string& path);

}  // namespace aft
