// The words that name data: cut into parts and put together again.
#include "core/data_spec.h"

#include <gtest/gtest.h>

namespace aft {
namespace {

TEST(DataSpec, HasThreeParts) {
    const DataSpec spec = split_data_spec("cifar10:data/cifar10?size=16&levels=32");
    EXPECT_EQ(spec.room, "cifar10");
    EXPECT_EQ(spec.path, "data/cifar10");
    EXPECT_EQ(spec.options, "?size=16&levels=32");
    EXPECT_EQ(split_data_spec("mirror?size=8").path, "");
    EXPECT_EQ(split_data_spec("text:a:b").path, "a:b");
    EXPECT_EQ(split_data_spec("").room, "");
}

TEST(DataSpec, APathMayHoldAQuestionMark) {
    const DataSpec spec = split_data_spec("text:what?.txt");
    EXPECT_EQ(spec.path, "what?.txt");
    EXPECT_EQ(spec.options, "");
    EXPECT_EQ(split_data_spec("text:what?.txt?length=64").path, "what?.txt");
    EXPECT_EQ(split_data_spec("text:what?.txt?length=64").options, "?length=64");
}

TEST(DataSpec, PutTogetherItIsTheSame) {
    for (const char* text : {"mirror", "mirror?size=8", "cifar10:data/cifar10", "text:a b/c?.txt",
                             "text:a?length=4", "pictures:/x/y?size=16&grey=1"})
        EXPECT_EQ(split_data_spec(text).text(), text);
}

TEST(DataSpec, KeepsTheUsualOptionsThatItDoesNotName) {
    const char* const usual = "images:data/imagenet?size=224&crop=0.875";
    EXPECT_EQ(with_usual_options("images:mine", usual), "images:mine?size=224&crop=0.875");
    EXPECT_EQ(with_usual_options("images:mine?crop=1&holdout=5", usual),
              "images:mine?crop=1&holdout=5&size=224");
    EXPECT_EQ(with_usual_options("shards:mine", usual), "shards:mine");
    EXPECT_EQ(with_usual_options("cifar10:mine", usual), "cifar10:mine") << "other data";
    EXPECT_EQ(with_usual_options("cifar10:mine", "cifar10:data/cifar10"), "cifar10:mine");
    EXPECT_EQ(with_usual_options("images:mine", usual, {"size"}), "images:mine?crop=0.875");
    EXPECT_EQ(with_usual_options("images:what?.d", usual), "images:what?.d?size=224&crop=0.875");
}

}  // namespace
}  // namespace aft
