#include "app/panels/shared/completion_inputs.h"

#include <fmt/format.h>

#include <algorithm>

namespace aft::app {
namespace {

// Token of a byte in the model's alphabet; -1 = not in it.
int token_of(const std::vector<uint8_t>& alphabet, uint8_t byte) {
    if (alphabet.empty()) return byte;
    const auto found = std::find(alphabet.begin(), alphabet.end(), byte);
    return found == alphabet.end() ? -1 : static_cast<int>(found - alphabet.begin());
}

}  // namespace

std::string prompt_problem(const ModelView& ui, const std::string& prompt, const char* what) {
    for (const char c : prompt)
        if (token_of(ui.status.alphabet, static_cast<uint8_t>(c)) < 0)
            return fmt::format("{}'s byte {} is not in the alphabet of this model.", what,
                               static_cast<uint8_t>(c));
    return "";
}

void fill_from_prompt(const ModelView& ui, const std::string& prompt, int64_t length,
                      CompletionRequest& request) {
    for (const char byte : prompt)
        request.tokens.push_back(
            static_cast<uint8_t>(token_of(ui.status.alphabet, static_cast<uint8_t>(byte))));
    request.unknown.assign(request.tokens.size(), 0);
    const size_t total = request.tokens.size() + static_cast<size_t>(length);
    request.tokens.resize(total, 0);
    request.unknown.resize(total, 1);
}

void fill_from_picture(const ModelView& ui, const std::vector<uint8_t>& tokens,
                       std::span<const uint8_t> mask, CompletionRequest& request) {
    request.tokens = tokens;
    const auto channels = static_cast<size_t>(ui.status.config.model.channels);
    request.unknown.reserve(tokens.size());
    for (const uint8_t masked : mask)
        request.unknown.insert(request.unknown.end(), channels, masked);
}

}  // namespace aft::app
