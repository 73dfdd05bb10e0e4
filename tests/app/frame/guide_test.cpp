// The steps of docs/guide.md: after at most five actions the number that the guide promises is on
// the screen, and its command gives the same one.
#include <chrono>

#include "app/cli/program.h"
#include "core/clock.h"
#include "tests/app/frame/guide_text.h"
#include "tests/app/panels/own_operator_file.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

constexpr size_t kMostActions = 5;
// What takes long, or says in words what the screen says in words.
constexpr size_t kWithoutNumbers[] = {10, 11};

class Guide : public BareTest {
  protected:
    // The guide names the user's own file as it lies beside them.
    void SetUp() override {
        write_own_result(scratch_ / "mine.safetensors", {});
        fs::current_path(scratch_ / "");
    }
    void TearDown() override { fs::current_path(before_); }
    fs::path before_ = fs::current_path();
    std::string answer_;  // what the last command with --json has printed

    std::string open_run(size_t number) {
        initialize_model("cpu", 1);
        make();
        OpenRequest request;
        request.config = load_preset("demo-mirror");
        request.config->train.steps = 20;
        request.out = (scratch_ / ("run" + std::to_string(number))).string();
        const std::string path = request.out;
        ui().commands.send(OpenRun{request});
        run("frames 2\nwait Ready\nrun.start\nwait Stopped\nframes 5\n");
        return path;
    }
    [[nodiscard]] static bool is_training(const std::string& command) {
        return command.starts_with("afterimage train ");
    }
    [[nodiscard]] bool has_number(const std::string& id) {
        return !shown_numbers(value_of(id)).empty();
    }
    void run_command(const std::string& line, const std::string& path) {
        std::istringstream text(line);
        std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
        std::vector<char*> arguments;
        bool prints_json = false;
        for (std::string& word : words) {
            std::erase(word, '\'');  // as a shell would
            if (word == "runs/mirror") word = path;
            prints_json |= word == "--json";
            arguments.push_back(word.data());
        }
        testing::internal::CaptureStdout();
        const int code = run_program(int(arguments.size()), arguments.data());
        const std::string printed = testing::internal::GetCapturedStdout();
        EXPECT_EQ(code, 0) << line;
        if (prints_json) answer_ = printed;
    }
    std::optional<double> number_of_command(const SameNumber& same) {
        std::string place = same.place;
        if (const size_t from = place.find('['); from != std::string::npos)
            place =
                place.substr(0, from) + value_of(place.substr(from + 1, place.size() - from - 2));
        std::optional<double> value;
        if (same.file == "json")
            value = json_number(nlohmann::json::parse(answer_), place);
        else if (same.file.ends_with(".json"))
            value = json_number(nlohmann::json::parse(read_file(same.file)), place);
        else
            value = csv_number(same.file, place);
        if (!value) return value;
        return same.factor * (same.is_exp ? std::exp(*value) : *value);
    }
    [[nodiscard]] bool is_same(const SameNumber& same) {
        const std::vector<ShownNumber> shown = shown_numbers(value_of(same.widget));
        const std::optional<double> value = number_of_command(same);
        if (shown.size() < same.number || !value) return false;
        const ShownNumber& one = shown[same.number - 1];
        return std::abs(one.value - *value) <= 0.5001 * std::pow(10.0, -one.decimals);
    }
    void expect_same_numbers(const Question& question, const std::string& path) {
        for (const std::string& command : question.commands) {
            if (is_training(command)) continue;  // it is there
            const size_t recipe = command.find("--recipe ");
            if (recipe != std::string::npos && !question.recipes.empty())
                std::ofstream(
                    command.substr(recipe + 9, command.find(' ', recipe + 9) - recipe - 9))
                    << question.recipes.front() << "\n";
            run_command(command, path);
        }
        for (const SameNumber& same : question.same)
            EXPECT_TRUE(until([&] { return is_same(same); }))
                << same.widget << " = " << value_of(same.widget) << "\n"
                << same.file << " " << same.place << " = "
                << number_of_command(same).value_or(std::nan(""));
    }
};

TEST_F(Guide, EveryQuestionIsAnsweredInFiveActions) {
    const std::vector<Question> all = guide_questions();
    EXPECT_EQ(all.size(), 12u);
    for (const Question& question : all) {
        SCOPED_TRACE(question.title);
        const auto number = size_t(&question - all.data());
        EXPECT_LE(question.actions.size(), kMostActions);
        EXPECT_TRUE(fs::exists(source_file(fmt::format("docs/guide/{}.png", number + 1))));
        const std::string path = open_run(number);
        for (const std::string& command : question.commands)
            if (is_training(command)) run_command(command, path);
        const auto start = std::chrono::steady_clock::now();
        for (const std::string& action : question.actions) {
            if (action.starts_with("click ") || action.starts_with("set ")) {
                std::string id = action.substr(action.find(' ') + 1);
                if (action.starts_with("set ")) id = id.substr(0, id.find(' '));
                ASSERT_TRUE(until([&] { return is_there(id); })) << action << "\n" << dump(ui());
            }
            run(action + "\nframes 6\n");
        }
        constexpr double kSlow = 1200;  // the Lab's Speed measures again on a busy machine
        EXPECT_TRUE(until([&] { return has_number(question.shows); }, kSlow))
            << question.shows << " = " << value_of(question.shows) << "\n"
            << dump(ui());
        fmt::print("    question {}: {} actions, {:.1f} s\n", number + 1, question.actions.size(),
                   seconds_since(start));
        const bool is_compared = std::find(std::begin(kWithoutNumbers), std::end(kWithoutNumbers),
                                           number) == std::end(kWithoutNumbers);
        EXPECT_EQ(question.same.empty(), !is_compared);
        if (is_compared) expect_same_numbers(question, path);
    }
}

}  // namespace
}  // namespace aft::app
