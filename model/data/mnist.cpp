// mnist: hand-written digits in the idx format (LeCun), plain or gzip: train-images-idx3-ubyte,
// train-labels-idx1-ubyte, t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte. The last 5 % of the
// training part are validation. A part is read when it is first needed.
#include <mutex>

#include "core/check.h"
#include "core/files.h"
#include "model/data/files/idx.h"
#include "model/data/pixels.h"

namespace aft {
namespace {

// The file with its usual names, plain or packed; empty if none is there.
fs::path find_idx(const fs::path& folder, const std::string& part, const std::string& kind) {
    std::error_code error;
    for (const char* separator : {"-", "."})
        for (const char* ending : {"", ".gz"}) {
            fs::path path = folder / (part + separator + kind + ending);
            if (fs::is_regular_file(path, error)) return path;
        }
    return {};
}

Idx read_idx(const fs::path& path, size_t dimensions) {
    const bool is_packed = path.extension() == ".gz";
    return parse_idx(read_file(path, kMaxIdxBytes), {dimensions, is_packed}, path.string());
}

struct MnistPart {
    fs::path images_path, labels_path;
    mutable std::once_flag once;
    mutable Idx images, labels;
};

class Mnist : public DataSource {
  public:
    explicit Mnist(const Spec& spec)
        : folder_(spec.path), options_(pixel_options(spec, {28, 256, true})) {
        check_folder(spec, folder_);
        options_.gray = true;
        find(train_, "train");
        find(test_, "t10k");
        AFT_CHECK(!train_.images_path.empty() || !test_.images_path.empty(),
                  "data '{}': neither train-images-idx3-ubyte(.gz) nor t10k-images-idx3-ubyte(.gz) "
                  "is in '{}'",
                  spec.text, folder_.string());
        describe_pixels(info_, options_, 1);
        info_.classes = 10;
        for (char digit = '0'; digit <= '9'; ++digit) info_.class_names.emplace_back(1, digit);
    }
    [[nodiscard]] const DataInfo& info() const override { return info_; }

    [[nodiscard]] int64_t size(Split split) const override {
        if (split == Split::test)
            return test_.images_path.empty() ? 0 : loaded(test_).images.shape[0];
        AFT_CHECK(!train_.images_path.empty(), "no train-images-idx3-ubyte(.gz) in '{}'",
                  folder_.string());
        const int64_t all = loaded(train_).images.shape[0], held_out = all / 20;
        return split == Split::train ? all - held_out : held_out;
    }

    [[nodiscard]] Example example(Split split, int64_t index) const override {
        AFT_ASSERT(index >= 0 && index < size(split));
        if (split == Split::validation) index += size(Split::train);
        const MnistPart& part = loaded(split == Split::test ? test_ : train_);
        const int64_t height = part.images.shape[1], width = part.images.shape[2];
        Image image{width, height, 1, {}};
        const auto first = part.images.bytes.begin() + static_cast<int64_t>(part.images.data_at) +
                           index * height * width;
        image.pixels.assign(first, first + height * width);
        const auto label = static_cast<uint8_t>(
            part.labels.bytes[part.labels.data_at + static_cast<size_t>(index)]);
        AFT_CHECK(label < 10, "'{}': label {} is {}; allowed: 0 to 9", part.labels_path.string(),
                  index, label);
        return {to_levels(image, options_), label};
    }

  private:
    void find(MnistPart& part, const std::string& name) const {
        part.images_path = find_idx(folder_, name + "-images", "idx3-ubyte");
        part.labels_path = find_idx(folder_, name + "-labels", "idx1-ubyte");
        AFT_CHECK(part.images_path.empty() || !part.labels_path.empty(),
                  "'{}' is there, but {}-labels-idx1-ubyte(.gz) is not", part.images_path.string(),
                  name);
    }

    static const MnistPart& loaded(const MnistPart& part) {
        std::call_once(part.once, [&part] {
            part.images = read_idx(part.images_path, 3);
            part.labels = read_idx(part.labels_path, 1);
            check_image_part(part);
        });
        return part;
    }

    static void check_image_part(const MnistPart& part) {
        AFT_CHECK(part.images.shape[0] == part.labels.shape[0],
                  "'{}' holds {} pictures, '{}' {} labels", part.images_path.string(),
                  part.images.shape[0], part.labels_path.string(), part.labels.shape[0]);
        AFT_CHECK(part.images.shape[1] <= 1024 && part.images.shape[2] <= 1024,
                  "'{}': pictures of {} x {} pixels; allowed: up to 1024",
                  part.images_path.string(), part.images.shape[1], part.images.shape[2]);
    }

    fs::path folder_;
    PixelOptions options_;
    DataInfo info_;
    MnistPart train_, test_;
};

}  // namespace

SourceRoom mnist_source() {
    return {{"mnist", "MNIST: hand-written digits, idx files, plain or gzip."},
            {"size=N side in pixels, by area average (28)", "levels=N values of a pixel (256)"},
            "folder",
            [](const Spec& spec, uint64_t) -> std::unique_ptr<DataSource> {
                spec.allow({"size", "levels"});
                return std::make_unique<Mnist>(spec);
            }};
}

}  // namespace aft
