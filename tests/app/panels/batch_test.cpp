// Several pictures completed at once: each as it would be alone, stopped and continued, one of them
// looked at, what cannot be read left out.
#include <fstream>

#include "app/panels/attention/offset_maps.h"
#include "app/panels/complete/batch_run.h"
#include "app/panels/complete/completion_state.h"
#include "app/panels/shared/sample_input.h"
#include "app/state/picture_list.h"
#include "core/caught.h"
#include "core/images/image.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

namespace fs = std::filesystem;
using Indices = std::vector<int64_t>;

TEST(PictureLists, ReadWhatTheyWrite) {
    EXPECT_EQ(parse_picture_list("0-3, 9 ,7"), Indices({0, 1, 2, 3, 9, 7}));
    EXPECT_EQ(parse_picture_list("5 5,4-6"), Indices({5, 4, 6})) << "none twice";
    EXPECT_EQ(picture_list_words(Indices{0, 1, 2, 9, 10, 7}), "0-2, 9, 10, 7");
    for (const Indices& list : {Indices{3}, Indices{1, 2}, Indices{8, 7, 6}, Indices{0, 1, 2, 4}})
        EXPECT_EQ(parse_picture_list(picture_list_words(list, ",")), list);
    EXPECT_EQ(parse_picture_list("0-63").size(), kMostPictures);
}

TEST(PictureLists, NameWhatWasFoundAndWhatIsAllowed) {
    const auto problem = [](const char* text) {
        return error_words([&] { (void)parse_picture_list(text); });
    };
    EXPECT_NE(problem("0, x").find("found 'x', allowed: indices"), std::string::npos);
    EXPECT_NE(problem("-1").find("found '-1'"), std::string::npos);
    EXPECT_NE(problem("1-2-3").find("found '1-2-3'"), std::string::npos);
    EXPECT_NE(problem("7-3").find("allowed: ranges that ascend"), std::string::npos);
    EXPECT_NE(problem("0-64").find("more than 64, allowed: 1 to 64"), std::string::npos);
    EXPECT_NE(problem("0-1000000000").find("allowed: 1 to 64"), std::string::npos);
    EXPECT_NE(problem("99999999999999999999").find("allowed: indices"), std::string::npos);
    EXPECT_NE(problem(" ").find("found none"), std::string::npos);
    for (const char* const hole : {"1,,2", " , ", ",1", "1, ,2"})
        EXPECT_NE(problem(hole).find("allowed: an index before each comma"), std::string::npos)
            << hole;
    EXPECT_EQ(problem("1, 2,"), "") << "as while it is typed";
}

class Batches : public BareTest {
  protected:
    CompletionChoice& choice() { return ui().selection.completion; }
    CompletionBatch& batch() { return choice().batch; }
    void open_complete(ImVec2 size = {1600, 1000}) {
        open_mirror(size);
        run("view.workspace_complete\nframes 3\n");
        ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
        choice().sample.samples = 2;
    }
    bool is_over() {
        return until([&] { return !batch().is_empty() && !batch().is_running; });
    }
    void complete(const std::string& examples) {
        run("set source/main/examples " + examples + "\nframes 3\nkey Ctrl+Enter\n");
    }
    std::shared_ptr<const Completion> alone(int64_t index) {
        choice().pictures.clear();
        show_sample(ui(), ui().selection.image.split, index);
        EXPECT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
        const auto before = choice().own;  // shown until the new one has begun
        run("key Ctrl+Enter\n");
        EXPECT_TRUE(
            until([&] { return choice().own && choice().own != before && choice().own->done; }));
        EXPECT_TRUE(batch().is_empty());
        return choice().own;
    }
    // A run on pictures of a folder, black and white ones.
    void open_folder() {
        initialize_model("cpu", 1);
        fs::create_directories(scratch_ / "pictures");
        for (int i = 0; i < 24; ++i)
            write_png((scratch_ / "pictures" / fmt::format("{}.png", 10 + i)).string(),
                      Image{8, 8, 3, std::vector<uint8_t>(size_t{8} * 8 * 3, i % 2 ? 255 : 0)});
        make();
        OpenRequest request;
        request.config = tiny_config();
        request.config->data.source =
            "images:" + (scratch_ / "pictures").string() + "?size=8&gray=1&levels=4";
        request.out = (scratch_ / "run").string();
        ui().commands.send(OpenRun{std::move(request)});
        run("frames 2\nwait Ready\nview.workspace_complete\n");
        ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    }
};

