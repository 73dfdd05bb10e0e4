// The Lab's panes Speed and Your operator: what stands there is what `bench --model` and
// `op --compare` find.
#include "model/jobs/op.h"
#include "tests/app/panels/own_operator_file.h"
#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

class OwnOperator : public BareTest {
  protected:
    void show(const std::string& pane) {
        open_mirror();
        run("view.workspace_lab\nframes 4\nclick " + pane + "/main/tab\nframes 4\n");
    }
    void compare(const std::string& file) {
        run("set your_operator/main/file " + file + "\nframes 2\n" +
            "click your_operator/main/compare\nframes 2\n");
    }
    const std::string agrees_ = "your_operator/difference/agrees";
};

TEST_F(OwnOperator, WhatIsRightAgreesAndOneWrongValueIsFound) {
    show("your_operator");
    const fs::path right = scratch_ / "right.safetensors", wrong = scratch_ / "wrong.safetensors";
    write_own_result(right, {});
    write_own_result(wrong, {.at = 70, .by = 0.5});
    compare(right.string());
    ASSERT_TRUE(until([&] { return value_of(agrees_).starts_with("yes"); })) << dump(ui());
    compare(wrong.string());
    ASSERT_TRUE(until([&] { return value_of(agrees_).starts_with("no"); })) << dump(ui());
    // 70 of [2, 6, 8]: example 1, token 2, channel 6.
    EXPECT_NE(value_of(agrees_).find("(1, 2, 6)"), std::string::npos) << value_of(agrees_);
    OpRequest request;
    request.name = "full";
    request.in = wrong.string();
    request.precision = "fp64";
    request.causal = request.compare = true;
    const OpResult result = op_job(request);
    EXPECT_NEAR(result.differences.front().largest, 0.5, 1e-6);
    EXPECT_NE(value_of("your_operator/difference/tensors:y")
                  .find(fmt::format("{:.3g}", result.differences.front().relative)),
              std::string::npos)
        << value_of("your_operator/difference/tensors:y");
}

TEST_F(OwnOperator, AFileThatIsNoneIsSaidSo) {
    show("your_operator");
    compare((scratch_ / "nowhere.safetensors").string());
    ASSERT_TRUE(until([&] {
        return dump(ui()).find("nowhere.safetensors: ") != std::string::npos;
    })) << dump(ui());
    EXPECT_FALSE(is_there(agrees_));
}

// The operator, its window and its order are those of the open model.
TEST_F(OwnOperator, BeginsWithTheOperatorOfTheOpenModel) {
    show("your_operator");
    EXPECT_EQ(value_of("your_operator/main/operator"), "full");
    EXPECT_EQ(value_of("your_operator/main/causal"), "on");
}

// Without a program to start (tests have none) the same work is done in this process.
TEST_F(OwnOperator, SpeedShowsEveryRowOfTheModel) {
    show("speed");
    run("click speed/main/measure\nframes 2\n");
    for (const char* const row : {"own_operator", "own_token", "own_step"}) {
        const std::string id = std::string("speed/") + row + "/ours";
        // It measures again on a busy machine.
        ASSERT_TRUE(until([&] { return is_there(id); }, 1200)) << row << "\n" << dump(ui());
        const std::string words = value_of(id);
        EXPECT_TRUE(words.find("times as ") != std::string::npos || words.starts_with("no ratio"))
            << words;
    }
    EXPECT_NE(dump(ui()).find("key-value cache"), std::string::npos);
}

}  // namespace
}  // namespace aft::app
