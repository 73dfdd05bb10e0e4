// What jobs give a model to look at: a picture file, a text, or an example of a data source, as
// tokens. Any thread; blocks on files. Errors name the file, flag or key.
#pragma once
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "model/checkpoints/checkpoint.h"
#include "model/data/chosen.h"

namespace aft {

struct InputRequest {
    std::string image, text, data;  // at most one
    int64_t index = 0;              // of data; its part: ?split=..., else test
    // None of the three: of the data that the model was trained on.
    std::stop_token stop{};  // looked at while the data are listed: then Interrupted
};

struct InputTokens {
    std::vector<uint8_t> tokens;
    std::string note;  // "picture.png", "cifar10:... test 3"; a cut is said here
};

[[nodiscard]] std::vector<uint8_t> alphabet_of(const Checkpoint& checkpoint);
// Empty: its data have no names of classes.
[[nodiscard]] std::vector<std::string> class_names_of(const Checkpoint& checkpoint);
// The SPEC that is asked for; "" = that of the data which the model was trained on: usage Error
// where it names none.
[[nodiscard]] std::string data_or_own(const Checkpoint& checkpoint, const std::string& asked);
// Examples of a data source (data_or_own) for a model; the source is opened once. The checkpoint
// outlives it.
class ExampleReader {
  public:
    // stop: gives up while the data are listed, with Interrupted.
    ExampleReader(const Checkpoint& checkpoint, const std::string& data,
                  const std::stop_token& stop);
    ~ExampleReader();
    [[nodiscard]] InputTokens at(int64_t index) const;
    [[nodiscard]] int64_t size() const;  // examples of the part that is read
    // So many of them in a row from `first` on; first -1: spread over the part, from 0 on. usage
    // Error where there are fewer.
    [[nodiscard]] ChosenExamples choose(int64_t first, int64_t count) const;

  private:
    struct Opened;
    std::unique_ptr<const Opened> opened_;
};
[[nodiscard]] InputTokens read_input(const Checkpoint& checkpoint, const InputRequest& request);

}  // namespace aft
