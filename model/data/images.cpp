// images: a folder of PNG, JPEG, BMP or PNM pictures of any size, of one folder of pictures per
// class, or of train/ and val/ with these (image_folder.h). Each is cropped to a centred square, of
// which `crop` of each side is kept, and averaged to size x size. Pictures are kept once prepared,
// up to a limit.
//
// Pictures that cannot be read. To decode a million pictures at every start would take an hour, so
// up to 512 of them, spread evenly over the list, are decoded before the first step of a training
// (they are kept prepared, so that a small folder loses nothing): more than 1 % unreadable is an
// error there. Any other is met when it is first wanted: named in a warning, counted and left out
// from then on; in training the next readable one of the list takes its place, in an evaluation
// none does. What is left out depends on the files alone, so it is the same at every start. More
// than 1 % of all pictures met unreadable is an error then.
#include <algorithm>
#include <map>
#include <mutex>

#include "core/caught.h"
#include "core/check.h"
#include "core/files.h"
#include "core/outside.h"
#include "core/warnings.h"
#include "model/data/image_folder.h"
#include "model/data/pixels.h"

namespace aft {
namespace {

constexpr int64_t kMaxKept = int64_t{512} << 20;  // bytes of prepared pictures held in memory
constexpr size_t kMostDecoded = 512;              // pictures decoded before the first step
constexpr size_t kMostNamed = 20;                 // unreadable pictures named in warnings

using Values = std::shared_ptr<const std::vector<uint8_t>>;

// Prepared pictures by their place in the list. Any thread.
class KeptPictures {
  public:
    explicit KeptPictures(size_t count) : kept_(count) {}
    [[nodiscard]] Values at(size_t place) const {
        const std::lock_guard lock(mutex_);
        return kept_[place];
    }
    void add(size_t place, Values values) {
        const std::lock_guard lock(mutex_);
        const auto size = static_cast<int64_t>(values->size());
        if (kept_[place] || bytes_ + size > kMaxKept) return;
        bytes_ += size;
        kept_[place] = std::move(values);
    }

  private:
    mutable std::mutex mutex_;
    std::vector<Values> kept_;
    int64_t bytes_ = 0;
};

// Pictures that could not be read, and why. Any thread.
class Unreadable {
  public:
    Unreadable(std::string data, size_t total) : data_(std::move(data)), total_(total) {}
    // Of the picture at this place; empty: none that is known.
    [[nodiscard]] std::string reason(size_t place) const {
        const std::lock_guard lock(mutex_);
        const auto found = reasons_.find(place);
        return found == reasons_.end() ? "" : found->second;
    }
    // Error where these are more than 1 % of all.
    void add(size_t place, const std::string& reason) {
        const std::lock_guard lock(mutex_);
        if (!reasons_.emplace(place, reason).second) return;
        const size_t count = reasons_.size();
        if (count <= kMostNamed) warn_once(fmt::format("left out: {}", reason));
        if (count == kMostNamed + 1)
            warn_once(
                fmt::format("data '{}': more than {} pictures are left out", data_, kMostNamed));
        check(total_);
    }
    // The same where only `looked_at` pictures have been tried so far.
    void check_sample(size_t looked_at) const {
        const std::lock_guard lock(mutex_);
        check(looked_at);
    }

  private:
    void check(size_t of) const {
        if (reasons_.size() * 100 <= of) return;
        fail(
            "data '{}': {} of {} pictures cannot be read, more than the 1 % that is left out; the "
            "first: {}",
            data_, reasons_.size(), of, reasons_.begin()->second);
    }
    mutable std::mutex mutex_;
    std::map<size_t, std::string> reasons_;
    std::string data_;
    size_t total_;
};

class Images : public DataSource {
  public:
    explicit Images(const Spec& spec)
        : options_(pixel_options(spec, {32, 256, false})),
          folder_(list_pictures(spec)),
          kept_(count()),
          unreadable_(spec.text, count()) {
        options_.crop = spec.number("crop", 1, kLeastCrop, 1);
        describe_pixels(info_, options_, 3);
        info_.class_names = folder_.class_names;
        info_.classes = static_cast<int64_t>(info_.class_names.size());
    }
    [[nodiscard]] const DataInfo& info() const override { return info_; }

