#include "model/jobs/import.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/caught.h"
#include "core/check.h"
#include "core/files.h"
#include "core/outside.h"
#include "model/checkpoints/importers/constructor.h"
#include "model/checkpoints/importers/convert.h"
#include "model/checkpoints/importers/hints.h"
#include "model/checkpoints/importers/own.h"
#include "model/checkpoints/importers/revert.h"
#include "model/device.h"
#include "model/jobs/class_names.h"
#include "model/jobs/weights_out.h"
#include "model/nn/parameters.h"
#include "model/probe/masks.h"
#include "model/run_name.h"
#include "model/system.h"
#include "model/train/bias_norm.h"

namespace aft {

namespace {

constexpr const char* kOwnNames = "afterimage";  // assets/imports/afterimage.json

// Tensors outside the part that was taken, counted by their first word.
void add_outside(const TensorFile& file, const std::string& prefix, ImportResult& result) {
    std::map<std::string, int64_t> counts;
    for (const auto& [name, tensor] : file.tensors)
        if (!name.starts_with(prefix)) ++counts[name.substr(0, name.find('.'))];
    for (const auto& [name, count] : counts)
        result.dropped.push_back({name + ".*",
                                  fmt::format("{} tensors beside '{}', which was taken", count,
                                              prefix.substr(0, prefix.size() - 1)),
                                  {}});
}

void add_alphabet(const std::string& file, Checkpoint& checkpoint) {
    const ModelConfig& model = checkpoint.config.model;
    if (!task_traits(model).is_text())
        fail_usage("--alphabet is for models of texts, found one for task '{}'", model.task);
    constexpr uint64_t kMostText = uint64_t{2} << 30;
    std::array<bool, 256> occurs{};
    for (const char c : read_file(file, kMostText)) occurs[static_cast<uint8_t>(c)] = true;
    std::vector<uint8_t> alphabet;
    for (size_t byte = 0; byte < occurs.size(); ++byte)
        if (occurs[byte]) alphabet.push_back(static_cast<uint8_t>(byte));
    if (static_cast<int64_t>(alphabet.size()) != model.levels)
        fail_usage("--alphabet {}: {} different bytes occur there, the model has {} tokens",
                   shown_path(file), alphabet.size(), model.levels);
    checkpoint.data["alphabet"] = alphabet;
}

void add_classes(const std::string& file, Checkpoint& checkpoint) {
    const ModelConfig& model = checkpoint.config.model;
    if (!task_traits(model).has_classes)
        fail_usage("--classes is for classifiers, found a model for task '{}'", model.task);
    checkpoint.data["classes"] = read_class_names(file, model.outputs());
}

std::vector<std::string> keys_of(const imports::Assignments& settings) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : settings) keys.push_back(key);
    return keys;
}

// A note that asks for a setting ("add --set model.heads=N") says nothing where it is given.
bool asks_for_given(const std::string& note, const std::vector<std::string>& given) {
    return std::any_of(given.begin(), given.end(), [&](const std::string& key) {
        return note.find("--set " + key + "=") != std::string::npos;
    });
}

// Error where the model does not read a setting of the user's: of --set, or of a mapping file.
void check_settings_read(const Config& config, const imports::Assignments& set,
                         const imports::Mapping* own) {
    const std::vector<std::string> given = keys_of(set);
    check_read(config, given, "--set ");
    if (task_traits(config.model).is_mixer_alone)
        for (const std::string& key : given)
            for (const char* const of_whole : {"model.levels", "model.channels", "model.mlp_ratio",
                                               "model.activation", "model.positions"})
                if (key == of_whole)
                    fail_usage("--set {}: a layer alone (model.task={}) does not read it", key,
                               config.model.task);
    const bool is_other = std::any_of(given.begin(), given.end(), [](const std::string& key) {
        return key == "model.mixer" || key == "model.task";
    });
    if (own == nullptr || is_other) return;
    std::vector<std::string> keys;
    for (const auto& [key, text] : own->settings) keys.push_back(key);
    check_read(config, keys, own->file + ": settings: ");
}

// Notes on a mapping file of the user's by which an export would fail.
void add_ways_back(const imports::Mapping& mapping, std::vector<std::string>& notes) {
    for (const imports::Rule& rule : mapping.rules)
        if (const std::string why = imports::no_way_back(rule); !why.empty())
            notes.push_back("cannot be exported back: " + why);
}

// What came of a file, and by which rules.
struct Taken {
    RoomInfo importer;
    std::string prefix{};
    std::vector<std::string> notes{};
    imports::Converted converted{};
};

