#include "model/checkpoints/importers/revert.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "core/caught.h"
#include "core/check.h"
#include "core/outside.h"
#include "model/checkpoints/format.h"
#include "model/checkpoints/importers/constructor.h"
#include "model/checkpoints/importers/convert.h"
#include "model/checkpoints/importers/expression.h"
#include "model/checkpoints/importers/facts.h"
#include "model/checkpoints/importers/pattern.h"
#include "model/nn/embedding.h"

namespace aft::imports {

namespace {

using Weights = std::map<std::string, at::Tensor>;
using Texts = std::map<std::string, std::string>;

Texts settings_of(Config config) {
    Texts all;
    for (const Setting& row : config.rows()) all[row.key] = value_text(row);
    return all;
}

// The sizes of the mapping from the settings that are made of them: "model.dim": "=dim".
SizeTable sizes_of(const Mapping& mapping, const Config& config) {
    const Texts settings = settings_of(config);
    SizeTable table;
    table.sizes["tokens"] = std::to_string(config.model.tokens());
    for (const auto& [key, text] : mapping.settings)
        if (const std::string name = text.substr(text.starts_with('=') ? 1 : 0);
            text.starts_with('=') && mapping.sizes.contains(name) && settings.contains(key))
            table.sizes[name] = settings.at(key);
    for (const auto& [key, value] : settings)
        if (!mapping.sizes.contains(key.substr(key.find('.') + 1))) add_setting(table, key, value);
    const auto none = [](const std::string& name) -> int64_t {
        fail("'{}' is not there yet", shown(name));
    };
    table.facts = {.size = [none](const std::string& name, int64_t) { return none(name); },
                   .count = none,
                   .ones = none,
                   .has = [](const std::string&) { return false; }};
    return table;
}

class Reverter {
  public:
    Reverter(const Checkpoint& checkpoint, const Mapping& mapping)
        : mapping_(mapping), table_(sizes_of(mapping, checkpoint.config)), checkpoint_(checkpoint) {
        for (const auto& [name, tensor] : checkpoint.weights) left_[name] = tensor;
    }

    [[nodiscard]] Reverted run() {
        for (const Rule& rule : mapping_.rules) {
            if (rule.to.empty())
                make_dropped(rule);
            else if (rule.copy)
                give_back_copy(rule);
            else
                give_back(rule);
        }
        drop_filled();
        std::vector<std::string> homeless;
        for (const auto& [name, tensor] : left_) homeless.push_back("'" + name + "'");
        if (!homeless.empty())
            fail("{} has no place for {}", mapping_.info.name, shown_names(homeless));
        return {std::move(file_), std::move(left_out_)};
    }

  private:
    // What an import fills in, it fills in again.
    void drop_filled() {
        for (const auto& [pattern, value] : mapping_.fill)
            std::erase_if(left_, [&](const auto& one) {
                const bool is_filled = match(pattern, one.first) &&
                                       at::equal(one.second, at::full_like(one.second, value));
                if (is_filled)
                    left_out_.push_back({one.first, one.second.sizes().vec(),
                                         fmt::format("{} everywhere, as 'fill' says", value)});
                return is_filled;
            });
    }
    void give_back(const Rule& rule) {
        const Weights all = left_;
        for (const auto& [name, tensor] : all) {
            const auto bound = match(rule.to.front(), name);
            if (!bound || !left_.contains(name)) continue;
            std::vector<at::Tensor> parts;
            for (const std::string& to : rule.to) {
                if (to == "-") fail("{}: {}", mapping_.info.name, no_way_back(rule));
                const auto found = left_.find(fill_in(to, *bound));
                if (found == left_.end())
                    fail("{} needs '{}'", mapping_.info.name, fill_in(to, *bound));
                parts.push_back(found->second);
                left_.erase(found);
            }
            const std::string theirs = fill_in(rule.from, *bound);
            with_context("'" + theirs + "'", [&] {
                const at::Tensor whole = parts.size() == 1 ? parts.front() : at::cat(parts);
                put(theirs, unchanged(rule, whole));
            });
        }
    }
    // One tensor of theirs for several of ours, which have to be the same still.
    void give_back_copy(const Rule& rule) {
        std::map<std::string, at::Tensor> theirs;
        const Weights all = left_;
        for (const auto& [name, tensor] : all)
            for (const std::string& to : rule.to) {
                const auto bound = match(to, name);
                if (!bound || !left_.contains(name)) continue;
                const auto [one, is_new] = theirs.try_emplace(fill_in(rule.from, *bound), tensor);
                if (!is_new && !at::equal(one->second, tensor))
                    fail("'{}': {} has one tensor for several, and '{}' differs", one->first,
                         mapping_.info.name, name);
                left_.erase(name);
            }
        for (const auto& [name, tensor] : theirs)
            with_context("'" + name + "'", [&] { put(name, unchanged(rule, tensor)); });
    }
    [[nodiscard]] at::Tensor unchanged(const Rule& rule, at::Tensor value) const {
        if (const std::string why = no_way_back(rule); !why.empty())
            fail("there is no way back by {}: {}", mapping_.info.name, why);
        if (!rule.scale.empty()) value = value / evaluate(rule.scale, table_);
        if (!rule.shape.empty()) value = value.reshape(shape_of(rule));
        return rule.transpose ? value.transpose(-1, -2) : value;
    }
    [[nodiscard]] std::vector<int64_t> shape_of(const Rule& rule) const {
        std::vector<int64_t> shape;
        for (const std::string& axis : rule.back) shape.push_back(whole_number(axis, table_));
        return shape;
    }
    // What follows from the settings: masks and tables.
    void make_dropped(const Rule& rule) {
        at::Tensor value;
        if (rule.check == "band") {
            const int64_t T = checkpoint_.config.model.tokens();
            const int64_t window = whole_number("window", table_);
            value = at::ones({T, T}, at::kBool).triu(1 - window).tril(window - 1);
        } else if (rule.check == "sinusoidal" && !rule.back.empty()) {
            const std::vector<int64_t> shape = shape_of(rule);
            value = sinusoidal_positions(shape.front(), shape.back()).reshape(shape);
        } else {
            left_out_.push_back({rule.from, {}, rule.drop});
            return;
        }
        const bool is_of_layers = rule.from.find("{i}") != std::string::npos;
        const int64_t count = is_of_layers ? checkpoint_.config.model.layers : 1;
        for (int64_t i = 0; i < count; ++i)
            put(fill_in(rule.from, {{"i", std::to_string(i)}}), value);
    }
    void put(const std::string& name, const at::Tensor& value) {
        file_.tensors.emplace_back(name, value.contiguous().clone());
    }

