#include "app/panels/compare/compare_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/caught.h"
#include "core/text.h"
#include "model/jobs/summary.h"
#include "model/system.h"

namespace aft::app {

namespace {

constexpr double kGrowingAge = 4;  // seconds until a run that is being trained is looked at again

std::string reading_words(const std::string& path, const std::optional<ProbeRequest>& request) {
    if (!request) return "Reading " + shown_name(path);
    std::string words = fmt::format("Reading layer {} of {}", request->layer, shown_name(path));
    if (request->step >= 0) words += ", step " + group_thousands(request->step);
    return words;
}

}  // namespace

size_t CompareReader::StoredAnswer::bytes() const {
    size_t bytes = 0;
    if (fields)
        for (const Field& field : fields->fields) bytes += field.values.size() * sizeof(float);
    return bytes;
}

size_t CompareReader::bytes() const {
    size_t bytes = 0;
    for (const StoredAnswer& answer : answers_) bytes += answer.bytes();
    return bytes;
}

// What is asked for in this frame stays; what is missing is put on the list.
const CompareReader::StoredAnswer* CompareReader::find(const StoredQuestion& question) {
    const auto found =
        std::find_if(answers_.begin(), answers_.end(),
                     [&](const StoredAnswer& answer) { return answer.question == question; });
    const bool is_there = found != answers_.end();
    if (is_there) {
        found->used = frame_;
        answers_.splice(answers_.begin(), answers_, found);
    }
    if ((!is_there || found->is_stale) &&
        std::find(wanted_.begin(), wanted_.end(), question) == wanted_.end())
        wanted_.push_back(question);
    return is_there ? &*found : nullptr;
}

std::shared_ptr<const StoredModel> CompareReader::model(const std::string& path,
                                                        std::string& error) {
    const StoredAnswer* const answer = find({.path = path, .request = {}});
    if (answer == nullptr) return nullptr;
    error = answer->error;
    return answer->model;
}

FieldSetPtr CompareReader::biases(const std::string& path, const ProbeRequest& request,
                                  std::string& error) {
    const StoredAnswer* const answer = find({.path = path, .request = request});
    if (answer == nullptr) return nullptr;
    error = answer->error;
    return answer->fields;
}

CompareReader::StoredAnswer CompareReader::read(StoredBiases& biases, StoredQuestion question,
                                                const std::stop_token& stop) {
    StoredAnswer answer;
    answer.error = error_words(
        [&] {
            if (!question.request) {
                answer.model = std::make_shared<const StoredModel>(stored_model(question.path));
                return;
            }
            JobControl control;
            control.stop = stop;
            answer.fields = std::make_shared<const FieldSet>(
                biases.ask(question.path, *question.request, control));
        },
        plain_words);
    answer.question = std::move(question);
    return answer;
}

void CompareReader::take(double now) {
    const auto newest = work_.latest();
    if (!newest || newest->id == taken_) return;
    taken_ = newest->id;
    std::erase_if(answers_,
                  [&](const StoredAnswer& answer) { return answer.question == newest->question; });
    answers_.push_front(*newest);
    answers_.front().read_at = now;
    answers_.front().used = frame_;
}

void CompareReader::begin(double now) {
    for (StoredAnswer& answer : answers_)
        answer.is_stale =
            answer.is_stale || (answer.used == frame_ && answer.model && answer.model->is_growing &&
                                now - answer.read_at > kGrowingAge);
    if (wanted_.empty()) return;
    // Descriptions first: they are read in no time and say what else can be asked for.
    const auto first = std::find_if(wanted_.begin(), wanted_.end(),
                                    [](const StoredQuestion& q) { return !q.request; });
    const StoredQuestion question = first != wanted_.end() ? *first : wanted_.front();
    words_ = reading_words(question.path, question.request);
    const uint64_t id = ++asked_;
    work_.start([question, id, biases = biases_](const auto& publish, const std::stop_token& stop) {
        StoredAnswer answer = read(*biases, question, stop);
        answer.id = id;
        publish(std::move(answer));
    });
}

void CompareReader::drop_old() {
    size_t bytes = 0;
    for (auto it = answers_.begin(); it != answers_.end();) {
        bytes += it->bytes();
        const bool is_old = it->used != frame_ && (bytes > kMostBytes || answers_.size() > 512);
        it = is_old ? answers_.erase(it) : std::next(it);
    }
}

void CompareReader::update(double now) {
    if (!work_.is_busy()) {
        take(now);
        std::erase_if(wanted_, [&](const StoredQuestion& question) {
            return std::any_of(answers_.begin(), answers_.end(), [&](const StoredAnswer& answer) {
                return answer.question == question && !answer.is_stale;
            });
        });
        begin(now);
    }
    drop_old();
    wanted_.clear();
    ++frame_;
}

void CompareReader::forget(const std::string& path) {
    std::erase_if(answers_,
                  [&](const StoredAnswer& answer) { return answer.question.path == path; });
}

}  // namespace aft::app
