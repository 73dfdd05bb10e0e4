// The mask of Complete as a picture: saved, loaded again, refused in words.
#include <gtest/gtest.h>

#include "core/files.h"
#include "core/images/image.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class MaskFiles : public BareTest {
  protected:
    void SetUp() override {
        open_mirror();
        run("view.workspace_complete\nframes 5\n");
        file_ = (scratch_ / "mask.png").string();
    }
    void answer(const std::string& button) {
        run("mask.file\nframes 3\nset mask_card/main/file " + file_ +
            "\nframes 3\nclick mask_card/main/" + button + "\nframes 3\n");
    }
    std::vector<uint8_t> mask() {
        const auto now = ui().selection.completion.mask.mask();
        return {now.begin(), now.end()};
    }
    std::string file_;
};

TEST_F(MaskFiles, ComeBackAsTheyWere) {
    run("mask.right_half\nframes 2\n");
    const std::vector<uint8_t> before = mask();
    answer("save");
    const Image picture = read_image(file_);
    ASSERT_EQ(picture.width, 16);
    ASSERT_EQ(picture.height, 16);
    for (size_t i = 0; i < before.size(); ++i)
        EXPECT_EQ(picture.pixels[i * size_t(picture.channels)], before[i] != 0 ? 255 : 0) << i;
    run("mask.border\nframes 2\n");
    const std::vector<uint8_t> border = mask();
    EXPECT_NE(border, before);
    answer("load");
    EXPECT_EQ(mask(), before);
    EXPECT_FALSE(is_there("mask_card/main/file"));
    run("mask.undo\nframes 2\n");
    EXPECT_EQ(mask(), border) << "one undo step";
}

TEST_F(MaskFiles, OfAnotherSizeOrNoneAreRefusedAndNothingChanges) {
    const std::vector<uint8_t> before = mask();
    write_png(file_, Image{4, 4, 1, std::vector<uint8_t>(16, 255)});
    answer("load");
    EXPECT_TRUE(is_there("mask_card/main/file")) << "the card stays, with the reason";
    EXPECT_EQ(mask(), before);
    run("key Esc\nframes 2\n");
    write_atomically(file_, "no picture");
    answer("load");
    EXPECT_EQ(mask(), before);
    file_ = "/no/such/folder/mask.png";
    run("key Esc\nframes 2\n");
    answer("save");
    EXPECT_TRUE(is_there("mask_card/main/file"));
}

}  // namespace
}  // namespace aft::app
