// The trainer thread: commands, one training step at a time, and rests between them. The only place
// that catches the exceptions of a step; they become the state of the run.
#include "core/progress.h"
#include "core/system/omp_team.h"
#include "model/device.h"
#include "model/session/run.h"

namespace aft::session {

namespace {

// A request that does not fit leaves the run as it is; any other error needs the user.
bool is_harmless(CommandKind kind) {
    return kind == CommandKind::set || kind == CommandKind::note || kind == CommandKind::rewind ||
           kind == CommandKind::keep;
}

class TrainerThread {
  public:
    TrainerThread(std::stop_token stop, SessionChannels& channels, const OpenRequest& request)
        : stop_(std::move(stop)), channels_(channels), run_(channels, request) {}

    void work(bool autostart) {
        run_.publish(/*at_once=*/true);
        guarded([&] { run_.open(); });
        if (autostart && !stop_.stop_requested() && run_.status().state == RunState::ready)
            obey({CommandKind::start, 0, "", ""});
        while (!stop_.stop_requested()) {
            for (const Command& command : channels_.commands.take()) obey(command);
            guarded([&] { turn(); });
        }
        run_.end();
    }

  private:
    template <class Work>
    void guarded(const Work& work) {
        try {
            work();
        } catch (const Interrupted&) {  // the session ends: nothing is wrong
        } catch (const std::exception& error) {
            run_.set_error(plain_words(error));
            run_.publish(/*at_once=*/true);
        }
    }

    void obey(const Command& command) {
        try {
            run_.obey(command);
        } catch (const Interrupted&) {
        } catch (const std::exception& error) {
            if (is_harmless(command.kind))
                run_.set_message(plain_words(error));
            else
                run_.set_error(plain_words(error));
        }
        if (command.kind != CommandKind::stop) return;
        run_.publish(/*at_once=*/true);
        ++channels_.stops_answered;
        channels_.wake();
    }

    // Trains, follows, rests or waits.
    void turn() {
        if (run_.status().following) {
            run_.advance();
            run_.publish();
            release_omp_team();
            channels_.commands.wait(stop_, Clock::now() + std::chrono::milliseconds(300));
        } else if (run_.status().state != RunState::running) {
            run_.publish(/*at_once=*/true);
            release_omp_team();
            rest();
        } else if (const auto until = channels_.commands.yielding(); until > Clock::now()) {
            run_.publish();
            channels_.commands.wait(stop_, until);
        } else {
            run_.advance();
            run_.publish();
        }
    }

    // Until a command comes, or there is something new to show.
    void rest() {
        while (!stop_.stop_requested()) {
            if (channels_.commands.wait(stop_, run_.next_deadline())) return;
            if (stop_.stop_requested() || run_.meet_deadline()) return;
        }
    }

    std::stop_token stop_;
    SessionChannels& channels_;
    Run run_;
};

}  // namespace

void run_trainer(const std::stop_token& stop, SessionChannels& channels,
                 const OpenRequest& request) {
    use_threads(channels.all_threads);  // to the end: another number rounds differently
    TrainerThread(stop, channels, request).work(request.autostart);
}

}  // namespace aft::session
