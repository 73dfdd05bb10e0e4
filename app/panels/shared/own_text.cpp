#include "app/panels/shared/own_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "app/panels/shared/completion_inputs.h"
#include "app/widgets/buttons.h"
#include "app/widgets/text.h"
#include "app/widgets/text_fields.h"
#include "core/text.h"

namespace aft::app {
namespace {

// What stands behind a short text: a space, or of an alphabet without one its first byte.
uint8_t filler(const ModelView& ui) {
    const std::vector<uint8_t>& alphabet = ui.status.alphabet;
    const auto space = std::find(alphabet.begin(), alphabet.end(), uint8_t{' '});
    if (space != alphabet.end()) return static_cast<uint8_t>(space - alphabet.begin());
    return alphabet.empty() ? ' ' : 0;
}

uint8_t filler_byte(const ModelView& ui) {
    const std::vector<uint8_t>& alphabet = ui.status.alphabet;
    const uint8_t token = filler(ui);
    return token < alphabet.size() ? alphabet[token] : token;
}

std::string filler_words(const ModelView& ui) {
    const uint8_t byte = filler_byte(ui);
    return byte == ' ' ? "spaces" : fmt::format("bytes {}", byte);
}

// As long as the model reads. Empty where that is no UTF-8, as when the cut goes through a
// character: no command and no file could give it.
std::string whole_text(const ModelView& ui, const std::string& text) {
    const auto wanted = static_cast<size_t>(ui.status.tokens);
    if (text.size() < wanted && filler_byte(ui) >= 0x80) return "";
    if (text.size() > wanted && (static_cast<uint8_t>(text[wanted]) & 0xC0) == 0x80) return "";
    std::string out = text;
    out.resize(wanted, static_cast<char>(filler_byte(ui)));
    return out;
}

std::string bytes_words(int64_t count) {
    return group_thousands(count) + (count == 1 ? " byte" : " bytes");
}

}  // namespace

std::string why_no_own_text(const ModelView& ui, const std::string& text) {
    return text.empty() ? "There is no text yet." : prompt_problem(ui, text, "The text");
}

std::string own_text_words(const ModelView& ui, const std::string& text) {
    const auto count = static_cast<int64_t>(text.size());
    const std::string most = group_thousands(ui.status.tokens);
    if (count == 0) return "Up to " + bytes_words(ui.status.tokens) + ", as UTF-8.";
    if (count > ui.status.tokens)
        return fmt::format("{}; the model reads the first {}.", bytes_words(count), most);
    if (count == ui.status.tokens) return bytes_words(count) + ": all that the model reads.";
    return fmt::format("{}; {} follow, up to {}.", bytes_words(count), filler_words(ui), most);
}

void show_own_text(ViewState& ui, const std::string& text) {
    if (!why_no_own_text(ui, text).empty()) return;
    const auto all = static_cast<int64_t>(text.size());
    const int64_t read = std::min(all, ui.status.tokens);
    CompletionRequest request;
    fill_from_prompt(ui, text.substr(0, static_cast<size_t>(read)), ui.status.tokens - read,
                     request);
    auto item = std::make_shared<DataItem>();
    item->tokens = std::move(request.tokens);
    std::fill(item->tokens.begin() + read, item->tokens.end(), filler(ui));
    item->caption = read < all ? fmt::format("own text, {} of {}", read, bytes_words(all))
                               : "own text, " + bytes_words(all);
    ui.selection.image = {
        .split = {}, .index = 0, .path = {}, .item = std::move(item), .text = whole_text(ui, text)};
    Cell& cell = ui.selection.cell;
    if (cell.target >= 0 && cell.target < read) return;
    cell.target = read - 1;
    cell.source = -1;
}

void load_own_text(ViewState& ui) {
    const std::string text = ui.selection.image.text;  // its place is given another one
    ui.selection.image.error = why_no_own_text(ui, text);
    show_own_text(ui, text);
}

bool OwnTextField::draw(PaneContext& ui, float width) {
    constexpr float kGap = 6;
    text(ui, "Own text", {text_size::label, ui.theme.text1, Face::semibold});
    ImGui::Dummy({1, ui.px(4)});
    const std::string why = why_no_own_text(ui, text_);
    const Button look{.name = "Look at it##look_at_own_text",
                      .why_not = why,
                      .tip = "The text becomes what the model looks at. Key Enter in the field."};
    const float left = (width - button_width(ui, look)) / ui.scale - kGap;
    const bool is_submitted = text_field(ui,
                                         {.name = "Own text##own_text",
                                          .hint = "type or paste a text",
                                          .width = std::max(80.0F, left),
                                          .mono = true,
                                          .problem = text_.empty() ? "" : why,
                                          .tip = "A text of your own that the model looks at."},
                                         text_)
                                  .is_submitted;
    ImGui::SameLine(0, ui.px(kGap));
    const bool is_taken = button(ui, look) || is_submitted;
    const std::string problem = why_no_own_text(ui, text_);
    const std::string words =
        text_.empty() || problem.empty() ? own_text_words(ui, text_) : problem;
    hint(ui, words);
    ui.recorder.item("value", ui.recorder.claim("Length##own_text_length"), words);
    if (!is_taken || !problem.empty()) return false;
    show_own_text(ui, text_);
    return true;
}

}  // namespace aft::app
