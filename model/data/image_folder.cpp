#include "model/data/image_folder.h"

#include <algorithm>

#include "core/check.h"
#include "core/files.h"
#include "core/images/image.h"
#include "core/outside.h"
#include "core/progress.h"

namespace aft {
namespace {

using Files = std::vector<PictureFile>;

void check_stop(const std::stop_token& stop) {
    if (stop.stop_requested()) throw Interrupted();
}

std::vector<fs::path> sorted_entries(const fs::path& folder, const std::stop_token& stop) {
    std::vector<fs::path> entries;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        check_stop(stop);
        if (it->path().filename().string()[0] != '.') entries.push_back(it->path());
    }
    AFT_CHECK(!error, "cannot read the folder '{}': {}", shown_path(folder.string()),
              error.message());
    // Of one folder: by bytes this is their order as paths, which compares ten times as long.
    std::sort(entries.begin(), entries.end(),
              [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
    return entries;
}

// One folder of pictures or of class folders.
struct Listing {
    std::vector<std::string> class_names{};
    Files files{};  // labels by class_names
};

Listing list_classes(const fs::path& folder, const std::stop_token& stop) {
    Listing found;
    Files loose;
    for (const fs::path& entry : sorted_entries(folder, stop)) {
        check_stop(stop);
        std::error_code error;
        if (fs::is_directory(entry, error)) {
            const auto label = static_cast<int64_t>(found.class_names.size());
            const size_t before = found.files.size();
            for (fs::path& file : sorted_entries(entry, stop))
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

// The first of these folders that is there; empty: none.
fs::path one_of(const fs::path& root, const std::vector<const char*>& names) {
    std::error_code error;
    for (const char* name : names)
        if (fs::is_directory(root / name, error)) return root / name;
    return {};
}

void add_part(const Spec& spec, const fs::path& path, Split split, PictureFolder& folder) {
    if (path.empty()) return;
    Listing listing = list_classes(path, spec.stop);
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
    folder.parts.part(split) = std::move(listing.files);
}

PictureFolder list_parts(const Spec& spec, const fs::path& root, const fs::path& held) {
    if (spec.options.contains("holdout"))
        fail_usage("data '{}': holdout is for a folder without parts, but '{}' has train and {}",
                   spec.text, shown_path(root.string()), held.filename().string());
    PictureFolder folder;
    Listing train = list_classes(root / "train", spec.stop);
    folder.class_names = std::move(train.class_names);
    folder.parts.part(Split::train) = std::move(train.files);
    add_part(spec, one_of(root, {"val", "valid", "validation"}), Split::validation, folder);
    add_part(spec, one_of(root, {"test"}), Split::test, folder);
    return folder;
}

}  // namespace

PictureFolder list_pictures(const Spec& spec) {
    const fs::path root = spec.path;
    check_folder(spec, root);
    const fs::path held = one_of(root, {"val", "valid", "validation", "test"});
    const bool has_parts = !held.empty() && !one_of(root, {"train"}).empty();
    PictureFolder folder;
    if (has_parts) {
        folder = list_parts(spec, root, held);
    } else {
        Listing listing = list_classes(root, spec.stop);
        folder.class_names = std::move(listing.class_names);
        folder.parts.part(Split::train) = std::move(listing.files);
    }
    AFT_CHECK(!folder.parts.part(Split::train).empty(),
              "data '{}': no picture (PNG, JPEG, BMP, PNM) in '{}'", spec.text,
              shown_path((has_parts ? root / "train" : root).string()));
    if (!has_parts)
        hold_out(folder.parts, spec.integer("holdout", kUsualHoldout, 0, kMostHoldout),
                 [](const PictureFile& file) { return file.path.filename().string(); });
    if (wants_all_parts(spec)) put_all_into_test(folder.parts);
    return folder;
}

}  // namespace aft
