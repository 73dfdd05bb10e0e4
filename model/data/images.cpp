// images: a folder of PNG, JPEG, BMP or PNM pictures of any size, of one folder of pictures per
// class, or of train/ and val/ with these (image_folder.h).
#include "core/check.h"
#include "model/data/image_folder.h"
#include "model/data/picture_source.h"

namespace aft {
namespace {

class FolderPictures : public PictureList {
  public:
    explicit FolderPictures(PictureFolder folder) : folder_(std::move(folder)) {}
    [[nodiscard]] int64_t size(Split split) const override {
        return static_cast<int64_t>(folder_.parts.part(split).size());
    }
    [[nodiscard]] int64_t label(Split split, int64_t index) const override {
        return file(split, index).label;
    }
    [[nodiscard]] Image read(Split split, int64_t index) const override {
        return read_image(file(split, index).path);
    }
    [[nodiscard]] const std::vector<std::string>& class_names() const override {
        return folder_.class_names;
    }

  private:
    [[nodiscard]] const PictureFile& file(Split split, int64_t index) const {
        AFT_ASSERT(index >= 0 && index < size(split));
        return folder_.parts.part(split)[static_cast<size_t>(index)];
    }
    PictureFolder folder_;
};

PictureFolder list_checked(const Spec& spec) {
    check_picture_options(spec, {"holdout"});
    return list_pictures(spec);
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
                return make_picture_source(spec,
                                           std::make_unique<FolderPictures>(list_checked(spec)));
            },
            list_checked};
}

}  // namespace aft
