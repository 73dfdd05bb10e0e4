// The interface of the session: every method hands a command over or reads a mailbox. Nothing here
// computes or waits.
#include <ATen/Parallel.h>

#include <chrono>
#include <thread>
#include <utility>

#include "model/session.h"
#include "model/session/channels.h"

namespace aft {

using session::CommandKind;
using session::SessionChannels;

struct Session::Impl {
    SessionChannels channels;
    std::jthread trainer, worker;
};

Session::Session(OpenRequest request, std::function<void()> wake)
    : impl_(std::make_unique<Impl>()) {
    SessionChannels& channels = impl_->channels;
    channels.wake = std::move(wake);
    channels.all_threads = at::get_num_threads();
    Status opening;
    opening.state = RunState::opening;
    opening.path = request.path;
    channels.status.publish(std::make_shared<const Status>(std::move(opening)));
    channels.curves.publish(std::make_shared<const Curves>());
    channels.stored_steps.publish(std::make_shared<const session::StoredSteps>());
    impl_->worker = std::jthread([&channels, device = request.device](const std::stop_token& stop) {
        session::run_worker(stop, channels, device);
    });
    impl_->trainer = std::jthread([&channels, request](const std::stop_token& stop) {
        session::run_trainer(stop, channels, request);
    });
}

Session::~Session() {
    impl_->channels.ending.request_stop();
    impl_->trainer.request_stop();
    impl_->worker.request_stop();
    impl_->channels.slots.stop_completion();
}

Status Session::status() const {
    const SessionChannels& channels = impl_->channels;
    // Looked at first: what is published after an answer holds it.
    const bool is_stop_waiting = channels.is_stop_waiting();
    Status status = *channels.status.latest();
    const bool can_stop = status.state == RunState::ready || status.state == RunState::running ||
                          status.state == RunState::paused;
    if (is_stop_waiting && can_stop && !status.following) status.state = RunState::stopping;
    if (const auto message = channels.worker_message.latest();
        message && !message->text.empty() &&
        session::Clock::now() - message->time < std::chrono::seconds(8))
        status.message = message->text;
    return status;
}

std::shared_ptr<const Curves> Session::curves() const {
    return impl_->channels.curves.latest();
}
std::vector<int64_t> Session::history_steps() const {
    return impl_->channels.stored_steps.latest()->steps;
}
std::vector<int64_t> Session::saved_steps() const {
    return impl_->channels.stored_steps.latest()->saved;
}
RunCommands Session::run() {
    return RunCommands(impl_->channels);
}
TrainingPace Session::pace() {
    return TrainingPace(impl_->channels);
}
AnswersMissed ProbeAnswers::missed() const {
    return channels_.missed;
}

AnswersKept ProbeAnswers::kept() const {
    return {.bytes = channels_.cache.bytes(), .limit = channels_.cache.limit()};
}

ProbeAnswers Session::probes() const {
    return ProbeAnswers(impl_->channels);
}
Completions Session::completions() {
    return Completions(impl_->channels);
}
const Completions Session::completions() const {
    return Completions(impl_->channels);
}
DataItems Session::items() const {
    return DataItems(impl_->channels);
}

void RunCommands::start() {
    channels_.commands.push({CommandKind::start, 0, "", ""});
}
void RunCommands::pause() {
    channels_.commands.push({CommandKind::pause, 0, "", ""});
}
void RunCommands::step(int64_t n) {
    channels_.commands.push({CommandKind::step, n, "", ""});
}
void RunCommands::run_until(int64_t target_step) {
    channels_.commands.push({CommandKind::run_until, target_step, "", ""});
}
void RunCommands::stop() {
    ++channels_.stops_asked;
    channels_.commands.push({CommandKind::stop, 0, "", ""});
}
void RunCommands::save(const std::string& copy, int64_t ticket) {
    channels_.commands.push(
        {copy.empty() ? CommandKind::save : CommandKind::save_copy, ticket, "", copy});
}
void RunCommands::rewind(int64_t step) {
    channels_.commands.push({CommandKind::rewind, step, "", ""});
}
void RunCommands::set(const std::string& key, const std::string& value) {
    channels_.commands.push({CommandKind::set, 0, key, value});
}
void RunCommands::note(const std::string& text) {
    channels_.commands.push({CommandKind::note, 0, "", text});
}

void RunCommands::keep(int64_t step) {
    channels_.commands.push({CommandKind::keep, step, "", ""});
}

void TrainingPace::yield_for_ms(int64_t ms) {
    channels_.commands.yield_until(session::Clock::now() + std::chrono::milliseconds(ms));
}
void TrainingPace::set_share(double share) {
    channels_.commands.set_share(share);
}

FieldSetPtr ProbeAnswers::ask(const ProbeRequest& request, bool stale_ok, std::string* error) {
    if (error) error->clear();
    const auto snapshot = channels_.snapshot.latest();
    if (!snapshot) return nullptr;  // still opening
    const auto answer = channels_.cache.find(request);
    if (answer && channels_.holds(request, *answer)) {
        if (error) *error = answer->error;
        return answer->fields;
    }
    // For what is asked again there is no picture.
    const bool has_failed = answer && !answer->fields;
    if (!has_failed) ++(request.step >= 0 ? channels_.missed.of_steps : channels_.missed.of_newest);
    channels_.slots.ask(request);
    return answer && stale_ok ? answer->fields : nullptr;
}

void ProbeAnswers::cancel(const ProbeRequest& request) {
    channels_.slots.ask(request, /*is_wanted=*/false);
}

uint64_t Completions::start(CompletionRequest request) {
    return channels_.slots.complete(std::move(request));
}
void Completions::stop() {
    channels_.slots.stop_completion();
}
std::shared_ptr<const Completion> Completions::latest() const {
    return channels_.completion.latest();
}
bool Completions::is_busy(uint64_t id) const {
    return channels_.slots.is_completing(id);
}

std::shared_ptr<const DataItem> DataItems::find(const std::string& split, const std::string& path,
                                                int64_t index, ItemError* error) {
    if (error) *error = {};
    const session::ItemKey key{split, path, index};
    if (const auto found = channels_.items.find(key)) {
        if (error) *error = found->error;
        return found->item;
    }
    channels_.slots.ask(key);
    return nullptr;
}
std::shared_ptr<const DataItem> DataItems::example(const std::string& split, int64_t index,
                                                   ItemError* error) {
    return find(split, "", index, error);
}
std::shared_ptr<const DataItem> DataItems::picture(const std::string& path, ItemError* error) {
    return find("file", path, 0, error);
}
void DataItems::reload() {
    channels_.items.clear();
}

}  // namespace aft
