// The rows that attention reads again while it decodes, over several growths of their storage.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "model/mixers/attention_layer.h"

namespace aft {
namespace {

TEST(TokenRows, HoldWhatWasAppendedWhereverTheyGrow) {
    constexpr int64_t kRows = 300;  // beyond the first storage and two doublings
    const at::Tensor all = at::randn({3, 2, kRows, 4});
    TokenRows rows(3, 2, 4, all.options());
    for (int64_t t = 0; t < kRows; ++t) {
        rows.append(all.narrow(2, t, 1), t);
        ASSERT_TRUE(at::equal(rows.first(t + 1), all.narrow(2, 0, t + 1))) << t;
    }
}

TEST(TokenRows, ACloneGoesItsOwnWayAndExamplesAreChosen) {
    const at::Tensor all = at::randn({3, 2, 5, 4});
    TokenRows rows(3, 2, 4, all.options());
    for (int64_t t = 0; t < 5; ++t) rows.append(all.narrow(2, t, 1), t);
    TokenRows other = rows.clone();
    other.append(at::zeros({3, 2, 1, 4}), 4);
    EXPECT_TRUE(at::equal(rows.first(5), all));
    EXPECT_TRUE(at::equal(other.first(5).select(2, 4), at::zeros({3, 2, 4})));
    const at::Tensor chosen = at::tensor({2, 2, 0}, at::kLong);
    rows.select(chosen);
    EXPECT_TRUE(at::equal(rows.first(5), all.index_select(0, chosen)));
}

}  // namespace
}  // namespace aft
