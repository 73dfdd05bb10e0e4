// images: a folder of PNG, JPEG, BMP or PNM pictures of any size, or of one folder of pictures per
// class. Each is cropped to a centred square and averaged to size x size. Every tenth file, by hash
// of its name, is validation; there is no test part. Pictures are kept once read, up to a limit.
#include <algorithm>
#include <mutex>

#include "core/check.h"
#include "core/files.h"
#include "model/data/pixels.h"

namespace aft {
namespace {

constexpr int64_t kMaxKept = int64_t{512} << 20;  // bytes of prepared pictures held in memory

// FNV-1a: the split of a file must not depend on the machine.
uint64_t name_hash(const std::string& name) {
    uint64_t hash = 0xcbf29ce484222325;
    for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    return hash;
}

struct Item {
    fs::path path;
    int64_t label = -1;
};

std::vector<fs::path> sorted_entries(const fs::path& folder) {
    std::vector<fs::path> entries;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        if (it->path().filename().string()[0] != '.') entries.push_back(it->path());
    AFT_CHECK(!error, "cannot read the folder '{}': {}", folder.string(), error.message());
    std::sort(entries.begin(), entries.end());
    return entries;
}

class Images : public DataSource {
  public:
    explicit Images(const Spec& spec) : options_(pixel_options(spec, {32, 256, false})) {
        const fs::path folder = spec.path;
        check_folder(spec, folder);
        collect(folder);
        AFT_CHECK(!train_.empty(), "data '{}': no picture (PNG, JPEG, BMP, PNM) in '{}'", spec.text,
                  folder.string());
        hold_out();
        describe_pixels(info_, options_, 3);
        info_.classes = static_cast<int64_t>(info_.class_names.size());
        kept_.resize(train_.size() + validation_.size());
    }
    [[nodiscard]] const DataInfo& info() const override { return info_; }

    [[nodiscard]] int64_t size(Split split) const override {
        if (split == Split::test) return 0;
        return static_cast<int64_t>(split == Split::train ? train_.size() : validation_.size());
    }

    [[nodiscard]] Example example(Split split, int64_t index) const override {
        AFT_ASSERT(index >= 0 && index < size(split));
        const bool train = split == Split::train;
        const Item& item = (train ? train_ : validation_)[static_cast<size_t>(index)];
        const size_t slot = static_cast<size_t>(index) + (train ? 0 : train_.size());
        if (const auto kept = kept_picture(slot)) return {*kept, item.label};
        const Image image = read_image(item.path);
        auto values = std::make_shared<const std::vector<uint8_t>>(
            to_levels(options_.gray ? image : to_rgb(image), options_));
        keep(slot, values);
        return {*values, item.label};
    }

  private:
    using Values = std::shared_ptr<const std::vector<uint8_t>>;

    void collect(const fs::path& folder) {
        std::vector<fs::path> loose;
        for (const fs::path& entry : sorted_entries(folder)) {
            if (fs::is_directory(entry)) {
                const auto label = static_cast<int64_t>(info_.class_names.size());
                const size_t before = train_.size();
                for (const fs::path& file : sorted_entries(entry))
                    if (is_image_file(file)) train_.push_back({file, label});
                if (train_.size() > before) info_.class_names.push_back(entry.filename().string());
            } else if (is_image_file(entry)) {
                loose.push_back(entry);
            }
        }
        // Pictures beside class folders belong to no class: they would have no label.
        if (train_.empty())
            for (fs::path& file : loose) train_.push_back({std::move(file), -1});
    }

    void hold_out() {
        std::vector<Item> rest;
        for (Item& item : train_) {
            const bool held_out = name_hash(item.path.filename().string()) % 10 == 0;
            (held_out ? validation_ : rest).push_back(std::move(item));
        }
        // A very small folder: one file is held out all the same, and one is always left.
        if (validation_.empty() && rest.size() > 1) {
            validation_.push_back(rest.back());
            rest.pop_back();
        }
        if (rest.empty()) {
            rest.push_back(validation_.back());
            if (validation_.size() > 1) validation_.pop_back();
        }
        train_ = std::move(rest);
    }

    [[nodiscard]] Values kept_picture(size_t slot) const {
        const std::lock_guard lock(mutex_);
        return kept_[slot];
    }
    void keep(size_t slot, Values values) const {
        const std::lock_guard lock(mutex_);
        const auto bytes = static_cast<int64_t>(values->size());
        if (kept_[slot] || kept_bytes_ + bytes > kMaxKept) return;
        kept_bytes_ += bytes;
        kept_[slot] = std::move(values);
    }

    PixelOptions options_;
    DataInfo info_;
    std::vector<Item> train_, validation_;
    mutable std::mutex mutex_;
    mutable std::vector<Values> kept_;
    mutable int64_t kept_bytes_ = 0;
};

}  // namespace

SourceRoom images_source() {
    return {{"images", "A folder of pictures, or one folder of pictures for each class."},
            {"size=N side in pixels, centre crop and area average (32)",
             "levels=N values of a sub-pixel (256)", "gray=0|1 one channel (0)"},
            "folder",
            [](const Spec& spec, uint64_t) -> std::unique_ptr<DataSource> {
                spec.allow({"size", "levels", "gray"});
                return std::make_unique<Images>(spec);
            }};
}

}  // namespace aft
