// Mutations of what a session publishes: its step, state, curves and answers, against what lies on
// the disk.
#include <algorithm>
#include <functional>

#include "model/checkpoints/checkpoint.h"
#include "tests/mutants.h"
#include "tests/session/session_fixture.h"

namespace aft {
namespace {

// What readers see of a session.
struct PublishedView {
    std::function<Status(const Session&)> status = [](const Session& s) { return s.status(); };
    std::function<Curves(const Session&)> curves = [](const Session& s) { return *s.curves(); };
    std::function<std::vector<float>(Session&)> bias = [](Session& s) {
        const FieldSetPtr fields = answer(s, probe("bias"), nullptr, false);
        return fields == nullptr ? std::vector<float>{} : fields->fields[0].values;
    };
};

// Five steps, a rest, one more: everything that is published is of the same step.
std::string what_is_published_wrongly(const PublishedView& view) {
    const Scratch scratch;
    const std::string run = scratch / "run";
    std::vector<float> live, before;
    {
        TestSession session(new_run(run));
        for (const int64_t target : {5, 6}) {
            session.run().run_until(target);
            if (!wait_for([&] {
                    return session.status().step == target &&
                           session.status().state == RunState::stopped;
                }))
                return "the run does not stop";
            const Status status = view.status(session);
            if (status.state != RunState::stopped) return "the state is another one";
            if (status.step != target) return "the step is not the one that is done";
            if (status.saved_step != target) return "what is saved is not named";
            const Curves curves = view.curves(session);
            if (int64_t(curves.step.size()) != target) return "the curves have other lines";
            for (int64_t i = 0; i < target; ++i)
                if (curves.step[size_t(i)] != double(i + 1)) return "a line of the curves is wrong";
            if (curves.columns.at("loss").back() != status.loss)
                return "the loss is not that of the last line";
            before = live;
            live = view.bias(session);
        }
    }
    if (live == before) return "the answer is that of an older step";
    PublishedView real;
    TestSession reopened(open_path(run));
    if (!wait_state(reopened, RunState::ready)) return "the run does not open";
    return real.bias(reopened) == live ? "" : "the answer is not that of the saved weights";
}

Mutant<PublishedView> with_status(const std::string& name,
                                  const std::function<void(Status&)>& change) {
    PublishedView view;
    view.status = [change](const Session& session) {
        Status status = session.status();
        change(status);
        return status;
    };
    return {name, view};
}

Mutant<PublishedView> with_curves(const std::string& name,
                                  const std::function<void(Curves&)>& change) {
    PublishedView view;
    view.curves = [change](const Session& session) {
        Curves curves = *session.curves();
        change(curves);
        return curves;
    };
    return {name, view};
}

void rewrite_all(Curves& curves, const std::function<void(std::vector<double>&)>& change) {
    rewrite(curves.step, change);
    for (auto& [name, column] : curves.columns) rewrite(column, change);
}
void drop_last(Curves& curves) {
    rewrite_all(curves, [](std::vector<double>& values) { values.pop_back(); });
}
void repeat_last(Curves& curves) {
    rewrite_all(curves, [](std::vector<double>& values) { values.push_back(values.back()); });
}
void number_late(Curves& curves) {
    rewrite(curves.step, [](std::vector<double>& steps) {
        for (double& step : steps) --step;
    });
}

TEST(Mutants, SessionMistakesAreNoticed) {
    PublishedView older;  // answers once and for all
    const auto kept = std::make_shared<std::vector<float>>();
    older.bias = [kept](Session& session) {
        if (kept->empty()) *kept = PublishedView().bias(session);
        return *kept;
    };
    PublishedView other_layer;
    other_layer.bias = [](Session& session) {
        const FieldSetPtr fields = answer(session, probe("bias", 1), nullptr, false);
        return fields == nullptr ? std::vector<float>{} : fields->fields[0].values;
    };
    expect_noticed(
        what_is_published_wrongly, PublishedView(),
        {with_status("publishes before the step is applied", [](Status& s) { ++s.step; }),
         with_status("publishes a step late", [](Status& s) { --s.step; }),
         with_status("says it runs when it rests", [](Status& s) { s.state = RunState::running; }),
         with_status("says it rests where it has stopped",
                     [](Status& s) { s.state = RunState::paused; }),
         with_status("does not name what is saved", [](Status& s) { s.saved_step = -1; }),
         with_status("the loss of no step", [](Status& s) { s.loss = NAN; }),
         with_curves("the last line is missing", drop_last),
         with_curves("a line twice", repeat_last),
         with_curves("lines one step late", number_late),
         {"answers of an older step", older},
         {"answers of another layer", other_layer}});
}

}  // namespace
}  // namespace aft
