// Whether a source and a model belong together, and a model's shape from its source.
#include "core/check.h"
#include "model/data/classes.h"
#include "model/data/loader.h"
#include "model/nn/embedding.h"
#include "model/traits.h"

namespace aft {
namespace {

void check_labels(const DataInfo& info, const ModelConfig& model) {
    if (info.classes < 2)
        fail_usage(
            "model.task is classify, but the data has {} classes; at least 2 are needed, as in "
            "images:DIR with a folder for each",
            info.classes);
    if (info.classes != model.outputs())
        fail_usage(
            "the model tells {} classes, the data has {}; shards:GLOB?classes={} says which number "
            "a picture has (docs/pictures.md), and probe predictions --image needs no class",
            model.outputs(), info.classes, model.outputs());
}

void check_patches(const DataInfo& info, const ModelConfig& model) {
    if (info.channels != model.channels)
        fail_usage("the model takes pictures of {} channels, the data has {}", model.channels,
                   info.channels);
    // Without position table and class token any image size divisible by the patch size is
    // accepted.
    const int64_t patch = model.own.read<PatchSettings>().patch;
    const bool any_size = !model.has_positions() && model.prefix_tokens() == 0;
    const bool fits = any_size ? info.height % patch == 0 && info.width % patch == 0
                               : info.height == model.height && info.width == model.width;
    if (fits) return;
    if (any_size)
        fail_usage("pictures of {} x {} are not whole patches of {} x {}; add ?size=N to the data",
                   info.height, info.width, patch, patch);
    fail_usage(
        "the model takes pictures of {} x {}, the data has {} x {}; add ?size={} to the data",
        model.height, model.width, info.height, info.width, model.height);
}

void check_image(const DataInfo& info, const ModelConfig& model) {
    const bool fits = info.height == model.height && info.width == model.width &&
                      info.channels == model.channels && info.levels == model.levels;
    if (!fits)
        fail_usage(
            "the model is for pictures of {} x {} x {} with {} levels, the data has {} x {} "
            "x {} with {} levels; the data's options size, levels and gray change that",
            model.height, model.width, model.channels, model.levels, info.height, info.width,
            info.channels, info.levels);
}

void check_text(const DataInfo& info, const ModelConfig& model) {
    if (info.levels != model.levels)
        fail_usage(
            "the model has an alphabet of {}, the data one of {}; the data's option "
            "alphabet=256|used changes that",
            model.levels, info.levels);
}

}  // namespace

void check_has_task(const ModelConfig& model) {
    if (task_traits(model).is_bias_alone)
        fail_usage("the model is position biases alone: no data fit it");
    if (task_traits(model).is_mixer_alone)
        fail_usage(
            "the model is a mixer alone, without embedding, MLPs and head: it has no task, and no "
            "data fit it; inspect, probe bias, compare, export and run --part mixer --layer N work "
            "on it");
}

void check_fit(const DataSource& source, const ModelConfig& model, bool ignores_labels) {
    const DataInfo& info = source.info();
    check_has_task(model);
    if (info.is_text != task_traits(model).is_text())
        fail_usage("model.task is {}, but the data is {}", model.task,
                   info.is_text ? "text" : "pictures");
    if (task_traits(model).has_classes) {
        if (!ignores_labels) check_labels(info, model);
        return check_patches(info, model);
    }
    if (info.is_text) return check_text(info, model);
    check_image(info, model);
}

int64_t text_length(const ModelConfig& model) {
    return task_traits(model).is_text() ? model.tokens() : 0;
}

Spec spec_for_model(const Spec& given, const ModelConfig& model,
                    const std::vector<uint8_t>& alphabet) {
    Spec spec = given;
    const SourceRoom& room = find_room(sources(), spec.room, "data source");
    const auto offer = [&](const char* key, const std::string& value) {
        if (has_option(room, key)) spec.options.emplace(key, value);
    };
    const bool is_text = task_traits(model).is_text();
    if (!is_text) {
        if (model.height == model.width) offer("size", std::to_string(model.height));
        offer("levels", std::to_string(model.levels));
        offer("gray", model.channels == 1 ? "1" : "0");
    } else if (!alphabet.empty() && alphabet.size() < 256) {
        std::string bytes;
        for (uint8_t byte : alphabet) bytes += fmt::format("{:02x}", byte);
        offer("alphabet", bytes);
    }
    return spec;
}

std::unique_ptr<DataSource> open_for_model(const Spec& given, uint64_t seed,
                                           const ModelConfig& model, const KnownData& known) {
    const Spec spec = spec_for_model(given, model, known.alphabet);
    auto source = open_source(spec, seed, text_length(model));
    if (!known.ignores_labels) source = with_known_classes(std::move(source), known);
    check_fit(*source, model, known.ignores_labels);
    return source;
}

namespace {

// Test, or else validation, the first that has something, or else train.
template <class Size>
Split first_part(const Size& size_of) {
    for (const Split split : {Split::test, Split::validation})
        if (size_of(split) > 0) return split;
    return Split::train;
}

}  // namespace

Split usual_split(const DataSource& source) {
    return first_part([&](Split split) { return source.size(split); });
}

// What it needs is the least length of which every longer text has a window there, too.
std::string why_too_short(const DataSource& source, Split split, int64_t length) {
    if (!source.info().is_text) return "";
    const int64_t window = length > 0 ? length : source.info().width;
    int64_t bytes = 0;
    for (const Split part : {Split::train, Split::validation, Split::test})
        bytes += source.text_size(part);
    const int64_t needed = split == Split::train  ? (10 * window + 8) / 9
                           : split == Split::test ? 20 * window - 19
                                                  : 20 * window;
    return fmt::format(
        "has {} bytes; the model needs at least {}, for one window of {} in the {} "
        "part",
        bytes, needed, window, split_name(split));
}

Split split_of(const Spec& spec, const DataSource& source) {
    const auto named = spec.options.find("split");
    if (named == spec.options.end()) return usual_split(source);
    return named->second == kAllParts ? Split::test : parse_split(named->second);
}

Split measured_split(const Spec& spec, const DataSource& source) {
    if (spec.options.contains("split")) return split_of(spec, source);
    return first_part([&](Split split) {
        return source.info().is_text ? source.text_size(split) : source.size(split);
    });
}

void fit_model(ModelConfig& model, const DataSource& source) {
    const DataInfo& info = source.info();
    model.levels = info.levels;
    if (info.is_text) {
        model.own["length"] = info.width;
        return;
    }
    model.height = info.height;
    model.width = info.width;
    model.channels = info.channels;
    if (task_traits(model).has_classes) model.own["classes"] = info.classes;
}

}  // namespace aft
