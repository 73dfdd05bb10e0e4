#include "model/checkpoints/importers/facts.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "core/check.h"
#include "core/outside.h"
#include "model/checkpoints/importers/pattern.h"

namespace aft::imports {

namespace {

int64_t size_of(const View& view, const std::string& name, int64_t axis) {
    const at::Tensor& tensor = tensor_of(view, name);
    if (axis >= tensor.dim())
        fail("'{}' has shape {}, no axis {}", shown(name), shape_text(tensor), axis);
    return tensor.size(axis);
}

int64_t count_of(const View& view, const std::string& pattern) {
    std::set<int64_t> found;
    for (const auto& [name, tensor] : view.tensors)
        if (const auto bound = match(pattern, name); bound && bound->contains("i"))
            if (const std::string& text = bound->at("i"); text.size() < 7)
                found.insert(std::stoll(text));
    int64_t next = 0;
    while (found.contains(next)) ++next;
    if (static_cast<size_t>(next) != found.size())
        fail("'{}': layer {} is missing, but there are later ones", shown(pattern), next);
    return next;
}

int64_t ones_of(const View& view, const std::string& name) {
    const at::Tensor& mask = tensor_of(view, name);
    if (mask.dim() != 2 || mask.size(0) == 0)
        fail("'{}' has shape {}, a mask [T, T] is expected", shown(name), shape_text(mask));
    return mask[0].ne(0).sum().item<int64_t>();
}

}  // namespace

std::string shape_text(const at::Tensor& tensor) {
    return fmt::format("[{}]", fmt::join(tensor.sizes(), ", "));
}

const at::Tensor& tensor_of(const View& view, const std::string& name) {
    const at::Tensor* found = view.find(name);
    if (found == nullptr) fail("there is no tensor '{}'", shown(name));
    return *found;
}

SizeTable numbers_of(const Recognised& found) {
    const View& view = found.view;
    SizeTable numbers{
        found.mapping.sizes,
        {.size = [&view](const std::string& name,
                         int64_t axis) { return size_of(view, name, axis); },
         .count = [&view](const std::string& pattern) { return count_of(view, pattern); },
         .ones = [&view](const std::string& name) { return ones_of(view, name); },
         .has = [&view](const std::string& pattern) { return view.has(pattern); }}};
    for (const auto& [key, text] : found.mapping.settings) add_setting(numbers, key, text);
    return numbers;
}

void add_setting(SizeTable& numbers, const std::string& key, const std::string& value) {
    constexpr std::string_view kGroup = "model.";
    const bool is_number = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
        return c >= '0' && c <= '9';
    });
    if (is_number && key.starts_with(kGroup))
        numbers.sizes.emplace(key.substr(kGroup.size()), value);
}

}  // namespace aft::imports