    const Mapping& mapping_;
    SizeTable table_;
    const Checkpoint& checkpoint_;
    Weights left_;
    TensorFile file_;
    std::vector<Left> left_out_;
};

// The first setting in which two models compute something else.
std::string difference(const Config& ours, const Config& theirs) {
    static const std::set<std::string> no_matter{"model.init", "model.dropout", "model.bias_std",
                                                 "model.factor_std"};
    const Texts a = settings_of(ours), b = settings_of(theirs);
    const bool has_levels = !task_traits(ours.model).has_classes;
    const std::set<std::string> unread = unread_settings(ours);
    for (const auto& [key, value] : a) {
        if (!key.starts_with("model.") || no_matter.contains(key) || unread.contains(key)) continue;
        if (key == "model.levels" && !has_levels) continue;
        if (key == "model.inner" && ours.model.inner_width() == theirs.model.inner_width())
            continue;
        if (b.at(key) != value) return fmt::format("{} is {}, there {}", key, value, b.at(key));
    }
    return "";
}

// NaN is not equal to itself: no comparison would say that it comes back.
void check_no_nan(const Checkpoint& checkpoint) {
    std::vector<std::string> found;
    for (const auto& [name, tensor] : checkpoint.weights)
        if (const auto count = tensor.isnan().sum().item<int64_t>(); count > 0)
            found.push_back(fmt::format("'{}' ({} of {} values)", name, count, tensor.numel()));
    if (!found.empty())
        fail("the weights hold NaN: {}; an earlier save of that training may be sound",
             shown_names(found));
}

}  // namespace

std::string no_way_back(const Rule& rule) {
    std::vector<std::string> lossy;
    for (const auto& [key, is_there] :
         {std::pair{"times", !rule.times.empty()},
          {"first", !rule.first.empty()},
          {"visible", !rule.visible.empty()},
          {"hidden", !rule.hidden.empty()},
          {"-", std::find(rule.to.begin(), rule.to.end(), "-") != rule.to.end()}})
        if (is_there) lossy.push_back(fmt::format("\"{}\"", key));
    const std::string where = fmt::format("the rule of '{}' has", shown(rule.from));
    if (!lossy.empty())
        return fmt::format("{} {}, which does not keep every value", where, fmt::join(lossy, ", "));
    if (!rule.shape.empty() && rule.back.empty())
        return where + " \"shape\" and no \"back\" (the shape before it)";
    return "";
}

Reverted revert(const Checkpoint& checkpoint, const Mapping& mapping) {
    if (!mapping.refuse.empty()) fail("{} is not written: {}", mapping.info.name, mapping.refuse);
    if (!mapping.fresh.empty())
        fail(
            "{} makes another model of what it reads: there is no way back; --as torch writes our "
            "names",
            mapping.info.name);
    const Assignments free = free_settings(mapping, checkpoint.config);
    check_no_nan(checkpoint);
    Reverted out = Reverter(checkpoint, mapping).run();
    std::vector<std::pair<std::string, std::string>> given;
    const Texts settings = settings_of(checkpoint.config);
    for (const auto& [key, why] : mapping.ask) given.emplace_back(key, settings.at(key));
    given.insert(given.end(), free.begin(), free.end());
    const Converted again =
        convert({mapping, View{"", out.file.tensors}}, mapping.info.name + " read back", given);
    const std::string other = difference(checkpoint.config, again.checkpoint.config);
    if (!other.empty()) fail("{} would compute something else: {}", mapping.info.name, other);
    for (const auto& [name, tensor] : again.checkpoint.weights)
        for (const auto& [ours, value] : checkpoint.weights)
            if (ours == name && !at::allclose(value, tensor, 1e-6, 1e-30))
                fail("{}: '{}' would not come back as it is", mapping.info.name, name);
    store_settings(out.file, free);
    return out;
}

}  // namespace aft::imports
