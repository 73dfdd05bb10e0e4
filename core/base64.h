// Base64: bytes as the text that data URIs hold. Pure, any thread.
#pragma once
#include <string>
#include <string_view>

namespace aft {

[[nodiscard]] std::string base64(std::string_view bytes);  // RFC 4648, padded, no line breaks

}  // namespace aft
