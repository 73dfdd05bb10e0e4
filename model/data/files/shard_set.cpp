#include "model/data/files/shard_set.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "core/check.h"
#include "core/outside.h"
#include "model/data/files/shard_files.h"
#include "model/data/files/shard_scan.h"

namespace aft {
namespace {

constexpr Split kAllSplits[] = {Split::train, Split::validation, Split::test};

// What the shards hold; until the end a picture's label is the place of its text in `labels`.
struct RawShards {
    ShardSet set{};
    std::vector<std::string> labels{};
    std::unordered_map<std::string, int32_t> label_places{};
    // Of pictures whose label cannot be read, by part and place in it.
    std::vector<std::pair<std::pair<Split, size_t>, std::string>> label_problems{};
    bool is_labelled = false;
};

int32_t add_problem(ShardSet& set, std::string problem) {
    set.problems.push_back(std::move(problem));
    return static_cast<int32_t>(set.problems.size() - 1);
}

void add_example(RawShards& raw, ShardExample& example, Split part) {
    std::vector<ShardPicture>& pictures = raw.set.parts.part(part);
    ShardPicture picture{.name = std::move(example.name),
                         .offset = example.offset,
                         .shard = static_cast<uint32_t>(raw.set.shards.size() - 1)};
    if (example.problem.empty())
        picture.size = static_cast<uint32_t>(example.size);
    else
        picture.problem = add_problem(raw.set, std::move(example.problem));
    raw.is_labelled |= example.has_label_file || !example.label.empty();
    if (!example.label.empty()) {
        const auto place = static_cast<int32_t>(raw.labels.size());
        const auto [known, is_new] = raw.label_places.try_emplace(example.label, place);
        if (is_new) raw.labels.push_back(std::move(example.label));
        picture.label = known->second;
    } else if (!example.label_problem.empty()) {
        raw.label_problems.push_back({{part, pictures.size()}, std::move(example.label_problem)});
    }
    pictures.push_back(std::move(picture));
}

RawShards read_shards(const ShardFiles& files) {
    RawShards raw;
    for (const ShardFile& file : files.files) {
        raw.set.shards.push_back(file.path);
        for (ShardExample& example : scan_shard(file.path, file.examples))
            add_example(raw, example, file.part);
    }
    return raw;
}

std::string place_words(const ShardSet& set, const ShardPicture& picture) {
    return fmt::format("'{}' in '{}'", shown(picture.name),
                       shown_path(set.shards[picture.shard].string()));
}

// The labels that pictures of the training part have.
std::vector<int32_t> training_labels(const RawShards& raw) {
    std::vector<bool> is_used(raw.labels.size());
    for (const ShardPicture& picture : raw.set.parts.part(Split::train))
        if (picture.label >= 0 && picture.problem < 0)
            is_used[static_cast<size_t>(picture.label)] = true;
    std::vector<int32_t> used;
    for (size_t i = 0; i < is_used.size(); ++i)
        if (is_used[i]) used.push_back(static_cast<int32_t>(i));
    return used;
}

void refuse_option_classes(const Spec& spec) {
    if (spec.options.contains("classes"))
        fail_usage(
            "data '{}': classes is for labels that are numbers without names; these have names, or "
            "there are none",
            spec.text);
}

// Classes by number; labels that are names have no number then.
void count_classes(const Spec& spec, const RawShards& raw, const std::vector<int32_t>& used,
                   ShardSet& set) {
    int64_t most = -1;
    for (const int32_t label : used)
        most = std::max(most, label_number(raw.labels[static_cast<size_t>(label)]));
    set.classes = spec.integer("classes", most + 1, 1, kMostClasses);
    if (most >= set.classes)
        fail_usage("data '{}': classes is {}, but the shards have the class {}", spec.text,
                   set.classes, most);
}

// Fills class_names and classes; returns the class of each label, -1 for one that is none.
std::vector<int32_t> find_classes(const Spec& spec, const ShardFiles& files, RawShards& raw) {
    ShardSet& set = raw.set;
    const std::vector<int32_t> used = training_labels(raw);
    const auto has_number = [&](int32_t label) {
        return label_number(raw.labels[static_cast<size_t>(label)]) >= 0;
    };
    if (files.classes) {
        set.class_names = *files.classes;
    } else if (!std::all_of(used.begin(), used.end(), has_number)) {
        for (const int32_t label : used)
            set.class_names.push_back(raw.labels[static_cast<size_t>(label)]);
        std::sort(set.class_names.begin(), set.class_names.end());
    }
    const bool has_names = !set.class_names.empty();
    if (has_names || used.empty()) refuse_option_classes(spec);
    if (has_names)
        set.classes = static_cast<int64_t>(set.class_names.size());
    else if (!used.empty())
        count_classes(spec, raw, used, set);
    std::unordered_map<std::string, int32_t> by_name;
    for (size_t i = 0; i < set.class_names.size(); ++i)
        by_name.emplace(set.class_names[i], static_cast<int32_t>(i));
    std::vector<int32_t> classes;
    for (const std::string& label : raw.labels) {
        // In a list the number counts, also where it is the name of another class; names that no
        // list orders may look like numbers.
        int64_t number = has_names && !files.classes ? -1 : label_number(label);
        const auto named = by_name.find(label);
        if ((number < 0 || number >= set.classes) && named != by_name.end()) number = named->second;
        classes.push_back(number < set.classes ? static_cast<int32_t>(number) : -1);
    }
    return classes;
}

// What a picture without a class of the set is.
void lose_label(const Spec& spec, const ShardFiles& files, RawShards& raw, ShardPicture& picture) {
    const std::string place = place_words(raw.set, picture);
    if (picture.label < 0) {
        picture.problem = add_problem(
            raw.set, place + ": it has no label: no .cls, and no .json with \"label\", beside it");
        return;
    }
    const std::string label = shown(raw.labels[static_cast<size_t>(picture.label)]);
    if (!files.classes)
        fail_usage("data '{}': {} has the class '{}', which the training part lacks", spec.text,
                   place, label);
    picture.problem =
        add_problem(raw.set, fmt::format("{}: its class '{}' is none of the {} of index.json",
                                         place, label, raw.set.classes));
}

void set_labels(const Spec& spec, const ShardFiles& files, RawShards& raw) {
    if (files.classes && files.classes->empty()) raw.is_labelled = false;
    if (!raw.is_labelled) {
        refuse_option_classes(spec);
        for (const Split split : kAllSplits)
            for (ShardPicture& picture : raw.set.parts.part(split)) picture.label = -1;
        return;
    }
    for (auto& [place, problem] : raw.label_problems) {
        int32_t& target = raw.set.parts.part(place.first)[place.second].problem;
        if (target < 0) target = add_problem(raw.set, std::move(problem));
    }
    const std::vector<int32_t> classes = find_classes(spec, files, raw);
    for (const Split split : kAllSplits)
        for (ShardPicture& picture : raw.set.parts.part(split)) {
            const int32_t label =
                picture.label < 0 ? -1 : classes[static_cast<size_t>(picture.label)];
            if (label < 0 && picture.problem < 0) lose_label(spec, files, raw, picture);
            picture.label = label;
        }
}

void divide_parts(const Spec& spec, const ShardFiles& files, SplitParts<ShardPicture>& parts) {
    if (files.has_parts && spec.options.contains("holdout"))
        fail_usage(
            "data '{}': holdout is for shards without parts; val and test, or index.json, say the "
            "parts of these",
            spec.text);
    if (!files.has_parts)
        hold_out(parts, spec.integer("holdout", kUsualHoldout, 0, kMostHoldout),
                 [](const ShardPicture& picture) {
                     return std::string_view(picture.name).substr(picture.name.rfind('/') + 1);
                 });
    if (wants_all_parts(spec)) put_all_into_test(parts);
}

}  // namespace

ShardSet list_shards(const Spec& spec) {
    const ShardFiles files = find_shards(spec);
    RawShards raw = read_shards(files);
    AFT_CHECK(
        !raw.set.parts.part(Split::train).empty(),
        "data '{}': no picture (KEY.jpg, .jpeg, .png, .bmp, .pgm, .ppm, .pnm) in the {} shards "
        "of '{}'",
        spec.text, files.files.size(), shown_path(spec.path));
    set_labels(spec, files, raw);
    divide_parts(spec, files, raw.set.parts);
    return std::move(raw.set);
}

}  // namespace aft
