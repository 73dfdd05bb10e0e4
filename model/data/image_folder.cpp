#include "model/data/image_folder.h"

#include <algorithm>

#include "core/check.h"
#include "core/files.h"
#include "core/image.h"
#include "core/outside.h"

namespace aft {
namespace {

using Files = std::vector<PictureFile>;

// FNV-1a: the split of a file must not depend on the machine.
uint64_t name_hash(const std::string& name) {
    uint64_t hash = 0xcbf29ce484222325;
    for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    return hash;
}

// What is held out at 10 % is held out at 20 %, too.
bool is_held_out(const fs::path& file, int64_t percent) {
    const uint64_t hash = name_hash(file.filename().string());
    return static_cast<int64_t>(hash % 10 * 10 + hash / 10 % 10) < percent;
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
    std::vector<fs::path> entries;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        if (it->path().filename().string()[0] != '.') entries.push_back(it->path());
    AFT_CHECK(!error, "cannot read the folder '{}': {}", shown_path(folder.string()),
              error.message());
    std::sort(entries.begin(), entries.end());
    return entries;
}

// One folder of pictures or of class folders.
struct Listing {
    std::vector<std::string> class_names{};
    Files files{};  // labels by class_names
};

Listing list_classes(const fs::path& folder) {
    Listing found;
    Files loose;
    for (const fs::path& entry : sorted_entries(folder)) {
        std::error_code error;
        if (fs::is_directory(entry, error)) {
            const auto label = static_cast<int64_t>(found.class_names.size());
            const size_t before = found.files.size();
            for (fs::path& file : sorted_entries(entry))
                if (is_image_file(file)) found.files.push_back({std::move(file), label});
            if (found.files.size() > before) found.class_names.push_back(entry.filename().string());
        } else if (is_image_file(entry)) {
            loose.push_back({entry});
        }
    }
    // Pictures beside class folders belong to no class: they would have no label.
    if (found.files.empty()) found.files = std::move(loose);
    return found;
}

void hold_out(PictureFolder& folder, int64_t percent) {
    Files &train = folder.part(Split::train), &held = folder.part(Split::validation), rest;
    for (PictureFile& file : train)
        (is_held_out(file.path, percent) ? held : rest).push_back(std::move(file));
    // A very small folder: one file is held out all the same, and one is always left.
    if (percent > 0 && held.empty() && rest.size() > 1) {
        held.push_back(std::move(rest.back()));
        rest.pop_back();
    }
    if (rest.empty()) {
        rest.push_back(held.back());
        if (held.size() > 1) held.pop_back();
    }
    train = std::move(rest);
}

// The first of these folders that is there; empty: none.
fs::path one_of(const fs::path& root, const std::vector<const char*>& names) {
    std::error_code error;
    for (const char* name : names)
        if (fs::is_directory(root / name, error)) return root / name;
    return {};
}

void add_part(const Spec& spec, const fs::path& path, Split split, PictureFolder& folder) {
    if (path.empty()) return;
    Listing listing = list_classes(path);
    const auto& known = folder.class_names;
    for (PictureFile& file : listing.files) {
        if (file.label < 0) continue;
        const std::string& name = listing.class_names[static_cast<size_t>(file.label)];
        const auto found = std::find(known.begin(), known.end(), name);
        if (found == known.end())
            fail_usage("data '{}': '{}' has the class '{}', which the training part lacks",
                       spec.text, shown_path(path.string()), shown(name));
        file.label = found - known.begin();
    }
    folder.part(split) = std::move(listing.files);
}

PictureFolder list_parts(const Spec& spec, const fs::path& root, const fs::path& held) {
    if (spec.options.contains("holdout"))
        fail_usage("data '{}': holdout is for a folder without parts, but '{}' has train and {}",
                   spec.text, shown_path(root.string()), held.filename().string());
    PictureFolder folder;
    Listing train = list_classes(root / "train");
    folder.class_names = std::move(train.class_names);
    folder.part(Split::train) = std::move(train.files);
    add_part(spec, one_of(root, {"val", "valid", "validation"}), Split::validation, folder);
    add_part(spec, one_of(root, {"test"}), Split::test, folder);
    return folder;
}

void put_all_into_test(PictureFolder& folder) {
    Files all;
    for (const Split split : {Split::train, Split::validation, Split::test})
        for (PictureFile& file : folder.part(split)) all.push_back(std::move(file));
    folder.parts = {};
    folder.part(Split::test) = std::move(all);
}

}  // namespace

PictureFolder list_pictures(const Spec& spec) {
    constexpr int64_t kUsualHoldout = 10, kMostHoldout = 90;
    const fs::path root = spec.path;
    check_folder(spec, root);
    const fs::path held = one_of(root, {"val", "valid", "validation", "test"});
    const bool has_parts = !held.empty() && !one_of(root, {"train"}).empty();
    PictureFolder folder;
    if (has_parts) {
        folder = list_parts(spec, root, held);
    } else {
        Listing listing = list_classes(root);
        folder.class_names = std::move(listing.class_names);
        folder.part(Split::train) = std::move(listing.files);
    }
    AFT_CHECK(!folder.part(Split::train).empty(),
              "data '{}': no picture (PNG, JPEG, BMP, PNM) in '{}'", spec.text,
              shown_path((has_parts ? root / "train" : root).string()));
    if (!has_parts) hold_out(folder, spec.integer("holdout", kUsualHoldout, 0, kMostHoldout));
    const auto split = spec.options.find("split");
    if (split != spec.options.end() && split->second == kAllParts) put_all_into_test(folder);
    return folder;
}

}  // namespace aft
