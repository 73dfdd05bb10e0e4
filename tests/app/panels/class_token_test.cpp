// Classifiers in Attention: the class token as the target, and which class is taken for which.
#include <sstream>

#include "app/cli/program.h"
#include "app/panels/shared/target_token.h"
#include "app/state/confusion_values.h"
#include "core/files.h"
#include "core/text.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class ClassTokenTest : public BareTest {
  protected:
    // A small classifier with a class token, after a few steps, in Attention.
    void open() {
        initialize_model("cpu", 1);
        OpenRequest request;
        request.config = load_preset("demo-shapes");
        Config& config = *request.config;
        config.model.mixer = "softmax";
        config.model.layers = 1;
        config.model.dim = 16;
        config.model.positions = "learned";
        config.model.own["class_token"] = true;
        config.train.batch = 4;
        config.train.steps = 1000;
        request.out = (scratch_ / "shapes").string();
        make();
        ui().commands.send(OpenRun{std::move(request)});
        run("frames 2\nwait Ready\n");
        session().run().step(2);
        ASSERT_TRUE(until([&] { return ui().status.state == RunState::paused; }));
        run("view.workspace_attention\nframes 4\n");
        ASSERT_TRUE(until([&] { return is_there("attention/main/both"); }));
    }
    // Labels by answers, as the copied command writes them into this folder.
    std::vector<int64_t> counts_of_command(const std::string& line) {
        std::istringstream words(line);
        std::vector<std::string> list{std::istream_iterator<std::string>(words), {}};
        const std::string file = (scratch_ / "confusion.csv").string();
        list.back() = file;
        std::vector<char*> arguments;
        for (std::string& word : list) {
            std::erase(word, '\'');  // as a shell would
            arguments.push_back(word.data());
        }
        EXPECT_EQ(run_program(int(arguments.size()), arguments.data()), 0) << line;
        std::vector<int64_t> counts;
        std::istringstream rows(read_file(file));
        std::string row, cell;
        std::getline(rows, row);  // the names
        while (std::getline(rows, row)) {
            std::istringstream cells(row);
            std::getline(cells, cell, ',');
            while (std::getline(cells, cell, ',')) counts.push_back(std::stoll(cell));
        }
        return counts;
    }
    void press(ImVec2 at) {
        ImGui::GetIO().AddMousePosEvent(at.x, at.y);
        steps(2);
        for (const bool is_down : {true, false}) {
            ImGui::GetIO().AddMouseButtonEvent(0, is_down);
            steps(1);
        }
        steps(2);
    }
    const char* const distance_ = "inspector/prior_or_content/mean_distance";
};

TEST_F(ClassTokenTest, IsChosenAsTheTarget) {
    open();
    ASSERT_TRUE(is_there("attention/main/target_token"));
    EXPECT_EQ(value_of("attention/main/target_token"), "Patch");
    ASSERT_TRUE(until([&] { return is_there(distance_); }));
    EXPECT_EQ(value_of(distance_).find("none"), std::string::npos);
    run("click attention/main/target_token=class_token\nframes 4\n");
    EXPECT_EQ(ui().selection.cell.target, 0);
    EXPECT_TRUE(ui().selection.locked) << "the pointer over the picture must not undo it";
    EXPECT_EQ(value_of("attention/main/target_token"), "Class token");
    EXPECT_TRUE(until([&] { return value_of("attention/main/both") == "0 (class)"; }));
    EXPECT_TRUE(until([&] { return value_of(distance_).starts_with("none"); }))
        << value_of(distance_);
    run("click attention/main/target_token=patch\nframes 4\n");
    EXPECT_GE(ui().selection.cell.target, 1);
}

TEST_F(ClassTokenTest, IsNotCalledAPatch) {
    open();
    const Positions positions(ui().status);
    EXPECT_EQ(target_noun(positions, 0), "class token");
    EXPECT_EQ(target_noun(positions, 1), "patch");
}

TEST_F(ClassTokenTest, ShowsWhichClassIsTakenForWhich) {
    open();
    const std::string button = "inspector/confusion/measure_confusion";
    ASSERT_TRUE(is_there(button));
    EXPECT_NE(ui().recorder.find(button)->why_not, "") << "nothing is saved yet";
    session().run().save();
    ASSERT_TRUE(until([&] { return ui().status.saved_step == 2; }));
    steps(2);
    run("click " + button + "\nframes 2\n");
    ASSERT_TRUE(until([&] { return is_there("inspector/confusion/confusion_map"); }));
    EXPECT_EQ(value_of("inspector/confusion/confusion_map"), "3 x 3");
    EXPECT_NE(value_of("inspector/confusion/accuracy_0").find(" % of "), std::string::npos);
    const WidgetRecord* const copy = ui().recorder.find("inspector/confusion/copy_as_command");
    ASSERT_NE(copy, nullptr);
    ASSERT_EQ(copy->why_not, "");
    run("click inspector/confusion/copy_as_command\nframes 2\n");
    const std::vector<int64_t> counts = counts_of_command(ImGui::GetClipboardText());
    ASSERT_EQ(counts.size(), 9u);
    const int64_t all = counts[0] + counts[1] + counts[2];
    EXPECT_TRUE(value_of("inspector/confusion/accuracy_0").ends_with(fmt::format(" % of {}", all)))
        << value_of("inspector/confusion/accuracy_0");
    EXPECT_TRUE(value_of("inspector/confusion/accuracy_0")
                    .starts_with(plain_number(100.0 * double(counts[0]) / double(all), 1)));
    // A model of two steps answers much the same: the pair with most examples is in some column.
    const WidgetRecord map = *ui().recorder.find("inspector/confusion/confusion_map");
    const ImVec2 cell = {(map.max.x - map.min.x) / 3, (map.max.y - map.min.y) / 3};
    for (int column = 0; column < 3 && ui().selection.image.split != "validation"; ++column)
        press({map.min.x + cell.x * (float(column) + 0.5F), map.min.y + cell.y / 2});
    ASSERT_EQ(ui().selection.image.split, "validation");
    ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    EXPECT_EQ(ui().selection.image.item->label, 0) << "the first row is the first class";
}

TEST(ConfusionValues, CountsAndShares) {
    EvalClasses classes{.names = {"disc", "box"}, .count = 2, .confusion = {3, 1, 0, 0}};
    EXPECT_EQ(confusion_words(classes, 0, 1), "disc taken for box: 1 of 4, 25.0 %");
    EXPECT_EQ(confusion_words(classes, 0, 0), "disc known: 3 of 4, 75.0 %");
    EXPECT_EQ(confusion_words(classes, 1, 0), "box taken for disc: no example of it");
    const std::vector<float> shares = confusion_shares(classes);
    EXPECT_FLOAT_EQ(shares[0], 0.75F);
    EXPECT_TRUE(std::isnan(shares[2]));
}

}  // namespace
}  // namespace aft::app
