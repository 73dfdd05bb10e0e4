// Films of the window: a frame for each stored step or position, each taken when all that is shown
// was read; whatever ends a film leaves nothing behind and puts the selection back.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "app/frame/cards/film_recorder.h"
#include "app/panels/shared/completion_readings.h"
#include "core/files.h"
#include "tests/app/stage_fixture.h"
#include "tests/core/apng_reader.h"

namespace aft::app {
namespace {

namespace fs = std::filesystem;

class FilmWindow : public BareTest {
  protected:
    void open_run() {
        open_trained_run();
        run("view.workspace_biases\nframes 4\n");
        file_ = (scratch_ / "films/film.apng").string();
        fs::create_directories(scratch_ / "films");
        film_steps();
    }
    // Pictures of one colour, that of the step; what was read of it is noted.
    void film_steps() {
        stage_->pictures.pixels = [this] {
            shown_.push_back(ui().selection.step);
            EXPECT_FALSE(is_reading(ui().recorder.last()));
            EXPECT_FALSE(is_there("film_card/main/file")) << "the card covers nothing";
            EXPECT_FALSE(is_there("toasts/main/toast"));
            return flat(ui().selection.step);
        };
    }
    static Image flat(int64_t value) {
        const ImVec2 size = ImGui::GetIO().DisplaySize;
        const auto width = int64_t(size.x), height = int64_t(size.y);
        return {width, height, 3, std::vector<uint8_t>(size_t(width * height * 3), uint8_t(value))};
    }
    void open_card() { run("file.save_film\nframes 3\n"); }
    void save(const std::string& file) {
        run("set film_card/main/file " + file + "\nframes 2\nclick film_card/main/save\n");
    }
    void record() {
        open_card();
        save(file_);
    }
    bool is_recording() { return is_there("film/main/progress"); }
    [[nodiscard]] bool has_said(const std::string& title) {
        return std::any_of(ui().toasts.history().begin(), ui().toasts.history().end(),
                           [&](const Toast& toast) { return toast.title == title; });
    }
    [[nodiscard]] std::string last_detail() { return ui().toasts.history().back().detail; }
    [[nodiscard]] int64_t films() {
        return std::distance(fs::directory_iterator(scratch_ / "films"), fs::directory_iterator());
    }
    [[nodiscard]] std::vector<ShownFrame> frames_of(const std::string& file) {
        return ApngReader(read_file(file)).frames;
    }
    void until_saved() {
        ASSERT_TRUE(until([&] { return has_said("Film saved") || has_said("Film not saved"); }))
            << dump(ui());
        ASSERT_TRUE(has_said("Film saved")) << last_detail();
    }
    std::string file_;
    std::vector<int64_t> shown_;
};

TEST_F(FilmWindow, AScrubHasAFrameForEachStoredStep) {
    open_run();
    const std::vector<int64_t> history = ui().history;
    ASSERT_GE(history.size(), 3U);
    record();
    EXPECT_TRUE(until([&] { return is_recording(); }));
    until_saved();
    EXPECT_EQ(shown_, history);
    const std::vector<ShownFrame> frames = frames_of(file_);
    ASSERT_EQ(frames.size(), history.size());
    for (size_t i = 0; i < frames.size(); ++i) {
        EXPECT_EQ(frames[i].image.pixels[0], uint8_t(history[i]));
        EXPECT_EQ(frames[i].per_second, 10);
    }
    EXPECT_GT(frames[0].image.width, 800) << "the panes in the middle";
    EXPECT_LT(frames[0].image.width, 1400);
    EXPECT_EQ(ui().selection.step, -1) << "live again";
    EXPECT_FALSE(is_recording());
    steps(3);
    EXPECT_TRUE(is_there("toasts/main/toast"));
}

TEST_F(FilmWindow, FromAStepToAStepAtItsPace) {
    open_run();
    const std::vector<int64_t> history = ui().history;
    ui().selection.step = history[1];
    open_card();
    run("set film_card/main/from " + std::to_string(history[1]) + "\nset film_card/main/to " +
        std::to_string(history[2]) + "\nset film_card/main/pace 25\n");
    save(file_);
    until_saved();
    EXPECT_EQ(shown_, std::vector<int64_t>({history[1], history[2]}));
    EXPECT_EQ(frames_of(file_)[0].per_second, 25);
    EXPECT_EQ(ui().selection.step, history[1]) << "where it was";
    open_card();
    run("set film_card/main/from " + std::to_string(history[2]) + "\nset film_card/main/to " +
        std::to_string(history[1]) + "\nframes 2\n");
    EXPECT_EQ(ui().recorder.find("film_card/main/save")->why_not,
              "No stored step lies between these.");
}

TEST_F(FilmWindow, EachFrameWaitsForTheAnswersOfItsStep) {
    open_run();
    const int64_t missed = session().probes().missed().of_steps;
    record();
    until_saved();
    EXPECT_GT(session().probes().missed().of_steps, missed) << "steps were read for it";
    const std::vector<int64_t> history = ui().history;
    for (const int64_t step : history) {
        ui().selection.step = step;
        const int64_t before = session().probes().missed().of_steps;
        steps(2);
        EXPECT_EQ(session().probes().missed().of_steps, before)
            << "all that is shown of step " << step << " had been answered";
    }
}

TEST_F(FilmWindow, WhileTrainingRuns) {
    make();
    open_tiny_run(1000000);
    session().run().step(40);
    run("wait Paused\nview.workspace_biases\nframes 4\n");
    fs::create_directories(scratch_ / "films");
    file_ = (scratch_ / "films/film.apng").string();
    film_steps();
    session().run().start();
    ASSERT_TRUE(until([&] { return ui().status.state == RunState::running; }));
    record();
    until_saved();
    EXPECT_EQ(ui().status.state, RunState::running);
    EXPECT_GE(shown_.size(), 2U);
    EXPECT_TRUE(std::is_sorted(shown_.begin(), shown_.end()));
    session().run().stop();
}

TEST_F(FilmWindow, EscCancelsAndLeavesNothing) {
    open_run();
    ui().selection.step = ui().history[1];
    open_card();
    save(file_);
    ASSERT_TRUE(until([&] { return !shown_.empty(); }));
    EXPECT_FALSE(ui().actions.why_not(ui(), "file.save_film").empty());
    run("key Esc\n");
    EXPECT_TRUE(has_said("Film cancelled"));
    EXPECT_FALSE(is_recording());
    EXPECT_EQ(ui().selection.step, ui().history[1]);
    EXPECT_TRUE(until([&] { return films() == 0; }));
    const size_t taken = shown_.size();
    steps(20);
    EXPECT_EQ(shown_.size(), taken);
    record();  // and the next one is not disturbed
    until_saved();
}

TEST_F(FilmWindow, TheButtonCancelsToo) {
    open_run();
    record();
    ASSERT_TRUE(until([&] { return films() == 1; })) << "a part of it is written";
    run("click film/main/cancel\n");
    EXPECT_TRUE(has_said("Film cancelled"));
    EXPECT_TRUE(until([&] { return films() == 0; }));
}

TEST_F(FilmWindow, ClosingTheWindowLeavesNothing) {
    open_run();
    record();
    ASSERT_TRUE(until([&] { return !shown_.empty(); }));
    steps(1);
    stage_.reset();
    EXPECT_EQ(films(), 0);
}

TEST_F(FilmWindow, ClosingTheModelEndsIt) {
    open_run();
    record();
    ASSERT_TRUE(until([&] { return !shown_.empty(); }));
    ui().commands.send(CloseModel{});
    steps(3);
    EXPECT_TRUE(has_said("Film not saved"));
    EXPECT_EQ(last_detail(), "the model was closed");
    EXPECT_TRUE(until([&] { return films() == 0; }));
}

TEST_F(FilmWindow, AnotherSizeIsFittedAndSaidOnce) {
    open_run();
    stage_->pictures.pixels = [this] {
        stage_->set_size(shown_.empty() ? ImVec2(1300, 700) : ImVec2(1700, 1100));
        shown_.push_back(ui().selection.step);
        return flat(ui().selection.step);
    };
    record();
    until_saved();
    const std::vector<ShownFrame> frames = frames_of(file_);
    ASSERT_EQ(frames.size(), ui().history.size());
    EXPECT_EQ(frames.back().image.pixels.back(), uint8_t(ui().history.back())) << "filled up";
    int said = 0;
    for (const LogLine& line : ui().log)
        if (line.text.find("changed its size") != std::string::npos) ++said;
    EXPECT_EQ(said, 1);
}

TEST_F(FilmWindow, APathThatCannotBeIsSaidInTheCard) {
    open_run();
    open_card();
    save("/no/such/folder/film.apng");
    run("frames 3\n");
    EXPECT_NE(dump(ui()).find("film_card/main/file"), std::string::npos) << "it stays open";
    EXPECT_FALSE(is_recording());
    save((scratch_ / "films/film.avi").string());
    run("frames 3\n");
    EXPECT_TRUE(is_there("film_card/main/file"));
    run("key Esc\nframes 2\n");
    EXPECT_FALSE(is_there("film_card/main/file"));
    EXPECT_EQ(films(), 0);
}

TEST_F(FilmWindow, WhatFailsInTheMiddleIsSaid) {
    open_run();
    fs::create_directories(scratch_ / "bin");
    const fs::path program = scratch_ / "bin/ffmpeg";
    std::ofstream(program) << "#!/bin/sh\necho no encoder >&2\nexit 1\n";
    fs::permissions(program, fs::perms::owner_all);
    const std::string before = std::getenv("PATH");
    setenv("PATH", (scratch_ / "bin").c_str(), 1);
    file_ = (scratch_ / "films/film.mp4").string();
    record();
    const bool is_said = until([&] { return has_said("Film not saved"); });
    setenv("PATH", before.c_str(), 1);
    ASSERT_TRUE(is_said);
    EXPECT_NE(last_detail().find("no encoder"), std::string::npos) << last_detail();
    EXPECT_FALSE(is_recording());
    EXPECT_EQ(ui().selection.step, -1);
    EXPECT_TRUE(until([&] { return films() == 0; }));
}

TEST_F(FilmWindow, ACompletionFillsIn) {
    open_run();
    run("view.workspace_complete\nframes 4\nmask.lower_half\ncomplete.start\n");
    ASSERT_TRUE(until([&] {
        const auto completion = completion_of(ui());
        return completion && completion->done;
    }));
    const auto whole = completion_of(ui());
    const FilledPositions filled = filled_positions(*whole);
    ASSERT_GT(filled.decided, 8U);
    std::vector<int64_t> decided;
    stage_->pictures.pixels = [&] {
        shown_.push_back(ui().selection.completion.position);
        decided.push_back(completion_of(ui())->position);
        return flat(int64_t(shown_.size()));
    };
    run("view.workspace_biases\nframes 3\n");
    open_card();
    run("click film_card/main/what=generation\nframes 2\nset film_card/main/most 5\n");
    save(file_);
    until_saved();
    ASSERT_LE(shown_.size(), 5U);
    ASSERT_GE(shown_.size(), 4U);
    EXPECT_EQ(shown_.back(), filled.at.back());
    EXPECT_EQ(decided.front(), shown_.front() + 1) << "nothing behind it is drawn yet";
    EXPECT_EQ(decided.back(), whole->position) << "the last frame shows it whole";
    EXPECT_EQ(ui().workspace, Workspace::complete);
    EXPECT_EQ(completion_of(ui())->position, whole->position);
    EXPECT_EQ(ui().selection.completion.position, -1) << "where it was";
    EXPECT_EQ(frames_of(file_).size(), shown_.size());
}

TEST_F(FilmWindow, WithoutACompletionThereIsNoneToFilm) {
    open_run();
    open_card();
    EXPECT_EQ(ui().recorder.find("film_card/main/what=generation")->why_not,
              "There is no completion yet.");
}

TEST(CompletionUntil, HasTheBitsOfItsPart) {
    Completion whole;
    whole.position = whole.total = 4;
    whole.done = true;
    whole.samples = {{1, 2, 3, 4}};
    whole.unknown = {0, 1, 1, 1};
    whole.surprise = whole.entropy = {{std::nanf(""), 1, 2, 4}};
    whole.log_likelihood = {-7 * std::numbers::ln2};
    const Completion part = completion_until(whole, 2);
    EXPECT_EQ(part.position, 3);
    EXPECT_DOUBLE_EQ(sample_bits(part, 0), 1.5);
    EXPECT_EQ(completion_until(whole, 3).position, 4);
    EXPECT_DOUBLE_EQ(sample_bits(completion_until(whole, 3), 0), 7.0 / 3);
}

}  // namespace
}  // namespace aft::app