TEST_F(Batches, EveryPictureIsCompletedAsItWouldBeAlone) {
    open_complete();
    complete("0,3,5");
    ASSERT_TRUE(is_over());
    steps(3);
    const std::vector<BatchPicture> pictures = batch().pictures;
    ASSERT_EQ(pictures.size(), 3U);
    EXPECT_NE(value_of("samples/main/caption").find("3 pictures, 2 completions each"),
              std::string::npos)
        << value_of("samples/main/caption");
    EXPECT_NE(value_of("samples/main/progress").find("3 of 3 pictures"), std::string::npos);
    for (const char* const tile : {"picture_0", "picture_3_1", "picture_5_2"})
        EXPECT_TRUE(is_there(std::string("samples/main/") + tile)) << tile;
    for (const BatchPicture& one : pictures) {
        ASSERT_EQ(one.error, "");
        ASSERT_TRUE(one.completion && one.completion->done);
        EXPECT_EQ(one.completion->samples, alone(one.index)->samples) << one.index;
    }
}

TEST_F(Batches, AClickTakesOneAsTheSource) {
    open_complete();
    complete("0-3");
    ASSERT_TRUE(is_over());
    steps(3);
    const std::string star = "complete.star";
    (void)ui().actions.run(ui(), star);
    ASSERT_EQ(choice().starred.size(), 1U);
    run("click samples/main/picture_2_2\nframes 5\n");
    EXPECT_EQ(ui().selection.image.index, 2);
    EXPECT_EQ(batch().looked_at, 2U);
    EXPECT_EQ(choice().own, batch().pictures[2].completion);
    EXPECT_EQ(choice().chosen, 1);
    EXPECT_GE(choice().position, 0);
    EXPECT_TRUE(choice().starred.empty()) << "marks are those of a picture";
    EXPECT_NE(dump(ui()).find("Distribution over 16 levels"), std::string::npos);
    EXPECT_TRUE(is_batch_shown(ui()));
    run("complete.batch\nframes 4\n");
    EXPECT_FALSE(is_batch_shown(ui()));
    EXPECT_TRUE(is_there("samples/main/sample_2"));
    // Another one was drawn since; it continues from this one all the same.
    choice().position = 200;
    const std::vector<uint8_t> before = choice().own->samples[1];
    ASSERT_EQ(ui().actions.why_not(ui(), "complete.from_here"), "");
    choice().level = before[200] == 0 ? 1 : 0;
    run("complete.from_here\nframes 2\n");
    ASSERT_TRUE(until([&] {
        return choice().own && choice().own->done && !is_completing(ui()) &&
               choice().own->samples[1] != before;
    }));
    EXPECT_TRUE(std::equal(before.begin(), before.begin() + 200, choice().own->samples[1].begin()));
    EXPECT_EQ(batch().pictures[2].completion, choice().own) << "and the batch shows it";
    show_sample(ui(), ui().selection.image.split, 0);
    steps(4);
    EXPECT_EQ(batch().looked_at, 0U);
    EXPECT_EQ(choice().starred.size(), 1U);
}

