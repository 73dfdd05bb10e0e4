// What a completion is asked of: a prompt or a picture with its mask, as the tokens of a request.
// Pure functions; window thread.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/state/ui.h"

namespace aft::app {

// The first byte of the prompt that is not in the model's alphabet, in words; "" = all are.
[[nodiscard]] std::string prompt_problem(const ModelView& ui, const std::string& prompt,
                                         const char* what = "The prompt");
// `length` bytes are added to it. Bytes that are not in the alphabet are no tokens: see above.
void fill_from_prompt(const ModelView& ui, const std::string& prompt, int64_t length,
                      CompletionRequest& request);
// tokens: [height, width, channels]; mask: [height, width], 1 = to be filled.
void fill_from_picture(const ModelView& ui, const std::vector<uint8_t>& tokens,
                       std::span<const uint8_t> mask, CompletionRequest& request);

}  // namespace aft::app
