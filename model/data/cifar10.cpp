// cifar10: the binary version of CIFAR-10 (Krizhevsky 2009), one label byte and 3072 pixel bytes
// (R, G, B planes) a record. Whichever data_batch_*.bin are there make up the training part, of
// which the last 5 % are validation; test_batch.bin is the test part.
#include "core/check.h"
#include "core/files.h"
#include "core/text.h"
#include "model/data/files/record_file.h"
#include "model/data/pixels.h"

namespace aft {
namespace {

constexpr int64_t kSide = 32, kPlane = kSide * kSide, kRecord = 1 + 3 * kPlane;

class Cifar10 : public DataSource {
  public:
    explicit Cifar10(const Spec& spec) : options_(pixel_options(spec, {32, 256, false})) {
        const fs::path folder = spec.path;
        check_folder(spec, folder);
        for (int n = 1; n <= 5; ++n) add(folder / fmt::format("data_batch_{}.bin", n), train_);
        add(folder / "test_batch.bin", test_);
        AFT_CHECK(!train_.empty() || !test_.empty(),
                  "data '{}': neither data_batch_1.bin ... data_batch_5.bin nor test_batch.bin is "
                  "in '{}'",
                  spec.text, folder.string());
        folder_ = folder.string();
        describe_pixels(info_, options_, 3);
        info_.classes = 10;
        read_class_names(folder / "batches.meta.txt");
    }
    [[nodiscard]] const DataInfo& info() const override { return info_; }

    [[nodiscard]] int64_t size(Split split) const override {
        if (split == Split::test) return records(test_);
        const int64_t all = records(train_), held_out = all / 20;
        AFT_CHECK(all > 0, "no data_batch_*.bin in '{}': only the test part is there", folder_);
        return split == Split::train ? all - held_out : held_out;
    }

    [[nodiscard]] Example example(Split split, int64_t index) const override {
        AFT_ASSERT(index >= 0 && index < size(split));
        if (split == Split::validation) index += size(Split::train);
        const std::vector<RecordFile>& files = split == Split::test ? test_ : train_;
        size_t file = 0;
        while (index >= files[file].records()) index -= files[file++].records();
        const std::vector<uint8_t> record = files[file].read(index);
        AFT_CHECK(record[0] < 10, "'{}': record {} has label {}; allowed: 0 to 9. Not CIFAR-10",
                  files[file].path().string(), index, record[0]);
        Image image{kSide, kSide, 3, {}};
        image.pixels.resize(3 * kPlane);
        for (size_t i = 0; i < kPlane; ++i)
            for (size_t c = 0; c < 3; ++c) image.pixels[3 * i + c] = record[1 + c * kPlane + i];
        return {to_levels(image, options_), record[0]};
    }

  private:
    static int64_t records(const std::vector<RecordFile>& files) {
        int64_t n = 0;
        for (const RecordFile& file : files) n += file.records();
        return n;
    }

    // A file of the right size whose labels are wrong is another format: say so at once.
    static void add(const fs::path& path, std::vector<RecordFile>& files) {
        std::error_code error;
        if (!fs::exists(path, error)) return;
        RecordFile file(path, kRecord);
        for (int64_t i = 0; i < std::min<int64_t>(16, file.records()); ++i) {
            const int64_t label = file.read(i)[0];
            AFT_CHECK(label < 10, "'{}': record {} has label {}; allowed: 0 to 9. Not CIFAR-10",
                      path.string(), i, label);
        }
        files.push_back(std::move(file));
    }

    void read_class_names(const fs::path& path) {
        info_.class_names = {"airplane", "automobile", "bird",  "cat",  "deer",
                             "dog",      "frog",       "horse", "ship", "truck"};
        std::error_code error;
        if (!fs::exists(path, error)) return;
        std::vector<std::string> names = split(read_file(path, 1 << 16), '\n');
        while (!names.empty() && names.back().empty()) names.pop_back();
        if (names.size() == 10) info_.class_names = std::move(names);
    }

    PixelOptions options_;
    DataInfo info_;
    std::string folder_;
    std::vector<RecordFile> train_, test_;
};

}  // namespace

SourceRoom cifar10_source() {
    return {{"cifar10", "CIFAR-10 in its binary format: colour pictures of ten classes."},
            {"size=N side in pixels, by area average (32)", "levels=N values of a sub-pixel (256)",
             "gray=0|1 one channel (0)"},
            "folder",
            [](const Spec& spec, uint64_t) -> std::unique_ptr<DataSource> {
                spec.allow({"size", "levels", "gray"});
                return std::make_unique<Cifar10>(spec);
            }};
}

}  // namespace aft