TEST_F(Batches, StopKeepsWhatIsThereAndContinueEndsIt) {
    open_complete();
    choice().sample.samples = 64;
    {
        const WakeGate::Closed closed(*gate_);  // one picture more is completed at most
        complete("0-7");
        ASSERT_TRUE(until([&] {
            return gate_->look([&] { return batch().pictures.at(1).completion != nullptr; });
        }));
        run("key Esc\n");
    }
    ASSERT_TRUE(until([&] { return !ui().session->completions().is_busy(); }));
    steps(3);
    ASSERT_TRUE(has_unfinished(batch()));
    EXPECT_FALSE(batch().is_running);
    EXPECT_FALSE(is_completing(ui()));
    const auto first = batch().pictures.front().completion;
    ASSERT_EQ(ui().actions.why_not(ui(), "complete.resume"), "");
    run("complete.resume\n");
    ASSERT_TRUE(is_over());
    EXPECT_EQ(batch().pictures.front().completion, first) << "what was whole is not drawn again";
    for (const BatchPicture& one : batch().pictures) {
        EXPECT_EQ(one.error, "");
        ASSERT_TRUE(one.completion && one.completion->done && !one.completion->stopped);
    }
    EXPECT_NE(ui().actions.why_not(ui(), "complete.resume"), "");
    const BatchPicture last = batch().pictures.back();
    EXPECT_EQ(last.completion->samples, alone(last.index)->samples);
}

TEST_F(Batches, TheGridOfTheDataChoosesWithCtrlAndShift) {
    open_complete();
    run("click source/main/data_set\nframes 3\n");
    ASSERT_TRUE(until([&] { return is_there("example_9"); }));
    const auto click_with = [&](ImGuiKey key, const std::string& id) {
        ImGui::GetIO().AddKeyEvent(key, true);
        run("frames 1\nclick " + id + "\nframes 2\n");
        ImGui::GetIO().AddKeyEvent(key, false);
        steps(2);
    };
    click_with(ImGuiMod_Ctrl, "example_5");
    EXPECT_EQ(choice().pictures, Indices({0, 5}));
    click_with(ImGuiMod_Shift, "example_2");
    EXPECT_EQ(choice().pictures, Indices({0, 5, 1, 2}));
    click_with(ImGuiMod_Ctrl, "example_5");
    EXPECT_EQ(choice().pictures, Indices({0, 1, 2}));
    EXPECT_NE(dump(ui()).find("3 of at most 64 pictures: 0-2"), std::string::npos);
    run("click example_7\nframes 3\n");
    EXPECT_TRUE(choice().pictures.empty()) << "a click alone takes that one";
    EXPECT_EQ(ui().selection.image.index, 7);
    run("set source/main/pictures 4\nframes 3\n");
    EXPECT_EQ(choice().pictures, Indices({7, 8, 9, 10}));
    EXPECT_EQ(value_of("source/main/examples"), "7-10");
}

TEST_F(Batches, WhatCannotBeReadIsNamedAndLeftOut) {
    open_folder();
    show_sample(ui(), "train", 0);
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    const int64_t size = ui().selection.image.item->part_size;
    ASSERT_GE(size, 2);
    fs::remove_all(scratch_ / "pictures");
    complete(fmt::format("0-1,{}", size + 3));
    ASSERT_TRUE(is_over());
    steps(3);
    EXPECT_EQ(batch().pictures.front().error, "") << "it was read before";
    EXPECT_TRUE(is_finished(batch().pictures.front()));
    for (size_t i = 1; i < 3; ++i) EXPECT_NE(batch().pictures[i].error, "") << i;
    EXPECT_NE(value_of("samples/main/banner").find("of 3 pictures are left out"), std::string::npos)
        << value_of("samples/main/banner");
}

