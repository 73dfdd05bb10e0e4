// The steps of docs/guide.md: after at most five actions the number that the guide promises is on
// the screen.
#include <sstream>

#include "core/files.h"
#include "tests/app/panels/own_operator_file.h"
#include "tests/app/stage_fixture.h"
#include "tests/source_file.h"

namespace aft::app {
namespace {

constexpr size_t kMostActions = 5;

struct Question {
    std::string title;
    std::vector<std::string> actions;
    std::string shows;  // id of a widget
};

// Sections "## N. ..." with a block ```steps.
std::vector<Question> questions() {
    std::istringstream text(read_file(source_file("docs/guide.md")));
    std::vector<Question> out;
    std::string line, title;
    while (std::getline(text, line)) {
        if (line.starts_with("## ")) title = line.substr(3);
        if (line != "```steps") continue;
        Question question{title, {}, {}};
        while (std::getline(text, line) && line != "```") {
            if (line.starts_with("shows "))
                question.shows = line.substr(6);
            else
                question.actions.push_back(line);
        }
        out.push_back(std::move(question));
    }
    return out;
}

class Guide : public BareTest {
  protected:
    // The guide names the user's own file as it lies beside them.
    void SetUp() override {
        write_own_result(scratch_ / "mine.safetensors", {});
        fs::current_path(scratch_ / "");
    }
    void TearDown() override { fs::current_path(before_); }
    fs::path before_ = fs::current_path();
    void open_run(size_t number) {
        initialize_model("cpu", 1);
        make();
        OpenRequest request;
        request.config = load_preset("demo-mirror");
        request.config->train.steps = 20;
        request.out = (scratch_ / ("run" + std::to_string(number))).string();
        ui().commands.send(OpenRun{request});
        run("frames 2\nwait Ready 60\nrun.start\nwait Stopped 60\nframes 5\n");
    }
    [[nodiscard]] bool has_number(const std::string& id) {
        const std::string value = value_of(id);
        return value.find_first_of("0123456789") != std::string::npos;
    }
};

TEST_F(Guide, EveryQuestionIsAnsweredInFiveActions) {
    const std::vector<Question> all = questions();
    EXPECT_EQ(all.size(), 12u);
    for (const Question& question : all) {
        SCOPED_TRACE(question.title);
        EXPECT_LE(question.actions.size(), kMostActions);
        open_run(size_t(&question - all.data()));
        for (const std::string& action : question.actions) {
            if (action.starts_with("click ")) {
                const std::string id = action.substr(6);
                ASSERT_TRUE(until([&] { return is_there(id); })) << action << "\n" << dump(ui());
            }
            run(action + "\nframes 6\n");
        }
        EXPECT_TRUE(until([&] { return has_number(question.shows); }))
            << question.shows << " = " << value_of(question.shows) << "\n"
            << dump(ui());
    }
}

}  // namespace
}  // namespace aft::app