Taken taken_of(const TensorFile& file, const ImportRequest& request) {
    const bool is_own = request.as.empty() || request.as == kOwnNames;
    if (is_own && request.map.empty() && imports::has_settings(file)) {
        Taken own{.importer = {kOwnNames, "our own names and settings"},
                  .converted = imports::convert_own(request.file, request.set)};
        check_settings_read(own.converted.checkpoint.config, request.set, nullptr);
        return own;
    }
    imports::ImportChoice wanted{
        .path = request.file, .as = request.as, .map = request.map, .given = {}};
    const imports::Assignments settings = imports::with_stored(file, request.file, request.set);
    wanted.given = keys_of(settings);
    const imports::Recognised found = imports::recognise(file, wanted);
    Taken taken{.importer = found.mapping.info,
                .prefix = found.view.prefix,
                .notes = found.mapping.notes,
                .converted = imports::convert(found, request.file, settings)};
    const std::string stem = fs::path(request.out).stem().string();
    if (!stem.empty() && name_problem(stem).empty()) taken.converted.checkpoint.config.name = stem;
    if (!found.mapping.is_known) {
        imports::add_unmet(found, taken.notes);
        imports::add_unseen(taken.converted, taken.notes);
        add_ways_back(found.mapping, taken.notes);
    }
    std::erase_if(taken.notes,
                  [&](const std::string& note) { return asks_for_given(note, wanted.given); });
    check_settings_read(taken.converted.checkpoint.config, request.set,
                        request.map.empty() ? nullptr : &found.mapping);
    return taken;
}

// As training logs them: of what comes without a log the window shows them too.
void add_bias_norms(Checkpoint& made) {
    const Net net = make_net(made);
    const ModelConfig& model = made.config.model;
    if (!made.metrics.is_object()) made.metrics = nlohmann::json::object();
    for (int64_t layer = 0; layer < model.layers; ++layer)
        if (const auto square = squared_bias(net.mixer(layer), model.tokens()))
            if (const double norm = std::sqrt(*square); std::isfinite(norm))
                made.metrics[fmt::format("bias_norm.layer.{}", layer)] = norm;
}

ImportResult import_file(const ImportRequest& request) {
    if (!request.as.empty() && !request.map.empty())
        fail_usage("--as and --map: one of them, found both");
    if (!request.out.empty())
        check_weights_out("import", request.out,
                          {request.file, request.map, request.alphabet, request.classes});
    if (!request.dry_run) check_writable(request.out);
    const TensorFile file = read_tensors(request.file);
    Taken taken = taken_of(file, request);
    imports::Converted& converted = taken.converted;
    if (!request.alphabet.empty()) add_alphabet(request.alphabet, converted.checkpoint);
    if (!request.classes.empty()) add_classes(request.classes, converted.checkpoint);
    ImportResult result{.file = request.file,
                        .importer = taken.importer.name,
                        .sentence = taken.importer.sentence,
                        .prefix = taken.prefix,
                        .out = request.dry_run ? "" : request.out,
                        .model = mixer_traits(converted.checkpoint.config.model).words,
                        .notes = taken.notes,
                        .mapped = {},
                        .dropped = {},
                        .fresh = {},
                        .not_finite = {}};
    for (imports::Moved& row : converted.moved)
        result.mapped.push_back({row.from, row.to, row.how, row.shape});
    for (imports::Left& row : converted.dropped)
        result.dropped.push_back({row.name, row.why, row.shape});
    for (imports::Left& row : converted.fresh)
        result.fresh.push_back({row.name, row.why, row.shape});
    if (!result.prefix.empty()) add_outside(file, result.prefix, result);
    const Checkpoint& made = converted.checkpoint;
    for (const auto& [name, tensor] : made.weights) result.parameters += tensor.numel();
    result.not_finite = probe::weight_faults(made.config.model, made.weights);
    for (const probe::LayerMasks& masks : probe::masks_of(made.config.model, made.weights))
        result.notes.push_back(probe::hidden_words(masks));
    if (request.dry_run) return result;
    add_bias_norms(converted.checkpoint);
    write_checkpoint(request.out, converted.checkpoint);
    return result;
}

}  // namespace

ImportResult import_job(const ImportRequest& request) {
    ImportResult result;
    with_plain_errors([&] { result = import_file(request); });
    return result;
}

std::string import_refusal(const std::string& file) {
    return error_words(
        [&] {
            const TensorFile tensors = read_tensors(file, TensorData::left_out);
            if (!imports::has_settings(tensors))
                (void)imports::recognise(tensors, {.path = file, .as = {}, .map = {}, .given = {}});
        },
        plain_words);
}

std::vector<RoomInfo> importer_list() {
    std::vector<RoomInfo> list;
    for (const imports::Mapping& mapping : imports::known_mappings())
        list.push_back({mapping.info.name,
                        (mapping.refuse.empty() ? "" : "Refused: ") + mapping.info.sentence});
    return list;
}

}  // namespace aft
