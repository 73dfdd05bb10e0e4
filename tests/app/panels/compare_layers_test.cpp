// Compare, layers matched: a twin whose layers stand in another order is recognised; maps, tables
// and the command follow.
#include "app/panels/shared/compare_command.h"
#include "tests/app/stage_fixture.h"
#include "tests/model/checkpoints/maps_file.h"

namespace aft::app {
namespace {

class CompareLayers : public BareTest {
  protected:
    // Layer i of the second file is layer order[i] of the first; the second may have fewer.
    void open_twins(const std::vector<size_t>& order) {
        initialize_model("cpu", 1);
        make();
        std::vector<MapsTensor> a, b;
        std::vector<nlohmann::json> about, about_b;
        for (size_t i = 0; i < 3; ++i) {
            about.push_back(map_entry("layer " + std::to_string(i), "full", {4, 4}, "none"));
            a.push_back(counted_tensor("biases." + std::to_string(i), {16, 16}));
            for (size_t k = 0; k < a[i].values.size(); ++k)
                a[i].values[k] = float((k * 37 + (i + 1) * (k % 5) * 101) % 17) - 8;
        }
        for (size_t i = 0; i < order.size(); ++i) {
            about_b.push_back(about[i]);
            b.push_back(a[order[i]]);
            b[i].name = "biases." + std::to_string(i);
        }
        first_ = (scratch_ / "a.safetensors").string();
        const std::string second = (scratch_ / "b.safetensors").string();
        put_maps(first_, maps_description(maps_of(about)), a);
        put_maps(second, maps_description(maps_of(about_b)), b);
        stage_->frame().open(first_);
        stage_->frame().open(second);
        run("frames 2\nwait Ready\nclick compare/main/below=layers\nframes 4\n");
    }
    std::string row(int layer) { return value_of("compare/main/layers:l" + std::to_string(layer)); }
    bool is_same(int layer) { return row(layer).find("+1.000") != std::string::npos; }
    std::string first_;
};

TEST_F(CompareLayers, ATwinWithItsLayersInAnotherOrderIsRecognised) {
    open_twins({2, 0, 1});
    ASSERT_TRUE(until([&] { return !row(2).empty() && row(2).back() != ' '; })) << dump(ui());
    EXPECT_FALSE(is_same(0)) << row(0);
    run("click compare/main/which_layers=matched\nframes 4\n");
    ASSERT_TRUE(until([&] { return is_same(0) && is_same(1) && is_same(2); })) << dump(ui());
    EXPECT_EQ(row(0).find("0 \u2192 1 | "), 0u) << row(0);
    EXPECT_EQ(row(1).find("1 \u2192 2 | "), 0u) << row(1);
    run("click compare/main/layers:l2\nframes 4\n");
    ASSERT_TRUE(until([&] {
        return value_of("compare/main/title_1").find("layer 0") != std::string::npos;
    })) << value_of("compare/main/title_1");
    MapsToCompare maps{.a = first_, .b = first_, .layer = 2};
    EXPECT_EQ(compare_command(maps).find("--layers"), std::string::npos);
    maps.matches_layers = true;
    EXPECT_NE(compare_command(maps).find(" --layers matched "), std::string::npos);
    run("click compare/main/which_layers=in_order\nframes 4\n");
    EXPECT_TRUE(until([&] { return !row(0).empty() && !is_same(0); })) << row(0);
}

TEST_F(CompareLayers, ALayerThatIsLeftHasNoPartner) {
    open_twins({2, 0});
    run("click compare/main/which_layers=matched\nframes 4\n");
    ASSERT_TRUE(until([&] { return is_same(0) && is_same(2); })) << dump(ui());
    EXPECT_EQ(row(1).find("1 | \u2013"), 0u) << row(1);
    run("click compare/main/layers:l1\nframes 4\n");
    EXPECT_TRUE(until([&] {
        return value_of("compare/main/no_map_1").find("No layer of this model is left") !=
               std::string::npos;
    })) << dump(ui());
}

}  // namespace
}  // namespace aft::app
