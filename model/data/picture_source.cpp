#include "model/data/picture_source.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "core/caught.h"
#include "core/check.h"
#include "core/outside.h"
#include "core/warnings.h"
#include "model/data/parts.h"
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
    // Names it in a warning; no error.
    void note(size_t place, const std::string& reason) {
        const std::lock_guard lock(mutex_);
        note_locked(place, reason);
    }
    // The same, and an Error where these are more than 1 % of all.
    void add(size_t place, const std::string& reason) {
        const std::lock_guard lock(mutex_);
        if (note_locked(place, reason)) check(reasons_.size(), total_);
    }
    void check_all() const {
        const std::lock_guard lock(mutex_);
        check(reasons_.size(), total_);
    }
    // Error where `failed` of `looked_at` pictures are more than 1 %.
    void check_sample(size_t failed, size_t looked_at) const {
        const std::lock_guard lock(mutex_);
        check(failed, looked_at);
    }

  private:
    // False where it is known already.
    bool note_locked(size_t place, const std::string& reason) {
        if (!reasons_.emplace(place, reason).second) return false;
        const size_t count = reasons_.size();
        if (count <= kMostNamed) warn_once(fmt::format("left out: {}", reason));
        if (count == kMostNamed + 1)
            warn_once(
                fmt::format("data '{}': more than {} pictures are left out", data_, kMostNamed));
        return true;
    }
    void check(size_t failed, size_t of) const {
        if (failed * 100 <= of) return;
        fail(
            "data '{}': {} of {} pictures cannot be read, more than the 1 % that is left out; the "
            "first: {}",
            data_, failed, of, reasons_.begin()->second);
    }
    mutable std::mutex mutex_;
    std::map<size_t, std::string> reasons_;
    std::string data_;
    size_t total_;
};

class PictureSource : public DataSource {
  public:
    PictureSource(const Spec& spec, std::unique_ptr<const PictureList> list)
        : options_(pixel_options(spec, {32, 256, false})),
          list_(std::move(list)),
          kept_(count()),
          unreadable_(spec.text, count()) {
        options_.crop = spec.number("crop", 1, kLeastCrop, 1);
        describe_pixels(info_, options_, 3);
        info_.class_names = list_->class_names();
        info_.classes = list_->classes();
        note_known_problems();
    }
    [[nodiscard]] const DataInfo& info() const override { return info_; }

    [[nodiscard]] int64_t size(Split split) const override { return list_->size(split); }

    [[nodiscard]] Example example(Split split, int64_t index) const override {
        if (auto example = readable_example(split, index)) return *std::move(example);
        fail("{}", unreadable_.reason(place_of(split, index)));
    }

    [[nodiscard]] std::optional<Example> readable_example(Split split,
                                                          int64_t index) const override {
        const size_t place = place_of(split, index);
        if (const auto kept = kept_.at(place)) return Example{*kept, list_->label(split, index)};
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
        const std::string reason = error_words([&] { image = list_->read(split, index); });
        if (!reason.empty()) {
            unreadable_.add(place, printable_line(reason));
            return std::nullopt;
        }
        return WholePicture{options_.gray ? to_grey(image) : to_rgb(image),
                            list_->label(split, index)};
    }

    void check_readable() const override {
        const size_t total = count(), tried = std::min(total, kMostDecoded);
        const auto train = static_cast<size_t>(size(Split::train));
        const auto validation = static_cast<size_t>(size(Split::validation));
        size_t looked_at = 0, failed = 0;
        for (size_t i = 0; i < tried; ++i) {
            size_t place = i * total / tried;
            Split split = Split::train;
            if (place >= train + validation) continue;  // the test part is for evaluations
            if (place >= train) {
                split = Split::validation;
                place -= train;
            }
            failed += !readable_example(split, static_cast<int64_t>(place));
            ++looked_at;
        }
        unreadable_.check_sample(failed, looked_at);
    }

  private:
    static constexpr double kLeastCrop = 0.05;

    void note_known_problems() {
        for (const Split split : {Split::train, Split::validation, Split::test})
            for (int64_t i = 0; i < size(split); ++i)
                if (const std::string problem = list_->problem(split, i); !problem.empty())
                    unreadable_.note(place_of(split, i), printable_line(problem));
        unreadable_.check_all();
    }
    [[nodiscard]] size_t count() const {
        return static_cast<size_t>(size(Split::train) + size(Split::validation) +
                                   size(Split::test));
    }
    // In the list of all parts, one behind the other.
    [[nodiscard]] size_t place_of(Split split, int64_t index) const {
        AFT_ASSERT(index >= 0 && index < size(split));
        int64_t place = index;
        if (split != Split::train) place += size(Split::train);
        if (split == Split::test) place += size(Split::validation);
        return static_cast<size_t>(place);
    }
    PixelOptions options_;
    std::unique_ptr<const PictureList> list_;
    mutable KeptPictures kept_;
    mutable Unreadable unreadable_;
    DataInfo info_;
};

}  // namespace

std::unique_ptr<DataSource> make_picture_source(const Spec& spec,
                                                std::unique_ptr<const PictureList> list) {
    return std::make_unique<PictureSource>(spec, std::move(list));
}

void check_picture_options(const Spec& spec, const std::vector<std::string>& own) {
    Spec checked = spec;
    if (wants_all_parts(spec)) checked.options.erase("split");
    std::vector<std::string> known = {"size", "levels", "gray", "crop"};
    known.insert(known.end(), own.begin(), own.end());
    checked.allow(known);
}

}  // namespace aft
