// shards: tar files of pictures and their labels, as WebDataset has them (shard_scan.h). A picture
// is read where it lies in its shard, so that order, resumption and augmentation are those of a
// folder of pictures; a compressed shard, which has no such places, is refused.
#include "core/caught.h"
#include "core/check.h"
#include "core/files.h"
#include "core/images/codecs.h"
#include "core/outside.h"
#include "model/data/files/shard_set.h"
#include "model/data/picture_source.h"

namespace aft {
namespace {

class ShardPictures : public PictureList {
  public:
    explicit ShardPictures(ShardSet set) : set_(std::move(set)) {}
    [[nodiscard]] int64_t size(Split split) const override {
        return static_cast<int64_t>(set_.parts.part(split).size());
    }
    [[nodiscard]] int64_t label(Split split, int64_t index) const override {
        return at(split, index).label;
    }
    [[nodiscard]] Image read(Split split, int64_t index) const override {
        const ShardPicture& picture = at(split, index);
        AFT_CHECK(picture.problem < 0, "{}", problem(split, index));
        const fs::path& shard = set_.shards[picture.shard];
        return with_error(
            [&] {
                return decode_image(
                    read_file_part(shard, static_cast<uint64_t>(picture.offset), picture.size));
            },
            [&](const Error& error) {
                return fmt::format("cannot read the picture '{}' in '{}': {}", shown(picture.name),
                                   shown_path(shard.string()), error.what());
            });
    }
    [[nodiscard]] std::string problem(Split split, int64_t index) const override {
        const int32_t place = at(split, index).problem;
        return place < 0 ? "" : set_.problems[static_cast<size_t>(place)];
    }
    [[nodiscard]] const std::vector<std::string>& class_names() const override {
        return set_.class_names;
    }
    [[nodiscard]] int64_t classes() const override { return set_.classes; }

  private:
    [[nodiscard]] const ShardPicture& at(Split split, int64_t index) const {
        AFT_ASSERT(index >= 0 && index < size(split));
        return set_.parts.part(split)[static_cast<size_t>(index)];
    }
    ShardSet set_;
};

}  // namespace

SourceRoom shards_source() {
    return {{"shards",
             "Tar files of pictures and labels (WebDataset), by a pattern, or the folder that "
             "'data pack' has made."},
            {"size=N side in pixels, centre crop and area average (32)",
             "levels=N values of a sub-pixel (256)", "gray=0|1 one channel (0)",
             "crop=X side of the centre crop, as a share of the shorter side (1)",
             "val=GLOB shards that are validation", "test=GLOB shards that are the test part",
             "holdout=N percent that are validation, where there are no other parts (10)",
             "classes=N number of classes, where labels are numbers without names",
             "split=all everything in one part, to evaluate on"},
            "pattern",
            [](const Spec& spec, uint64_t) -> std::unique_ptr<DataSource> {
                check_picture_options(spec, {"val", "test", "holdout", "classes"});
                return make_picture_source(spec,
                                           std::make_unique<ShardPictures>(list_shards(spec)));
            }};
}

}  // namespace aft
