// What the window hands over as text: commands that do the same without it, values with all their
// digits, the report on this machine.
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "app/panels/home/new_run.h"
#include "core/environment.h"
#include "core/text.h"
#include "tests/app/stage_fixture.h"
#include "tests/app/ui_driver.h"
#include "tests/source_file.h"

namespace aft::app {
namespace {

// The words that a shell makes of a command line.
std::vector<std::string> shell_words(const std::string& command) {
    const std::string line = "printf '%s\\n' " + command;
    std::FILE* pipe = ::popen(line.c_str(), "r");
    EXPECT_NE(pipe, nullptr);
    std::string out;
    std::array<char, 4096> part{};
    for (size_t n = 0; pipe != nullptr && (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;)
        out.append(part.data(), n);
    EXPECT_EQ(pipe == nullptr ? -1 : ::pclose(pipe), 0) << command;
    std::vector<std::string> words = split(out, '\n');
    words.pop_back();
    return words;
}

struct Parsed {
    Config config;
    std::string out;
};

// As the command line reads `afterimage train`.
Parsed parse_training(const std::string& command) {
    const std::vector<std::string> words = shell_words(command);
    Parsed parsed;
    EXPECT_GE(words.size(), 4u) << command;
    EXPECT_EQ(words.at(1), "train");
    for (size_t i = 2; i + 1 < words.size(); i += 2) {
        const std::string& value = words[i + 1];
        SettingRows rows = parsed.config.rows();
        if (words[i] == "--preset")
            parsed.config = load_preset(value);
        else if (words[i] == "--data")
            set_from_text(rows, "data.source", value);
        else if (words[i] == "--out")
            parsed.out = value;
        else if (words[i] == "--set")
            set_from_text(rows, value.substr(0, value.find('=')),
                          value.substr(value.find('=') + 1));
        else
            ADD_FAILURE() << words[i];
    }
    return parsed;
}

void expect_same(Config a, Config b) {
    const SettingRows left = a.rows(), right = b.rows();
    for (size_t i = 0; i < left.size(); ++i)
        EXPECT_EQ(value_text(left[i]), value_text(right[i])) << left[i].key;
}

void change(Setting& row) {
    if (auto** on = std::get_if<bool*>(&row.value)) **on = !**on;
    if (auto** whole = std::get_if<int64_t*>(&row.value)) **whole += **whole < row.max ? 1 : -1;
    if (auto** real = std::get_if<double*>(&row.value))
        **real = **real / 3 + 0.01 > row.max ? row.min : **real / 3 + 0.01;
    auto** words = std::get_if<std::string*>(&row.value);
    if (words == nullptr) return;
    if (row.choices.empty())
        **words = "it's \"odd\" & $HOME;*";
    else
        **words = row.choices.front() == **words ? row.choices.back() : row.choices.front();
}

TEST(TrainingCommand, NamesEverySettingThatDiffers) {
    const Config preset = load_preset("demo-mirror");
    EXPECT_EQ(training_command(preset, preset, ""), "afterimage train --preset demo-mirror");
    Config all = preset;
    SettingRows rows = all.rows();
    const std::set<std::string> unread = unread_settings(preset);
    for (Setting& row : rows) {
        if (unread.contains(row.key)) continue;  // the command leaves them out
        Config one = preset;
        SettingRows one_rows = one.rows();
        change(*find_setting(one_rows, row.key));
        reset_unread(one);  // another mixer or task reads other settings
        const std::string command = training_command(one, preset, "");
        EXPECT_NE(command, "afterimage train --preset demo-mirror") << row.key;
        expect_same(parse_training(command).config, one);
        change(row);
    }
    reset_unread(all);
    const Parsed parsed = parse_training(training_command(all, preset, "my runs/it's"));
    expect_same(parsed.config, all);
    EXPECT_EQ(parsed.out, "my runs/it's");
}

class CommandsBare : public BareTest {
  protected:
    static std::string copied() {
        const char* const text = ImGui::GetClipboardText();
        return text == nullptr ? "" : text;
    }
};

TEST_F(CommandsBare, ANewRunShowsTheCommandOfItsSettings) {
    initialize_model("cpu", 1);
    make();
    run("file.new_run\nframes 3\nset home/settings/train.steps 123\nset \"home/new_run/data\" "
        "mirror?size=8&levels=4\nset \"home/new_run/run_folder\" my runs/one\nframes 2\n");
    const std::string shown = value_of("home/command_line/command");
    const Parsed parsed = parse_training(shown);
    EXPECT_EQ(parsed.config.train.steps, 123) << shown;
    EXPECT_EQ(parsed.config.data.source, "mirror?size=8&levels=4");
    EXPECT_EQ(parsed.out, "my runs/one");
    // The answer about the data comes when it comes, and moves what lies below: under the click
    // too.
    EXPECT_TRUE(until([&] {
        run("click \"home/command_line/copy_command\"\nframes 2\n");
        return !copied().empty();
    }));
    EXPECT_EQ(copied(), shown);
}

constexpr const char* kCopy = "inspector/actions/copy_as_command";

TEST_F(CommandsBare, ABiasIsWrittenFromTheStepThatIsShown) {
    make();
    open_tiny_run();
    session().run().step(45);
    run("view.workspace_biases\n");
    const auto why = [&] {
        const WidgetRecord* const button = ui().recorder.find(kCopy);
        return button == nullptr ? "it is not there" : button->why_not;
    };
    ASSERT_TRUE(until([&] { return why().starts_with("Step 45 is not saved whole"); })) << why();
    ui().selection.step = 40;
    ASSERT_TRUE(until([&] { return why().empty(); })) << why();
    run(std::string("click \"") + kCopy + "\"\nframes 2\n");
    const std::vector<std::string> words = shell_words(copied());
    const std::vector<std::string> wanted = {
        "afterimage", "probe",
        "bias",       (folder_ / "checkpoints" / "step-00000040.safetensors").string(),
        "--layer",    "0",
        "--quantity", "exp-1",
        "--gauge",    "fixed",
        "-o",         "bias-layer-0.npy"};
    EXPECT_EQ(words, wanted);
    EXPECT_TRUE(std::filesystem::exists(words.at(3)));
    ui().selection.pin(20);
    run("map.difference_to_pin\nframes 2\n");
    EXPECT_TRUE(until([&] {
        run(std::string("click \"") + kCopy + "\"\nframes 2\n");
        return copied().find(" --step-a 20 --step-b 40 ") != std::string::npos;
    })) << copied();
}

TEST_F(CommandsBare, AKernelKeepsItsQuantity) {
    initialize_model("cpu", 1);
    make();
    stage_->frame().open(source_file("assets/demo/shapes.safetensors").string());
    run("frames 2\nwait Ready\nview.workspace_biases\nframes 3\nset \"atlas/main/quantity\" "
        "w\n");
    ASSERT_TRUE(until([&] { return is_there(kCopy); }));
    run(std::string("click \"") + kCopy + "\"\nframes 2\n");
    EXPECT_NE(copied().find("probe kernel"), std::string::npos) << copied();
    EXPECT_NE(copied().find("shapes.safetensors --layer 0 --quantity w -o"), std::string::npos)
        << copied();
}

TEST_F(CommandsBare, ControlCCopiesTheValueUnderThePointerWithAllItsDigits) {
    initialize_model("cpu", 1);
    make();
    const Action* const copy = ui().actions.find("map.copy_values");
    ASSERT_NE(copy, nullptr);
    EXPECT_EQ(copy->shortcut, "Ctrl+C");
    EXPECT_NE(ui().actions.why_not(ui(), "map.copy_values"), "");
    stage_->frame().open(source_file("assets/demo/mirror.safetensors").string());
    run("frames 2\nwait Ready\nview.workspace_biases\nframes 3\nwait drawn\n");
    constexpr int64_t kTokens = 256, kTarget = 200, kSource = 13;
    ProbeRequest request;
    request.probe = "bias";
    request.options = {{"quantity", "exp-1"}, {"gauge", "fixed"}};
    FieldSetPtr stored;
    ASSERT_TRUE(
        until([&] { return (stored = ui().session->probes().ask(request, false)) != nullptr; }));
    const float value = stored->fields[0].values[size_t(kTarget * kTokens + kSource)];
    UiDriver driver(stage_, 1);
    const WidgetRecord map = driver.find("atlas/main/layer_0");
    const float zoom = (map.max.x - map.min.x) / float(kTokens);
    ImGui::GetIO().AddMousePosEvent(map.min.x + (float(kSource) + 0.5F) * zoom,
                                    map.min.y + (float(kTarget) + 0.5F) * zoom);
    ASSERT_TRUE(until([&] {
        return value_of("atlas/main/hover_line").find("200 (12, 8)") != std::string::npos;
    })) << value_of("atlas/main/hover_line");
    driver.key("Ctrl+C");
    EXPECT_NE(copied().find("t 200 (12, 8)"), std::string::npos) << copied();
    EXPECT_NE(copied().find(" " + exact_number(value) + "  "), std::string::npos)
        << copied() << ", stored " << exact_number(value);
}

TEST_F(CommandsBare, TheReportOnThisMachineNamesOpenGl) {
    initialize_model("cpu", 1);
    make();
    run("help.copy_system_report\n");
    ASSERT_TRUE(until([&] { return copied().starts_with("{"); }));
    const nlohmann::json report = nlohmann::json::parse(copied());
    EXPECT_EQ(report.value("opengl", ""), "none");  // this stage has none
    EXPECT_TRUE(report.contains("libtorch"));
    EXPECT_EQ(report.value("omp_wait_policy", "none"), variable("OMP_WAIT_POLICY"));
    EXPECT_EQ(report.value("gomp_spincount", "none"), variable("GOMP_SPINCOUNT"));
    EXPECT_EQ(value_of("home/this_machine/opengl"), "none");
}

TEST_F(CommandsBare, EveryDemoHasAPictureOfItsData) {
    initialize_model("cpu", 1);
    make();
    for (const char* demo : {"demo-mirror", "demo-tiles", "demo-shapes"}) {
        const std::string card = std::string("home/demos/") + demo;
        EXPECT_TRUE(until([&] { return value_of(card) == "with picture"; })) << card;
    }
}

TEST_F(CommandsBare, ACardOfADemoOpensItAndItsButtonShowsTheSettings) {
    initialize_model("cpu", 1);
    make();
    run("click home/demos/settings_of_demo-shapes\nframes 4\n");
    EXPECT_TRUE(is_there("home/new_run/preset"));
    EXPECT_EQ(value_of("home/new_run/preset"), "demo-shapes");
    EXPECT_EQ(ui().session, nullptr);
    make();
    run("click home/demos/demo-shapes\nframes 4\nwait Ready\n");
    EXPECT_NE(ui().status.path.find("shapes.safetensors"), std::string::npos) << ui().status.path;
    EXPECT_EQ(ui().workspace, Workspace::biases);
}

TEST_F(CommandsBare, AnyNumberOfSamplesThatTheCommandLineTakes) {
    open_mirror();
    run("view.workspace_complete\nframes 3\n");
    run("set \"sampling/options/number_of_samples\" 3\nframes 2\n");
    EXPECT_EQ(ui().selection.completion.sample.samples, 3);
    EXPECT_EQ(value_of("sampling/options/samples"), "") << "no quick choice is on";
    EXPECT_THROW(run("set \"sampling/options/number_of_samples\" 1025\nframes 2\n"), Error);
    run("set \"sampling/options/samples\" 16\nframes 2\n");
    EXPECT_EQ(ui().selection.completion.sample.samples, 16);
    EXPECT_EQ(value_of("sampling/options/number_of_samples"), "16");
}

TEST_F(CommandsBare, AfterALockItsValuesAreCopiedWhateverIsPreviewed) {
    open_mirror();
    run("view.workspace_biases\nframes 3\nwait drawn\nclick atlas/main/layer_0\nframes 4\n");
    ASSERT_TRUE(ui().selection.locked);
    const std::string locked = ui().read_out.text, line = value_of("atlas/main/hover_line");
    run("hover atlas/main/layer_0 12 200\nframes 4\n");
    ASSERT_NE(value_of("atlas/main/hover_line"), line) << "another cell is previewed";
    run("map.copy_values\n");
    EXPECT_EQ(copied(), locked);
    run("key Esc\nframes 2\nhover atlas/main/layer_0 14 210\nframes 4\nmap.copy_values\n");
    EXPECT_NE(copied(), locked);
}

}  // namespace
}  // namespace aft::app
