// The order of the maps in the Atlas: by a number with the key beside each, and neighbours alike.
#include "app/panels/biases/bias_order.h"

#include <cmath>

#include "tests/app/stage_fixture.h"

namespace aft::app {
namespace {

BiasMap map_of_values(std::vector<float> values) {
    BiasMap map;
    map.rows = 1;
    map.columns = int64_t(values.size());
    map.shown = std::move(values);
    return map;
}

TEST(BiasOrder, TheLargestIsFirstAndWhatHasNoNumberIsLast) {
    const std::vector<double> keys = {1, NAN, 3, 1};
    EXPECT_EQ(largest_first(keys), (std::vector<int64_t>{2, 0, 3, 1}));
}

TEST(BiasOrder, NeighboursAreAlike) {
    const BiasMap maps[] = {map_of_values({1, 2, 3, 4}), map_of_values({4, -4, 4, -4}),
                            map_of_values({2, 4, 6, 9}), map_of_values({5, -4, 4, -4})};
    const BiasMap* const all[] = {&maps[0], &maps[1], &maps[2], &maps[3]};
    std::vector<double> keys;
    EXPECT_EQ(neighbours_alike(all, keys), (std::vector<int64_t>{2, 0, 1, 3}));
    EXPECT_TRUE(std::isnan(keys[2])) << "the first";
    EXPECT_GT(keys[0], 0.9);
    EXPECT_LT(keys[1], 0);
    EXPECT_GT(keys[3], 0.9);
}

class AtlasOrder : public BareTest {};

TEST_F(AtlasOrder, TheKeyStandsAtEachMapAndAPressChoosesWhatIsThere) {
    open_trained_run();
    stage_->set_size({2200, 1000});  // all tools have space
    run("view.workspace_biases\nframes 4\nclick atlas/main/tab\nframes 4\n");
    ASSERT_TRUE(until([&] { return value_of("atlas/main/layer_1") == "drawn"; })) << dump(ui());
    const auto left_of = [&](const char* id) { return ui().recorder.find(id)->min; };
    ProbeRequest request;
    request.probe = "formation";
    const FieldSetPtr fields = ask(request);
    ASSERT_NE(fields, nullptr);
    const std::vector<float>& numbers = fields->fields.front().values;
    for (const auto& [order, column] : {std::pair("rms", 0), {"distance", 3}}) {
        run(std::string("set atlas/main/order ") + order + "\nframes 4\n");
        const bool is_turned = numbers.at(size_t(4 + column)) > numbers.at(size_t(column));
        EXPECT_TRUE(until([&] {
            const ImVec2 first = left_of("atlas/main/layer_0"),
                         second = left_of("atlas/main/layer_1");
            return (second.y < first.y || (second.y == first.y && second.x < first.x)) == is_turned;
        })) << order;
    }
    run("set atlas/main/order position\nframes 4\n");
    EXPECT_LT(left_of("atlas/main/layer_0").x + left_of("atlas/main/layer_0").y,
              left_of("atlas/main/layer_1").x + left_of("atlas/main/layer_1").y);
}

}  // namespace
}  // namespace aft::app
