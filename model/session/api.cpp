// The door: every method hands a wish over or reads a mailbox. Nothing here computes or waits.
#include "model/session.h"

#include <ATen/Parallel.h>

#include <thread>

#include "model/session/channels.h"

namespace aft {

using session::Command;

struct Session::Parts {
    session::Shared shared;
    std::jthread trainer, worker;
};

Session::Session(OpenRequest request, std::function<void()> wake)
    : parts_(std::make_unique<Parts>()) {
    session::Shared& shared = parts_->shared;
    shared.wake = std::move(wake);
    shared.all_threads = at::get_num_threads();
    Status opening;
    opening.state = RunState::opening;
    opening.path = request.path;
    shared.status.publish(std::make_shared<const Status>(std::move(opening)));
    shared.curves.publish(std::make_shared<const Curves>());
    shared.moments.publish(std::make_shared<const session::Moments>());
    parts_->worker = std::jthread([&shared, device = request.device](const std::stop_token& stop) {
        session::run_worker(stop, shared, device);
    });
    parts_->trainer = std::jthread([&shared, request](const std::stop_token& stop) {
        session::run_trainer(stop, shared, request);
    });
}

Session::~Session() {
    parts_->trainer.request_stop();
    parts_->worker.request_stop();
    parts_->shared.slots.stop_completion();
}

void Session::start() {
    parts_->shared.commands.push({Command::Kind::start, 0, "", ""});
}
void Session::pause() {
    parts_->shared.commands.push({Command::Kind::pause, 0, "", ""});
}
void Session::step(int64_t n) {
    parts_->shared.commands.push({Command::Kind::step, n, "", ""});
}
void Session::run_until(int64_t target_step) {
    parts_->shared.commands.push({Command::Kind::run_until, target_step, "", ""});
}
void Session::stop() {
    ++parts_->shared.stops_asked;
    parts_->shared.commands.push({Command::Kind::stop, 0, "", ""});
}
void Session::save() {
    parts_->shared.commands.push({Command::Kind::save, 0, "", ""});
}
void Session::rewind(int64_t step) {
    parts_->shared.commands.push({Command::Kind::rewind, step, "", ""});
}
void Session::set(const std::string& key, const std::string& value) {
    parts_->shared.commands.push({Command::Kind::set, 0, key, value});
}
void Session::note(const std::string& text) {
    parts_->shared.commands.push({Command::Kind::note, 0, "", text});
}
void Session::yield_for_ms(int64_t ms) {
    parts_->shared.commands.yield_until(session::Clock::now() + std::chrono::milliseconds(ms));
}
void Session::set_share(double share) {
    parts_->shared.commands.set_share(share);
}

Status Session::status() const {
    // Looked at first: what is published after an answer holds it.
    const bool is_stop_waiting = parts_->shared.is_stop_waiting();
    Status status = *parts_->shared.status.latest();
    const bool can_stop = status.state == RunState::ready || status.state == RunState::running ||
                          status.state == RunState::paused;
    if (is_stop_waiting && can_stop && !status.following) status.state = RunState::stopping;
    if (const auto message = parts_->shared.worker_message.latest();
        message && session::Clock::now() - message->time < std::chrono::seconds(8))
        status.message = message->text;
    return status;
}

std::shared_ptr<const Curves> Session::curves() const {
    return parts_->shared.curves.latest();
}

std::vector<int64_t> Session::history_steps() const {
    return parts_->shared.moments.latest()->steps;
}

std::vector<int64_t> Session::saved_steps() const {
    return parts_->shared.moments.latest()->saved;
}

FieldSetPtr Session::ask(const ProbeRequest& request, bool stale_ok, std::string* error) {
    session::Shared& shared = parts_->shared;
    if (error) error->clear();
    const auto snapshot = shared.snapshot.latest();
    if (!snapshot) return nullptr;  // still opening
    const auto answer = shared.cache.find(request);
    if (answer && shared.holds(request, *answer)) {
        if (error) *error = answer->error;
        return answer->fields;
    }
    shared.slots.ask(request);
    return answer && stale_ok ? answer->fields : nullptr;
}

uint64_t Session::complete(CompletionRequest request) {
    return parts_->shared.slots.complete(std::move(request));
}

void Session::stop_completion() {
    parts_->shared.slots.stop_completion();
}

std::shared_ptr<const Completion> Session::completion() const {
    return parts_->shared.completion.latest();
}

namespace {

std::shared_ptr<const DataItem> find_item(session::Shared& shared, const session::ItemKey& key,
                                          ItemError* error) {
    if (error) *error = {};
    if (const auto found = shared.items.find(key)) {
        if (error) *error = found->error;
        return found->item;
    }
    shared.slots.ask(key);
    return nullptr;
}

}  // namespace

std::shared_ptr<const DataItem> Session::data_item(const std::string& split, int64_t index,
                                                   ItemError* error) {
    return find_item(parts_->shared, {split, "", index}, error);
}

std::shared_ptr<const DataItem> Session::image_item(const std::string& path, ItemError* error) {
    return find_item(parts_->shared, {"file", path, 0}, error);
}

void Session::reload_items() {
    parts_->shared.items.clear();
}

}  // namespace aft
