// CompareReader: what the slots of Compare show of stored models: their descriptions and position
// biases, read one after the other by a thread of its own. Answers are kept as long as they are
// shown, and beyond that up to kMostBytes. Window thread; every method returns at once.
#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/state/background.h"
#include "model/jobs/stored_biases.h"

namespace aft::app {

class CompareReader {
  public:
    static constexpr size_t kMostBytes = size_t{256} << 20;  // of values that nobody shows

    // Null: it is being read, or `error` has the words. What grows is read again by and by.
    [[nodiscard]] std::shared_ptr<const StoredModel> model(const std::string& path,
                                                           std::string& error);
    [[nodiscard]] FieldSetPtr biases(const std::string& path, const ProbeRequest& request,
                                     std::string& error);
    // Once a frame, after all questions: takes what has come and begins the next question.
    void update(double now);
    void forget(const std::string& path);  // all of it is read anew
    [[nodiscard]] bool is_reading() const { return work_.is_busy(); }
    [[nodiscard]] const std::string& words() const { return words_; }  // "Reading layer 7 of NAME"
    [[nodiscard]] size_t bytes() const;

  private:
    struct StoredQuestion {
        std::string path;
        std::optional<ProbeRequest> request;  // none: the description
        [[nodiscard]] bool operator==(const StoredQuestion&) const = default;
    };
    struct StoredAnswer {
        uint64_t id = 0;
        StoredQuestion question;
        std::shared_ptr<const StoredModel> model;
        FieldSetPtr fields;
        std::string error;
        double read_at = 0;     // seconds of the window's clock
        uint64_t used = 0;      // in which frame
        bool is_stale = false;  // shown until it has been read again
        [[nodiscard]] size_t bytes() const;
    };
    [[nodiscard]] const StoredAnswer* find(const StoredQuestion& question);
    void take(double now);
    void begin(double now);
    void drop_old();
    [[nodiscard]] static StoredAnswer read(StoredBiases& biases, StoredQuestion question,
                                           const std::stop_token& stop);

    std::list<StoredAnswer> answers_;  // newest use first
    std::vector<StoredQuestion> wanted_;
    uint64_t frame_ = 1, asked_ = 0, taken_ = 0;
    std::string words_;
    std::shared_ptr<StoredBiases> biases_ = std::make_shared<StoredBiases>();
    Background<StoredAnswer> work_;  // the last: it ends before what it uses
};

}  // namespace aft::app
