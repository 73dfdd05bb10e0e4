// Mutations of a session's commands: each of them against what the status, the curves and the run
// folder then say.
#include <algorithm>
#include <filesystem>
#include <functional>

#include "tests/mutants.h"
#include "tests/session/session_fixture.h"

namespace aft {
namespace {

using Steps = std::vector<int64_t>;

// What the window asks of a session.
struct SessionCalls {
    using Plain = std::function<void(Session&)>;
    using Numbered = std::function<void(Session&, int64_t)>;
    Plain start = [](Session& s) { s.run().start(); };
    Plain pause = [](Session& s) { s.run().pause(); };
    Plain stop = [](Session& s) { s.run().stop(); };
    Plain save = [](Session& s) { s.run().save(); };
    Numbered step = [](Session& s, int64_t n) { s.run().step(n); };
    Numbered run_until = [](Session& s, int64_t target) { s.run().run_until(target); };
    Numbered rewind = [](Session& s, int64_t to) { s.run().rewind(to); };
    Numbered keep = [](Session& s, int64_t at) { s.run().keep(at); };
    Numbered yield = [](Session& s, int64_t ms) { s.pace().yield_for_ms(ms); };
    std::function<void(Session&, const std::string&, const std::string&)> set =
        [](Session& s, const std::string& key, const std::string& value) {
            s.run().set(key, value);
        };
    std::function<void(Session&, const std::string&)> note =
        [](Session& s, const std::string& text) { s.run().note(text); };
};

// The status once all commands so far are obeyed: a setting that does not exist is refused with its
// name, in its turn. SessionCalls again where a trainer that yields has said something just
// before.
Status after_commands(Session& session) {
    static int number = 0;
    const std::string key = "fence-" + std::to_string(++number);
    const auto is_refused = [&] {
        return session.status().message.find("'" + key + "'") != std::string::npos;
    };
    constexpr int kMostTries = 10 * static_cast<int>(kHangSeconds);
    for (int i = 0; i < kMostTries && !is_refused(); ++i) {
        session.run().set(key, "1");
        static_cast<void>(wait_for(is_refused, 0.1));
    }
    EXPECT_TRUE(is_refused()) << session.status().message;
    return session.status();
}

// Once training has come to its end by itself.
Status after_training(Session& session) {
    static_cast<void>(after_commands(session));
    EXPECT_TRUE(wait_for([&] { return session.status().state != RunState::running; }));
    return after_commands(session);
}

bool is_at(const Status& status, RunState state, int64_t step) {
    return status.state == state && status.step == step;
}

bool has_event(const Session& session, const Event& wanted) {
    const auto events = session.curves()->events;
    return std::any_of(events.begin(), events.end(), [&](const Event& event) {
        return event.kind == wanted.kind && event.step == wanted.step && event.text == wanted.text;
    });
}

double loss_at(const Session& session, int64_t step) {
    return session.curves()->columns.at("loss")[static_cast<size_t>(step - 1)];
}

// Trains to step 9: run_until twice, then steps at another learning rate.
std::string how_it_trains_wrongly(Session& session, const SessionCalls& ask) {
    for (const int64_t target : {3, 6}) {
        ask.run_until(session, target);
        const Status status = after_training(session);
        if (!is_at(status, RunState::stopped, target)) return "it does not run until there";
        if (status.target_step != target) return "the target is another one";
    }
    ask.set(session, "train.learning_rate", "0.0005");
    if (after_commands(session).config.train.learning_rate != 0.0005)
        return "the setting is not set";
    if (!has_event(session, {6, "learning-rate", "train.learning_rate = 0.0005"}))
        return "the change is not in the log";
    ask.step(session, 3);
    if (!is_at(after_training(session), RunState::paused, 9)) return "it does not go three steps";
    return "";
}

// At step 9: saves and notes.
std::string how_it_notes_wrongly(Session& session, const SessionCalls& ask) {
    ask.save(session);
    if (after_commands(session).saved_step != 9) return "it is not saved";
    if (session.saved_steps() != Steps{6, 9}) return "other steps are saved";
    ask.note(session, "here");
    static_cast<void>(after_commands(session));
    return has_event(session, {9, "note", "here"}) ? "" : "the note is not in the log";
}

// From step 9 to 24 and back: what is saved at 10 would go when 20 is saved.
std::string how_it_rewinds_wrongly(Session& session, const SessionCalls& ask) {
    ask.set(session, "train.steps", "1000000");
    ask.step(session, 2);
    static_cast<void>(after_training(session));
    ask.keep(session, 10);
    ask.step(session, 13);
    if (!is_at(after_training(session), RunState::paused, 24)) return "it does not go 15 steps";
    if (session.saved_steps() != Steps{6, 9, 10, 20}) return "another step is kept";
    const double loss = loss_at(session, 11);
    ask.rewind(session, 9);
    const Status back = after_commands(session);
    if (!is_at(back, RunState::paused, 9) || back.rewinds != 1) return "it is not rewound";
    if (session.saved_steps() != Steps{6, 9}) return "saved steps that came after are there";
    if (session.curves()->step.size() != 9) return "lines that came after are there";
    const auto branch = std::filesystem::path(back.branch) / "metrics.jsonl";
    if (back.branch.empty() || !std::filesystem::exists(branch)) return "there is no branch";
    ask.step(session, 2);
    static_cast<void>(after_training(session));
    return loss_at(session, 11) == loss ? "" : "the numbers are others than the first time";
}

std::string how_it_stops_wrongly(Session& session, const SessionCalls& ask) {
    session.run().step(2);
    if (!is_at(after_training(session), RunState::paused, 2)) return "it does not go two steps";
    ask.start(session);
    static_cast<void>(after_commands(session));
    EXPECT_TRUE(wait_for([&] {  // past one step, or at rest
        return session.status().step > 3 || session.status().state != RunState::running;
    }));
    if (after_commands(session).state != RunState::running) return "it does not run on";
    ask.pause(session);
    Status paused = after_commands(session);
    if (paused.state != RunState::paused) return "it is not paused";
    if (paused.step % 10 == 0) {  // saved by its schedule: one step further
        session.run().step(1);
        static_cast<void>(after_training(session));
        ask.pause(session);
        paused = after_commands(session);
    }
    if (paused.saved_step == paused.step) return "a pause saves";
    ask.stop(session);
    const Status stopped = after_commands(session);
    if (!is_at(stopped, RunState::stopped, paused.step)) return "it is not stopped";
    if (stopped.saved_step != stopped.step) return "a stop does not save";
    ask.yield(session, 600000);
    ask.start(session);
    const Status held = after_commands(session);
    return is_at(held, RunState::running, stopped.step) ? "" : "the trainer does not wait";
}

using Part = std::string (*)(Session&, const SessionCalls&);

// The parts one after the other in one new run.
std::string what_is_obeyed_wrongly(const SessionCalls& ask, const std::vector<Part>& parts) {
    const Scratch scratch;
    OpenRequest request = new_run(scratch / "run");
    request.config->train.checkpoint_every = 10;
    request.config->train.keep_checkpoints = 1;
    TestSession session(request);
    if (!wait_state(session, RunState::ready)) return "the run does not open";
    for (const Part part : parts)
        if (const std::string words = part(session, ask); !words.empty()) return words;
    return "";
}

void nothing(Session&) {}
void no_number(Session&, int64_t) {}

template <class Command>
Mutant<SessionCalls> with(const std::string& mistake, Command SessionCalls::* member,
                          const Command& command) {
    SessionCalls ask;
    ask.*member = command;
    return {mistake, ask};
}

std::vector<Mutant<SessionCalls>> stop_mistakes() {
    using Plain = SessionCalls::Plain;
    using Numbered = SessionCalls::Numbered;
    return {
        with<Plain>("start does nothing", &SessionCalls::start, nothing),
        with<Plain>("start is one step", &SessionCalls::start, [](Session& s) { s.run().step(1); }),
        with<Plain>("pause does nothing", &SessionCalls::pause, nothing),
        with<Plain>("pause stops", &SessionCalls::pause, [](Session& s) { s.run().stop(); }),
        with<Plain>("pause saves", &SessionCalls::pause,
                    [](Session& s) {
                        s.run().pause();
                        s.run().save();
                    }),
        with<Plain>("stop does nothing", &SessionCalls::stop, nothing),
        with<Plain>("stop pauses", &SessionCalls::stop, [](Session& s) { s.run().pause(); }),
        with<Numbered>("yield does nothing", &SessionCalls::yield, no_number),
        with<Numbered>("yield pauses", &SessionCalls::yield,
                       [](Session& s, int64_t) {
                           s.run().start();
                           s.run().pause();
                       }),
    };
}

std::vector<Mutant<SessionCalls>> step_mistakes() {
    using Numbered = SessionCalls::Numbered;
    return {
        with<Numbered>("step is one step", &SessionCalls::step,
                       [](Session& s, int64_t) { s.run().step(1); }),
        with<Numbered>("step is one too many", &SessionCalls::step,
                       [](Session& s, int64_t n) { s.run().step(n + 1); }),
        with<Numbered>("step sets the target", &SessionCalls::step,
                       [](Session& s, int64_t n) { s.run().run_until(s.status().step + n); }),
        with<Numbered>("run_until does nothing", &SessionCalls::run_until, no_number),
        with<Numbered>("run_until runs so many steps more", &SessionCalls::run_until,
                       [](Session& s, int64_t n) { s.run().run_until(s.status().step + n); }),
        with<Numbered>("run_until ends one step early", &SessionCalls::run_until,
                       [](Session& s, int64_t n) { s.run().run_until(n - 1); }),
        with<Numbered>("run_until leaves the target", &SessionCalls::run_until,
                       [](Session& s, int64_t n) { s.run().step(n - s.status().step); }),
    };
}

void rewind_and_forget(Session& session, int64_t step) {
    session.run().rewind(step);
    std::filesystem::remove_all(after_commands(session).branch);
}
void rewind_and_change(Session& session, int64_t step) {
    session.run().rewind(step);
    session.run().set("train.learning_rate", "0.0004");
}

std::vector<Mutant<SessionCalls>> folder_mistakes() {
    using Numbered = SessionCalls::Numbered;
    using Setting = std::function<void(Session&, const std::string&, const std::string&)>;
    using Text = std::function<void(Session&, const std::string&)>;
    return {
        with<SessionCalls::Plain>("save does nothing", &SessionCalls::save, nothing),
        with<SessionCalls::Plain>("save stops", &SessionCalls::save,
                                  [](Session& s) { s.run().stop(); }),
        with<Numbered>("keep does nothing", &SessionCalls::keep, no_number),
        with<Numbered>("keep saves this step too", &SessionCalls::keep,
                       [](Session& s, int64_t) { s.run().keep(s.status().step); }),
        with<Numbered>("rewind does nothing", &SessionCalls::rewind, no_number),
        with<Numbered>("rewind goes to the save before", &SessionCalls::rewind,
                       [](Session& s, int64_t) { s.run().rewind(6); }),
        with<Numbered>("rewind goes to the newest save", &SessionCalls::rewind,
                       [](Session& s, int64_t) { s.run().rewind(20); }),
        with<Numbered>("rewind forgets what came after", &SessionCalls::rewind, rewind_and_forget),
        with<Numbered>("rewind continues with another learning rate", &SessionCalls::rewind,
                       rewind_and_change),
        with<Setting>("set does nothing", &SessionCalls::set,
                      [](Session&, const auto&, const auto&) {}),
        with<Setting>("set sets another setting", &SessionCalls::set,
                      [](Session& s, const auto&, const auto&) { s.run().set("train.clip", "2"); }),
        with<Setting>("set sets the value before", &SessionCalls::set,
                      [](Session& s, const std::string& key, const std::string& value) {
                          s.run().set(key, value);
                          s.run().set(key, "0.001");
                      }),
        with<Text>("note does nothing", &SessionCalls::note, [](Session&, const auto&) {}),
        with<Text>("note says something else", &SessionCalls::note,
                   [](Session& s, const std::string& text) { s.run().note(text + "."); }),
    };
}

std::string what_is_trained_wrongly(const SessionCalls& ask) {
    return what_is_obeyed_wrongly(
        ask, {how_it_trains_wrongly, how_it_notes_wrongly, how_it_rewinds_wrongly});
}

TEST(Mutants, StepCommandsAreObeyed) {
    expect_noticed(what_is_trained_wrongly, SessionCalls(), step_mistakes());
}

TEST(Mutants, FolderCommandsAreObeyed) {
    expect_noticed(what_is_trained_wrongly, SessionCalls(), folder_mistakes());
}

TEST(Mutants, StopCommandsAreObeyed) {
    const auto check = [](const SessionCalls& ask) {
        return what_is_obeyed_wrongly(ask, {how_it_stops_wrongly});
    };
    expect_noticed(check, SessionCalls(), stop_mistakes());
}

}  // namespace
}  // namespace aft
