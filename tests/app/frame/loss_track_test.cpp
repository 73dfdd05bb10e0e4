// The loss of the timeline: one mean per pixel column, whatever the order of rows and places.
#include <gtest/gtest.h>

#include <cmath>

#include "app/frame/bars/loss_lines.h"
#include "app/frame/bars/loss_track.h"
#include "core/rng.h"

namespace aft::app {
namespace {

struct Rows {
    NumberColumn step, loss;
    void add(size_t count) {
        for (size_t i = 0; i < count; ++i) {
            const size_t row = step.size();
            step.push_back(static_cast<double>(row + 1));
            loss.push_back(row % 7 == 3 ? std::nan("") : 1 + rng.uniform());
        }
    }
    CounterRng rng{1, 0};
};

std::vector<LossTrack::Mean> means_of(const Rows& rows, const LossTrack::TrackPlace& place) {
    std::vector<LossTrack::Mean> out(size_t(place.pixels));
    for (size_t i = 0; i < rows.step.size(); ++i) {
        if (std::isnan(rows.loss[i])) continue;
        auto& mean = out[static_cast<size_t>(rows.step[i] / place.last * (place.pixels - 1))];
        mean.sum += rows.loss[i];
        ++mean.count;
    }
    return out;
}

void expect_same(const LossTrack& track, const Rows& rows, const LossTrack::TrackPlace& place,
                 double within) {
    const auto expected = means_of(rows, place);
    ASSERT_EQ(track.means().size(), expected.size());
    for (size_t i = 0; i + 1 < expected.size(); ++i) {  // the last pixel column has the last step
        const auto& mean = track.means()[i];
        ASSERT_GT(mean.count, 0u) << i;
        EXPECT_NEAR(mean.sum / double(mean.count), expected[i].sum / double(expected[i].count),
                    within)
            << i;
    }
}

TEST(LossTrack, TheTrackEndsAtTheTargetUnlessThatIsFarAway) {
    EXPECT_EQ(track_end(0, 1000), 1000) << "nothing is trained";
    EXPECT_EQ(track_end(300, 1000), 1000);
    EXPECT_EQ(track_end(200, 1000), 1000);
    EXPECT_EQ(track_end(300, 1000000), 500);
    EXPECT_EQ(track_end(460, 1000000), 1000) << "a tenth is free";
    EXPECT_EQ(track_end(1000, 600), 1000);
    EXPECT_EQ(track_end(0, 0), 1);
    for (double step = 1; step < 1e6; step *= 1.3) {
        EXPECT_GE(track_end(step, 1e6), step);
        EXPECT_GE(step / track_end(step, 1e6), 0.2 * (1 - 1e-9)) << step;
    }
}

TEST(LossTrack, TakesRowsAsTheyComeAndKeepsThemAtAnotherPlace) {
    Rows rows;
    LossTrack track;
    const LossTrack::TrackPlace wide{5000, 100}, narrow{5000, 40};
    for (int turn = 0; turn < 5; ++turn) {
        rows.add(1000);
        EXPECT_FALSE(track.refresh(rows.step, rows.loss, wide));
    }
    expect_same(track, rows, wide, 1e-12);
    EXPECT_FALSE(track.refresh(rows.step, rows.loss, narrow));
    expect_same(track, rows, narrow, 1e-12);
    EXPECT_GE(track.low(), 1);
    EXPECT_LE(track.high(), 2);
}

TEST(LossTrack, LongRunsTakeSeveralFramesAndAResizeNone) {
    Rows rows;
    rows.add(200000);
    LossTrack track;
    const LossTrack::TrackPlace place{200000, 100};
    size_t frames = 1;
    while (track.refresh(rows.step, rows.loss, place)) ++frames;
    EXPECT_EQ(frames, (200000 + kRowsPerFrame - 1) / kRowsPerFrame);
    // 2000 rows a pixel column, of which a wide bin may give 64 to the next one.
    expect_same(track, rows, place, 64.0 / 2000);
    const LossTrack::TrackPlace other{200000, 50};
    EXPECT_FALSE(track.refresh(rows.step, rows.loss, other));
    expect_same(track, rows, other, 64.0 / 4000);
}

TEST(LossTrack, AnotherRunBeginsAnew) {
    Rows rows, others;
    rows.add(500);
    others.add(300);
    LossTrack track;
    (void)track.refresh(rows.step, rows.loss, {500, 20});
    (void)track.refresh(others.step, others.loss, {300, 20});
    expect_same(track, others, {300, 20}, 1e-12);
}

}  // namespace
}  // namespace aft::app
