// Files of the repository, wherever the tests are started. Tests only.
#pragma once
#include <filesystem>
#include <string>

namespace aft {

// name is relative to the repository's root, as in "assets/demo/mirror.safetensors".
[[nodiscard]] std::filesystem::path source_file(const std::string& name);

}  // namespace aft
