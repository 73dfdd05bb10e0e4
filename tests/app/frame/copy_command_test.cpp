// Copy as command: the command that a pane puts on the clipboard writes the numbers that it shows.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "app/cli/program.h"
#include "tests/app/stage_fixture.h"
#include "tests/core/read_npy.h"

namespace aft::app {
namespace {

class CopiedCommands : public BareTest {
  protected:
    void SetUp() override {
        open_mirror();
        ASSERT_TRUE(until([&] { return ui().selection.image.item != nullptr; }));
    }
    // Presses the button of the Inspector, runs what is on the clipboard, and returns its file.
    Field numbers_of_command() {
        ImVec2 place;
        int still = 0;  // what is still being read moves it
        EXPECT_TRUE(until([&] {
            const WidgetRecord* button = ui().recorder.find("inspector/actions/copy_as_command");
            if (button == nullptr || !button->why_not.empty()) return false;
            still = button->min.y == place.y ? still + 1 : 0;
            place = button->min;
            return still >= 20;
        })) << dump(ui());
        run("click inspector/actions/copy_as_command\nframes 2\n");
        const std::string line = ImGui::GetClipboardText();
        std::istringstream words(line);
        std::vector<std::string> list{std::istream_iterator<std::string>(words), {}};
        EXPECT_GT(list.size(), 5U) << line;
        const std::string file = (scratch_ / "numbers.npy").string();
        if (list.empty()) return {};
        list.back() = file;
        std::vector<char*> arguments;
        for (std::string& word : list) {
            std::erase(word, '\'');  // as a shell would
            arguments.push_back(word.data());
        }
        EXPECT_EQ(run_program(int(arguments.size()), arguments.data()), 0) << line;
        return read_npy(file);
    }
    FieldSetPtr shown(ProbeRequest request) {
        request.tokens = ui().selection.image.item->tokens;
        return ask(request);
    }
    static void expect_same(const Field& file, const Field& field) {
        EXPECT_EQ(file.shape, field.shape);
        ASSERT_EQ(file.values.size(), field.values.size());
        for (size_t i = 0; i < field.values.size(); ++i)
            if (!std::isnan(field.values[i])) {
                ASSERT_EQ(file.values[i], field.values[i]) << i;
            }
    }
};

TEST_F(CopiedCommands, OfAttentionWriteWhatIsShown) {
    run("view.workspace_attention\nframes 20\n");
    const Field file = numbers_of_command();
    ProbeRequest request;
    request.probe = "attention";
    request.layer = ui().selection.cell.layer;
    request.position = ui().selection.cell.target;
    request.options = {{"part", "both"}, {"visible", "nan"}};
    expect_same(file, shown(request)->fields.front());
}

TEST_F(CopiedCommands, OfKeysWriteWhatIsShown) {
    run("view.workspace_attention\nframes 10\nclick keys/main/tab\nframes 20\n");
    const Field file = numbers_of_command();
    ProbeRequest request;
    request.probe = "keys";
    expect_same(file, shown(request)->fields.front());
}

TEST_F(CopiedCommands, OfTheAtlasWriteWhatIsShown) {
    run("view.workspace_biases\nframes 20\n");
    const Field file = numbers_of_command();
    EXPECT_EQ(file.values.size() % (256 * 256), 0U);
}

}  // namespace
}  // namespace aft::app
