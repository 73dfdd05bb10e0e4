// Tables over the positions of a picture in a run that starts from weights for another size.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/caught.h"
#include "core/files.h"
#include "model/checkpoints/checkpoint.h"
#include "model/jobs/train.h"
#include "model/train/position_grid.h"
#include "model/train/warm_start.h"
#include "tests/model/net/small_nets.h"
#include "tests/model/scratch.h"

namespace aft {
namespace {

// Keys 1981 with a = -0.75, corners not aligned, the border repeated: written out for one value.
struct ResizedCell {
    int64_t height, width, y, x;  // of the result's grid
};
double bicubic(const at::Tensor& grid, const ResizedCell& cell) {
    const auto weight = [](double d) {
        constexpr double a = -0.75;
        d = std::abs(d);
        if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
        return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0.0;
    };
    const auto from = [](int64_t place, int64_t to, int64_t of) {
        return (static_cast<double>(place) + 0.5) * static_cast<double>(of) /
                   static_cast<double>(to) -
               0.5;
    };
    const double cy = from(cell.y, cell.height, grid.size(0)),
                 cx = from(cell.x, cell.width, grid.size(1));
    double sum = 0;
    for (auto i = static_cast<int64_t>(std::floor(cy)) - 1; i <= std::floor(cy) + 2; ++i)
        for (auto j = static_cast<int64_t>(std::floor(cx)) - 1; j <= std::floor(cx) + 2; ++j)
            sum += weight(cy - static_cast<double>(i)) * weight(cx - static_cast<double>(j)) *
                   grid[std::clamp<int64_t>(i, 0, grid.size(0) - 1)]
                       [std::clamp<int64_t>(j, 0, grid.size(1) - 1)]
                           .item<double>();
    return sum;
}

TEST(PositionGridTest, IsBicubicOverTheGridAndKeepsTheRowsBefore) {
    at::manual_seed(2);
    const PositionGrid from{.prefix = 2, .height = 4, .width = 6, .channels = 1};
    const PositionGrid to{.prefix = 1, .height = 7, .width = 3, .channels = 1};
    const at::Tensor table = at::randn({from.tokens(), 5});
    const at::Tensor out = resized_table(table, from, to, at::zeros({to.tokens(), 5}));
    ASSERT_EQ(out.sizes(), at::IntArrayRef({to.tokens(), 5}));
    EXPECT_TRUE(at::equal(out[0], table[0]));
    const at::Tensor grid = table.narrow(0, 2, 24).view({4, 6, 5});
    for (int64_t y = 0; y < to.height; ++y)
        for (int64_t x = 0; x < to.width; ++x)
            for (int64_t c = 0; c < 5; ++c)
                ASSERT_NEAR(out[1 + y * to.width + x][c].item<double>(),
                            bicubic(grid.select(2, c), {to.height, to.width, y, x}), 1e-5);
    // A row that is not there stays as it was.
    const at::Tensor back = resized_table(out, to, from, at::full({from.tokens(), 5}, 9.0));
    EXPECT_TRUE(at::equal(back[0], table[0]));
    EXPECT_TRUE(back[1].eq(9).all().item<bool>());
}

// Values of pixels stand beside each other: each channel is a picture of its own.
TEST(PositionGridTest, ChannelsAreResizedEachByItself) {
    const PositionGrid from{.prefix = 0, .height = 3, .width = 3, .channels = 2};
    const PositionGrid to{.prefix = 0, .height = 6, .width = 6, .channels = 2};
    at::Tensor table = at::zeros({18, 1});
    table.view({9, 2}).select(1, 1).fill_(4);
    const at::Tensor out = resized_table(table, from, to, at::zeros({72, 1})).view({36, 2});
    EXPECT_LT(out.select(1, 0).abs().max().item<double>(), 1e-6);
    EXPECT_LT((out.select(1, 1) - 4).abs().max().item<double>(), 1e-5);
}

// w = u r^T: the product of what was resized is what was resized of the product.
TEST(PositionGridTest, PairsAreResizedAsTheirFactorsAre) {
    at::manual_seed(3);
    const PositionGrid from{.prefix = 1, .height = 3, .width = 4, .channels = 1};
    const PositionGrid to{.prefix = 1, .height = 5, .width = 4, .channels = 1};
    const at::Tensor u = at::randn({13, 4}), r = at::randn({13, 4}), none = at::zeros({21, 4});
    const at::Tensor product =
        at::matmul(resized_table(u, from, to, none), resized_table(r, from, to, none).t());
    const at::Tensor w = resized_pairs(at::matmul(u, r.t()), from, to, at::zeros({21, 21}));
    EXPECT_LT(difference(w, product), 1e-4);
}

class PictureSizes : public ::testing::Test {
  protected:
    static Config config_of(int64_t side, bool has_class_token, int64_t factors) {
        Config config = load_preset("demo-shapes");
        config.model = small_config("aft-full", "classify");
        config.model.own["class_token"] = has_class_token;
        config.model.own["patch"] = int64_t{2};
        config.model.own["factors"] = factors;
        config.model.height = config.model.width = side;
        config.model.channels = 1;
        return config;
    }
    [[nodiscard]] std::string stored(const Config& config) const {
        Net net(config.model, 5);
        shake(net, 0.3, 5);
        Checkpoint out;
        out.config = config;
        for (const Parameter& p : net.parameters())
            out.weights.emplace_back(p.name, p.value.detach().clone());
        write_checkpoint((folder_ / "m").string(), out);
        return (folder_ / "m").string();
    }
    static at::Tensor value(const Checkpoint& of, const std::string& name) {
        for (const auto& [known, tensor] : of.weights)
            if (known == name) return tensor;
        return {};
    }
    TemporaryFolder folder_;
};

TEST_F(PictureSizes, AreResizedAndNamed) {
    for (const int64_t factors : {0, 3}) {
        SCOPED_TRACE(factors);
        const std::string from = stored(config_of(8, true, factors));
        const WarmStart start = warm_start(config_of(12, true, factors), from);
        const Checkpoint theirs = read_checkpoint(from);
        const size_t tables = factors > 0 ? 5 : 3;  // positions, and of two layers u and r, or w
        ASSERT_EQ(start.resized.size(), tables);
        EXPECT_TRUE(start.cut.empty());
        EXPECT_TRUE(start.fresh.empty()) << start.fresh.front();
        EXPECT_EQ(start.resized.front(), "embed.position.weight (4 x 4 to 6 x 6, bicubic)");
        const at::Tensor ours = value(start.checkpoint, "embed.position.weight"),
                         before = value(theirs, "embed.position.weight");
        EXPECT_TRUE(at::equal(ours[0], before[0])) << "the class token apart";
        const at::Tensor grid = before.narrow(0, 1, 16).view({4, 4, -1}).select(2, 3);
        EXPECT_NEAR(ours[1 + 2 * 6 + 4][3].item<double>(), bicubic(grid, {6, 6, 2, 4}), 1e-5);
    }
}

TEST_F(PictureSizes, AClassTokenMoreOrLess) {
    const WarmStart less = warm_start(config_of(8, false, 3), stored(config_of(8, true, 3)));
    EXPECT_EQ(less.resized.front(), "embed.position.weight (1 tokens before the grid, here 0)");
    const Checkpoint theirs = read_checkpoint((folder_ / "m").string());
    EXPECT_TRUE(at::equal(value(less.checkpoint, "embed.position.weight"),
                          value(theirs, "embed.position.weight").narrow(0, 1, 16)));
}

TEST_F(PictureSizes, MasksAndWindowsStartAnew) {
    Config config = config_of(8, false, 0);
    const std::string from = stored(config);
    Checkpoint masked = read_checkpoint(from);
    for (auto& [name, tensor] : masked.weights)
        if (name == "blocks.0.mixer.w") tensor[3][1] = -std::numeric_limits<float>::infinity();
    write_checkpoint(from, masked);
    const WarmStart start = warm_start(config_of(12, false, 0), from);
    ASSERT_EQ(start.fresh.size(), 1u);
    EXPECT_EQ(start.fresh[0], "blocks.0.mixer.w (its masks are of another picture size)");
    const WarmStart same = warm_start(config, from);
    EXPECT_TRUE(same.fresh.empty()) << "of the same size they are taken";
    Config local = config_of(12, false, 3);
    local.model.mixer = "aft-local";
    EXPECT_NE(warm_start(local, stored(config_of(8, false, 3))).fresh[0].find("a window is of"),
              std::string::npos);
}

TEST_F(PictureSizes, TextsSayWhatWasCut) {
    Config config = load_preset("shakespeare-small");
    config.model = small_config("aft-full", "text");
    const std::string from = stored(config);
    config.model.own["length"] = int64_t{10};
    const WarmStart start = warm_start(config, from);
    ASSERT_EQ(start.cut.size(), 5u);
    EXPECT_EQ(start.cut[0], "embed.position.weight (10 of its 24 positions, for 10 here)");
    EXPECT_TRUE(start.resized.empty());
}

}  // namespace
}  // namespace aft