    [[nodiscard]] int64_t size(Split split) const override {
        return static_cast<int64_t>(folder_.part(split).size());
    }

    [[nodiscard]] Example example(Split split, int64_t index) const override {
        if (auto example = readable_example(split, index)) return *std::move(example);
        fail("{}", unreadable_.reason(place_of(split, index)));
    }

    [[nodiscard]] std::optional<Example> readable_example(Split split,
                                                          int64_t index) const override {
        const size_t place = place_of(split, index);
        if (const auto kept = kept_.at(place)) return Example{*kept, file(split, index).label};
        auto whole = picture(split, index);
        if (!whole) return std::nullopt;
        const auto values =
            std::make_shared<const std::vector<uint8_t>>(to_levels(whole->image, options_));
        kept_.add(place, values);
        return Example{*values, whole->label};
    }

    [[nodiscard]] std::optional<WholePicture> picture(Split split, int64_t index) const override {
        const size_t place = place_of(split, index);
        if (!unreadable_.reason(place).empty()) return std::nullopt;
        Image image;
        const std::string reason =
            error_words([&] { image = read_image(file(split, index).path); });
        if (!reason.empty()) {
            unreadable_.add(place, printable_line(reason));
            return std::nullopt;
        }
        return WholePicture{options_.gray ? to_grey(image) : to_rgb(image),
                            file(split, index).label};
    }

    void check_readable() const override {
        const size_t total = count(), tried = std::min(total, kMostDecoded);
        const auto train = static_cast<size_t>(size(Split::train));
        const auto validation = static_cast<size_t>(size(Split::validation));
        size_t looked_at = 0;
        for (size_t i = 0; i < tried; ++i) {
            size_t place = i * total / tried;
            Split split = Split::train;
            if (place >= train + validation) continue;  // the test part is for evaluations
            if (place >= train) {
                split = Split::validation;
                place -= train;
            }
            (void)readable_example(split, static_cast<int64_t>(place));
            ++looked_at;
        }
        unreadable_.check_sample(looked_at);
    }

  private:
    static constexpr double kLeastCrop = 0.05;

    [[nodiscard]] size_t count() const {
        size_t sum = 0;
        for (const auto& part : folder_.parts) sum += part.size();
        return sum;
    }
    [[nodiscard]] const PictureFile& file(Split split, int64_t index) const {
        AFT_ASSERT(index >= 0 && index < size(split));
        return folder_.part(split)[static_cast<size_t>(index)];
    }
    // In the list of all parts, one behind the other.
    [[nodiscard]] size_t place_of(Split split, int64_t index) const {
        AFT_ASSERT(index >= 0 && index < size(split));
        size_t place = static_cast<size_t>(index);
        for (size_t part = 0; part < static_cast<size_t>(split); ++part)
            place += folder_.parts[part].size();
        return place;
    }

    PixelOptions options_;
    PictureFolder folder_;
    DataInfo info_;
    mutable KeptPictures kept_;
    mutable Unreadable unreadable_;
};

// Its parts are those of the folder, so `split` may also be all.
void check_options(const Spec& spec) {
    Spec checked = spec;
    const auto split = checked.options.find("split");
    if (split != checked.options.end() && split->second == kAllParts) checked.options.erase(split);
    checked.allow({"size", "levels", "gray", "crop", "holdout"});
}

}  // namespace

SourceRoom images_source() {
    return {{"images",
             "A folder of pictures, of one folder of pictures for each class, or of "
             "train/ and val/ with these."},
            {"size=N side in pixels, centre crop and area average (32)",
             "levels=N values of a sub-pixel (256)", "gray=0|1 one channel (0)",
             "crop=X side of the centre crop, as a share of the shorter side (1)",
             "holdout=N percent that are validation, where there is no val/ (10)",
             "split=all everything in one part, to evaluate on"},
            "folder",
            [](const Spec& spec, uint64_t) -> std::unique_ptr<DataSource> {
                check_options(spec);
                return std::make_unique<Images>(spec);
            }};
}

}  // namespace aft
