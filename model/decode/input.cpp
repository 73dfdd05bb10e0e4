#include "model/decode/input.h"

#include "core/check.h"
#include "core/images/image.h"
#include "core/outside.h"
#include "model/data/loader.h"
#include "model/decode/picture.h"

namespace aft {

struct ExampleReader::Opened {
    std::string data;
    std::vector<uint8_t> alphabet;
    std::unique_ptr<DataSource> source;
    Split split = Split::test;
};

std::string data_or_own(const Checkpoint& checkpoint, const std::string& asked) {
    const std::string& own = checkpoint.config.data.source;
    check_has_task(checkpoint.config.model);
    if (asked.empty() && own.empty())
        fail_usage("{}: names no data that it was trained on; --data SPEC says which to take",
                   shown_path(checkpoint.path));
    return asked.empty() ? own : asked;
}

ExampleReader::ExampleReader(const Checkpoint& checkpoint, const std::string& asked,
                             const std::stop_token& stop) {
    const std::string data = data_or_own(checkpoint, asked);
    const Spec spec = parse_spec(data, stop);
    auto opened = std::make_unique<Opened>();
    opened->data = data;
    opened->alphabet = alphabet_of(checkpoint);
    opened->source = open_for_model(spec, static_cast<uint64_t>(checkpoint.config.train.seed),
                                    checkpoint.config.model,
                                    {.alphabet = opened->alphabet, .ignores_labels = true});
    opened->split = split_of(spec, *opened->source);
    opened_ = std::move(opened);
}

ExampleReader::~ExampleReader() = default;

int64_t ExampleReader::size() const {
    return opened_->source->size(opened_->split);
}

ChosenExamples ExampleReader::choose(int64_t first, int64_t count) const {
    const int64_t all = size(), most = all - std::max<int64_t>(first, 0);
    if (count > most && most > 0)
        fail_usage("--limit {}: '{}' has {} examples{} in its {} part", count, opened_->data, most,
                   first > 0 ? fmt::format(" from {} on", first) : "", split_name(opened_->split));
    // Where there is nothing at all, reading the first one says so.
    return {.size = all, .count = count, .first = most > 0 ? first : std::max<int64_t>(first, 0)};
}

InputTokens ExampleReader::at(int64_t index) const {
    const auto& [data, alphabet, source, split] = *opened_;
    const DataInfo& info = source->info();
    const int64_t size = source->size(split);
    if (size == 0 && info.is_text) fail_usage("'{}' {}", data, why_too_short(*source, split));
    if (size == 0) fail_usage("'{}' has no examples in its {} part", data, split_name(split));
    if (index < 0 || index >= size)
        fail_usage("--index {}: '{}' has the examples 0 to {} in its {} part", index, data,
                   size - 1, split_name(split));
    InputTokens out;
    out.tokens = source->example(split, index).values;
    if (info.is_text) out.tokens = text_tokens(tokens_text(out.tokens, info.alphabet), alphabet);
    out.note = fmt::format("{} {} {}", data, split_name(split), index);
    return out;
}

std::vector<uint8_t> alphabet_of(const Checkpoint& checkpoint) {
    std::vector<uint8_t> alphabet;
    const nlohmann::json& data = checkpoint.data;
    if (!data.is_object() || !data.contains("alphabet") || !data["alphabet"].is_array())
        return alphabet;
    for (const nlohmann::json& byte : data["alphabet"])
        if (byte.is_number_unsigned()) alphabet.push_back(byte.get<uint8_t>());
    return alphabet;
}

std::vector<std::string> class_names_of(const Checkpoint& checkpoint) {
    std::vector<std::string> names;
    const nlohmann::json& data = checkpoint.data;
    if (!data.is_object() || !data.contains("classes") || !data["classes"].is_array()) return names;
    for (const nlohmann::json& name : data["classes"])
        names.push_back(name.is_string() ? name.get<std::string>() : "");
    return names;
}

InputTokens read_input(const Checkpoint& checkpoint, const InputRequest& request) {
    const ModelConfig& model = checkpoint.config.model;
    if (request.text.empty() && request.image.empty())
        return ExampleReader(checkpoint, request.data, request.stop).at(request.index);
    InputTokens out;
    if (!request.text.empty()) {
        if (!task_traits(model).is_text()) fail_usage("this model takes pictures, found a text");
        out.tokens = text_tokens(request.text, alphabet_of(checkpoint));
        out.note = "text";
        const auto most = static_cast<size_t>(model.tokens());
        if (out.tokens.size() > most) {
            out.tokens.erase(out.tokens.begin(), out.tokens.end() - static_cast<ptrdiff_t>(most));
            out.note = fmt::format("text, its last {} bytes", most);
        }
    } else {
        if (task_traits(model).is_text()) fail_usage("{}: this model takes text", request.image);
        FittedPicture picture = fit_picture(read_image(request.image), model);
        out.tokens = std::move(picture.tokens);
        out.note = request.image;
        if (!picture.changes.empty()) out.note += ", " + picture.changes;
    }
    return out;
}

}  // namespace aft
