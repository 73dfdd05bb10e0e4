// The op command's work: files in, files out, precisions, gradients, refused input.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/check.h"
#include "model/checkpoints/format.h"
#include "model/jobs.h"
#include "tests/model/ops/ops_cases.h"

namespace aft {
namespace {

using ops::OperatorKind;
using ops::testing::OpsCase;
using ops::testing::Sample;
namespace fs = std::filesystem;

class OpJob : public ::testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(::testing::TempDir()) /
                  ("op-job-" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    [[nodiscard]] std::string in() const { return (folder_ / "in.safetensors").string(); }
    [[nodiscard]] std::string out() const { return (folder_ / "out.safetensors").string(); }

    void write(const Sample& s, const std::string& without = "") const {
        TensorFile file;
        const std::vector<std::pair<std::string, at::Tensor>> all{
            {"q", s.in.q}, {"k", s.in.k}, {"v", s.in.v}, {"w", s.in.w},
            {"u", s.in.u}, {"r", s.in.r}, {"dy", s.dy}};
        for (const auto& [name, tensor] : all)
            if (tensor.defined() && name != without) file.tensors.emplace_back(name, tensor);
        write_tensors(in(), file);
    }

    [[nodiscard]] OpRequest request(const OpsCase& c) const {
        OpRequest r;
        r.name = ops::kind_name(c.kind);
        r.in = in();
        r.out = out();
        if (c.kind == OperatorKind::local) r.window = c.window;
        r.causal = c.causal;
        r.outside_hidden = c.outside_hidden;
        if (c.kind == OperatorKind::conv2d) {
            r.grid_width = c.grid_width;
            r.grid_height = c.length / c.grid_width;
        }
        return r;
    }

    static std::string refusal(const OpRequest& r, ErrorKind kind) {
        try {
            (void)op_job(r);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), kind) << error.what();
            return error.what();
        }
        ADD_FAILURE() << "was not refused";
        return "";
    }

    fs::path folder_;
};

TEST_F(OpJob, every_operator_every_precision) {
    for (const OpsCase& c : ops::testing::aft_cases()) {
        const Sample sample = make_sample(c);
        write(sample);
        const auto truth = ops::testing::run(ops::testing::oracle(), c.kind, sample, at::kDouble);
        for (const std::string backend : {"reference", "tiled", "cpu"})
            for (const auto& [precision, forward, gradient] :
                 std::vector<std::tuple<std::string, double, double>>{
                     {"fp32", 1e-5, 2e-5}, {"fp64", 1e-12, 1e-10}, {"bf16", 1e-2, 6e-3}}) {
                if (backend == "cpu" && precision == "fp64") continue;  // it has none
                OpRequest r = request(c);
                r.backend = backend;
                r.precision = precision;
                r.grad = true;
                (void)op_job(r);
                const TensorFile file = read_tensors(out());
                const auto type = precision == "fp64" ? at::kDouble : at::kFloat;
                ASSERT_NE(file.find("y"), nullptr);
                EXPECT_EQ(file.find("y")->scalar_type(), type);
                ops::testing::Result found{.y = file.find("y")->to(at::kDouble), .gradients = {}};
                for (const auto& [name, g] : truth.gradients) {
                    ASSERT_NE(file.find(name), nullptr) << name;
                    found.gradients.emplace_back(name, file.find(name)->to(at::kDouble));
                }
                EXPECT_LE(forward_error(found, truth, sample), forward)
                    << describe(c) << backend << precision;
                EXPECT_LE(gradient_error(found, truth, sample).value, gradient)
                    << describe(c) << backend << precision;
                EXPECT_TRUE(precision != "bf16" || forward_error(found, truth, sample) > 1e-5)
                    << "nothing was rounded";
            }
    }
}

TEST_F(OpJob, baselines) {
    for (const OperatorKind kind : {OperatorKind::softmax, OperatorKind::linear}) {
        const OpsCase c{.kind = kind, .causal = true};
        const Sample sample = make_sample(c);
        write(sample);
        OpRequest r = request(c);
        r.backend = "tiled";
        r.grad = true;
        (void)op_job(r);
        const TensorFile file = read_tensors(out());
        EXPECT_EQ(file.tensors.size(), 4u);  // y, dq, dk, dv
        EXPECT_NE(file.find("dq"), nullptr);
    }
}

TEST_F(OpJob, refuses_with_names) {
    const OpsCase c{.kind = OperatorKind::full};
    const Sample sample = make_sample(c);
    const auto mentions = [](const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
    };
    write(sample, "k");
    mentions(refusal(request(c), ErrorKind::failed), "'k' is missing");
    mentions(refusal(request(c), ErrorKind::failed), in());
    write(sample, "dy");
    OpRequest r = request(c);
    r.grad = true;
    mentions(refusal(r, ErrorKind::failed), "'dy' is missing");
    r = request(c);
    for (const char* backend : {"cuda", "fast"}) {
        r.backend = backend;
        mentions(refusal(r, ErrorKind::usage), "allowed: reference, tiled, cpu");
    }
    r = request(c);
    r.precision = "fp16";
    mentions(refusal(r, ErrorKind::usage), "allowed: fp32, bf16, fp64");
    r = request(c);
    r.name = "fool";
    mentions(refusal(r, ErrorKind::usage), "full");
    r = request(c);
    r.name = "conv2d";
    mentions(refusal(r, ErrorKind::usage), "--grid");
    r = request(c);
    r.window = 3;
    mentions(refusal(r, ErrorKind::usage), "--window 3");
    Sample odd = sample;
    odd.in.w = at::zeros({4, 4}, at::kDouble);
    write(odd);
    mentions(refusal(request(c), ErrorKind::failed), "[4, 4]");
    odd.in.w = at::zeros({30, 30}, at::kLong);
    write(odd);
    mentions(refusal(request(c), ErrorKind::failed), "'w' is Long");
    r = request(c);
    r.in = (folder_ / "nowhere.safetensors").string();
    mentions(refusal(r, ErrorKind::failed), "nowhere.safetensors");
}

}  // namespace
}  // namespace aft