// Which file an example is of is the source's business: all files of one colour are broken.
TEST_F(Batches, UnreadablePicturesLeaveTheOthers) {
    open_folder();
    show_sample(ui(), "train", 0);
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    const bool is_white = ui().selection.image.item->tokens.front() > 0;
    for (const auto& file : fs::directory_iterator(scratch_ / "pictures"))
        if ((read_image(file.path().string()).pixels.front() > 0) != is_white)
            std::ofstream(file.path()) << "no picture";
    complete("0-9");
    ASSERT_TRUE(is_over());
    steps(3);
    size_t broken = 0;
    for (const BatchPicture& one : batch().pictures) {
        if (one.error.empty()) {
            ASSERT_TRUE(one.completion && one.completion->done) << one.index;
            continue;
        }
        ++broken;
        EXPECT_NE(one.error.find(".png"), std::string::npos) << one.error;
    }
    EXPECT_GT(broken, 0U);
    EXPECT_LT(broken, 10U);
    EXPECT_NE(value_of("samples/main/banner").find(fmt::format("{} of 10 pictures", broken)),
              std::string::npos)
        << value_of("samples/main/banner");
}

TEST_F(Batches, AFileOrABlankPictureIsCompletedAlone) {
    open_complete();
    run("set source/main/pictures 4\nframes 3\ncomplete.blank_picture\nframes 3\n");
    EXPECT_FALSE(is_batch_asked(ui()));
    run("key Ctrl+Enter\n");
    ASSERT_TRUE(until([&] { return choice().own && choice().own->done; }));
    EXPECT_TRUE(batch().is_empty());
    const WidgetRecord* const examples = ui().recorder.find("source/main/examples");
    ASSERT_NE(examples, nullptr);
    EXPECT_NE(examples->why_not.find("Several at once are examples of the data"),
              std::string::npos);
}

TEST(BatchLimits, SayWhatTheSamplesTake) {
    ViewState ui;
    ui.status.tokens = 3072;
    CompletionChoice& choice = ui.selection.completion;
    choice.pictures.resize(64);
    choice.sample.samples = 32;
    EXPECT_EQ(why_no_batch(ui), "");
    choice.sample.samples = 1024;
    EXPECT_NE(why_no_batch(ui).find("64 pictures with 1024 samples each take 3.4 GiB, allowed: 1"),
              std::string::npos)
        << why_no_batch(ui);
}

// One example is averaged after the other, and begins anew when the selection changes.
TEST_F(Batches, ExamplesAreAveragedUntilTheSelectionChanges) {
    open_complete();
    OffsetMaps maps;
    OffsetMaps::OffsetRequest request{.examples = 4};
    ASSERT_TRUE(until([&] {
        maps.update(ui(), request);
        return maps.state().used == 4;
    }));
    EXPECT_FALSE(maps.state().is_pending);
    request.layer = 1;
    maps.update(ui(), request);
    EXPECT_LT(maps.state().used, 4);
    ASSERT_TRUE(until([&] {
        maps.update(ui(), request);
        return !maps.state().is_pending;
    }));
    const int64_t size = ui().selection.image.item->part_size;
    show_sample(ui(), ui().selection.image.split, size - 2);
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    ASSERT_TRUE(until([&] {
        maps.update(ui(), request);
        return maps.state().used == 2;
    })) << "the part has no more";
    EXPECT_FALSE(maps.state().is_pending);
    run("complete.blank_picture\nframes 2\n");
    EXPECT_NE(why_no_examples(ui()), "");
    EXPECT_EQ(examples_averaged(ui(), 4), 1);
}

// By the button of the tools, in the middle of the frame that has begun with the batch.
TEST_F(Batches, OneCompletionIsBegunWhileTheBatchIsDrawn) {
    open_complete();
    complete("0-1");
    ASSERT_TRUE(is_over());
    ASSERT_TRUE(is_batch_shown(ui()));
    choice().pictures.clear();
    run("frames 2\nclick samples/main/complete.start\nframes 3\n");
    EXPECT_TRUE(batch().is_empty());
    EXPECT_TRUE(until([&] { return choice().own && choice().own->done; }));
}

}  // namespace
}  // namespace aft::app
