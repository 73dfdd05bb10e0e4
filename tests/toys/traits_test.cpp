// What the toys say of themselves is what they do: the checks of the program's own mixers, with
// every task that a toy serves and a bias of a shape that no other room has.
#include "tests/model/net/trait_checks.h"
#include "tests/toys/rooms.h"

namespace aft {
namespace {

class ToyTraits : public ::testing::Test {
  protected:
    static void SetUpTestSuite() { add_toy_rooms(); }
    // The number of nets.
    template <class Check>
    static size_t of_every_toy(const Check& check) {
        size_t nets = 0;
        for (const ModelConfig& model : tiny_models(true, true)) {
            if (!model.mixer.starts_with("toy-")) continue;
            SCOPED_TRACE(model.mixer + " " + model.task);
            check(tiny_net(model), mixer_traits(model));
            ++nets;
        }
        return nets;
    }
};

TEST_F(ToyTraits, TheBiasIsLaidOutAsTheySay) {
    EXPECT_EQ(of_every_toy(check_bias), 3u) << "image, text and classify";
}

TEST_F(ToyTraits, ABiasOfEachHeadIsSeen) {
    EXPECT_GT(of_every_toy([](const Net& net, const MixerTraits& traits) {
                  const int64_t T = net.config().tokens();
                  EXPECT_EQ(traits.heads, 2);
                  EXPECT_EQ(net.mixer(0).bias(T)->sizes().vec(), (std::vector<int64_t>{2, T, T}));
              }),
              0u);
}

TEST_F(ToyTraits, GatesKeysAndAttentionAreThereAsTheySay) {
    EXPECT_GT(of_every_toy(check_views), 0u);
}

TEST_F(ToyTraits, TheDecoderIsTheOneTheySay) {
    EXPECT_GT(of_every_toy(check_decoder), 0u);
}

TEST_F(ToyTraits, TasksSayTheirMetricAndTheirTokens) {
    size_t toys = 0;
    for (const TaskRoom& room : tasks()) {
        if (!room.info.name.starts_with("toy-")) continue;
        check_task(room);
        ++toys;
    }
    EXPECT_GT(toys, 0u);
}

}  // namespace
}  // namespace aft
