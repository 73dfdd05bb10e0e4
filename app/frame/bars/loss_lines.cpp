#include "app/frame/bars/loss_lines.h"

#include <fmt/format.h>

#include "app/widgets/text.h"
#include "viz/label_color.h"

namespace aft::app {

namespace {

constexpr float kReachedArea = 0.30F, kLaterArea = 0.13F;  // opacity, before and after the handle

// One point per pixel column is all that shows.
std::vector<ImVec2> points_of(const LossTrack& kept, const TimelineTrack& track,
                              const LossRange& range, const DrawContext& ui) {
    std::vector<ImVec2> points;
    const double low = range.low, span = range.high > low ? range.high - low : 1;
    for (size_t i = 0; i < kept.means().size(); ++i) {
        const LossTrack::Mean& mean = kept.means()[i];
        if (mean.count == 0) continue;
        const double share = (mean.sum / static_cast<double>(mean.count) - low) / span;
        const float y =
            track.b.y - ui.px(2) - static_cast<float>(share) * (track.b.y - track.a.y - ui.px(6));
        points.emplace_back(track.a.x + static_cast<float>(i), y);
    }
    return points;
}

}  // namespace

double track_end(double reached, double target) {
    constexpr double kLeastShare = 0.2, kFree = 1.1;
    const double whole = std::max({reached, target, 1.0});
    if (reached <= 0 || reached >= kLeastShare * whole) return whole;
    for (double decade = 1;; decade *= 10)
        for (const double digit : {1.0, 2.0, 5.0})
            if (digit * decade >= reached * kFree) return std::min(digit * decade, whole);
}

double LossLines::axis_end(const ModelView& ui) const {
    const double logged = ui.curves->step.empty() ? 0 : ui.curves->step.back();
    double reached = std::max(logged, static_cast<double>(ui.status.step));
    for (const TwinRun& twin : twins_.runs())
        if (!twin.step.empty()) reached = std::max(reached, twin.step.back());
    return track_end(reached, static_cast<double>(ui.status.target_step));
}

void LossLines::draw(PaneContext& ui, const TimelineTrack& track, double handle) {
    const NumberColumn* const loss = loss_column(ui.status.task, *ui.curves);
    const LossTrack::TrackPlace place{track.last,
                                      std::max(2, static_cast<int>(track.b.x - track.a.x))};
    LossRange range;
    const auto take = [&](LossTrack& kept, const NumberColumn& step, const NumberColumn& values) {
        if (kept.refresh(step, values, place)) ui.want_frames(2);
        range.low = std::min(range.low, kept.low());
        range.high = std::max(range.high, kept.high());
    };
    const bool has_own = loss != nullptr && loss->size() >= 2;
    if (has_own) take(own_, ui.curves->step, *loss);
    tracks_.resize(twins_.runs().size());
    for (size_t i = 0; i < tracks_.size(); ++i) {
        const TwinRun& twin = twins_.runs()[i];
        take(tracks_[i], twin.step, twin.loss);
    }
    if (has_own) draw_own(ui, track, handle, range);
    draw_twins(ui, track, range);
}

void LossLines::draw_own(const PaneContext& ui, const TimelineTrack& track, double handle,
                         const LossRange& range) {
    const std::vector<ImVec2> points = points_of(own_, track, range, ui);
    if (points.size() < 2) return;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const float split = track.x(handle);
    for (size_t i = 1; i < points.size(); ++i) {
        const ImU32 ground =
            with_alpha(ui.theme.text3, points[i].x <= split ? kReachedArea : kLaterArea);
        draw->AddQuadFilled(points[i - 1], points[i], {points[i].x, track.b.y},
                            {points[i - 1].x, track.b.y}, ground);
    }
    draw->AddPolyline(points.data(), static_cast<int>(points.size()), ui.theme.text3, 0,
                      ui.px(1.5f));
}

// The newest has the first colour; names stand at the track's right end.
void LossLines::draw_twins(PaneContext& ui, const TimelineTrack& track, const LossRange& range) {
    std::string names;
    // The area of the own loss may stand behind the names.
    const ImU32 ground = mix(ui.theme.bar, ui.theme.text3, kReachedArea);
    float right = track.b.x;
    for (size_t i = 0; i < tracks_.size(); ++i) {
        const std::vector<ImVec2> points = points_of(tracks_[i], track, range, ui);
        const ImU32 color = ui.theme.series[(i + 1) % ui.theme.series.size()];
        if (points.size() < 2) continue;
        ImGui::GetWindowDrawList()->AddPolyline(points.data(), static_cast<int>(points.size()),
                                                color, 0, ui.px(1));
        const std::string& name = twins_.runs()[i].name;
        names += (names.empty() ? "" : ", ") + name;
        const float wide = text_extent(ui, name, text_size::hint).x;
        if (right - wide < track.a.x + (track.b.x - track.a.x) / 2) continue;
        text_right(ui, {right, track.a.y - ui.px(2)}, name,
                   {text_size::hint, viz::label_color(ui.theme, color, ground)});
        right -= wide + ui.px(10);
    }
    if (!names.empty()) ui.recorder.item("value", ui.recorder.claim("Twins##twins"), names);
}

}  // namespace aft::app
