#include "model/checkpoints/importers/convert.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "core/caught.h"
#include "core/check.h"
#include "core/files.h"
#include "core/outside.h"
#include "core/text.h"
#include "model/checkpoints/importers/expression.h"
#include "model/checkpoints/importers/facts.h"
#include "model/checkpoints/importers/faults.h"
#include "model/checkpoints/importers/hints.h"
#include "model/checkpoints/importers/pattern.h"
#include "model/nn/embedding.h"
#include "model/run_name.h"

namespace aft::imports {

namespace {

// [1, ..., 1, n, m]
bool has_two_axes(const at::Tensor& x) {
    return x.dim() >= 2 && x.numel() == x.size(-1) * x.size(-2);
}

class Converter {
  public:
    Converter(const Recognised& found, const std::string& path)
        : found_(found), path_(path), numbers_(numbers_of(found)) {}

    [[nodiscard]] Converted run(const std::vector<std::pair<std::string, std::string>>& settings) {
        set_config(settings);
        for (const auto& [name, tensor] : found_.view.tensors) take(name, tensor);
        complete();
        check_faults(faults_, found_.mapping, path_);
        return std::move(out_);
    }

  private:
    void set_config(const std::vector<std::pair<std::string, std::string>>& settings);
    void take(const std::string& name, const at::Tensor& tensor);
    void try_apply(const Rule& rule, const Bindings& bound, const std::string& name,
                   const at::Tensor& tensor);
    void apply(const Rule& rule, const Bindings& bound, const std::string& name,
               const at::Tensor& tensor);
    struct Changed {
        at::Tensor value;
        std::string how;
    };
    void put_copies(const Rule& rule, const Bindings& bound, const std::string& name,
                    const Changed& changed);
    void check_dropped(const Rule& rule, const std::string& name, const at::Tensor& tensor) const;
    void check_window(const Rule& rule, const at::Tensor& band, int64_t stored) const;
    [[nodiscard]] at::Tensor masked(const Rule& rule, const Bindings& bound, at::Tensor value,
                                    std::string& how) const;
    [[nodiscard]] at::Tensor changed(const Rule& rule, const Bindings& bound, at::Tensor value,
                                     std::string& how) const;
    void put(const std::string& from, const std::string& to, at::Tensor value,
             const std::string& how);
    void check_size(const Net& expected) const;
    void complete();
    void add_missing(const Parameter& parameter);
    [[nodiscard]] std::string origin_of(const std::string& ours) const;
    [[nodiscard]] at::Tensor absent(const Parameter& parameter, const Net& fresh);
    [[nodiscard]] int64_t whole(const std::string& expression) const {
        return whole_number(expression, numbers_);
    }

    const Recognised& found_;
    const std::string& path_;
    SizeTable numbers_;
    Converted out_;
    std::map<std::string, at::Tensor> values_;  // by our names
    MappingFaults faults_;
    std::vector<std::pair<std::string, Bindings>> failed_;  // what rules that fail would give
};

void Converter::set_config(const std::vector<std::pair<std::string, std::string>>& settings) {
    const Mapping& mapping = found_.mapping;
    Config& config = out_.checkpoint.config;
    config.data.source = "";  // the file does not say it
    const std::string stem = fs::path(path_).stem().string();
    config.name = name_problem(stem).empty() ? stem : "imported";
    SettingRows rows = config.rows();
    const auto is_given = [&](const std::string& key) {
        return std::any_of(settings.begin(), settings.end(),
                           [&](const auto& entry) { return entry.first == key; });
    };
    for (const auto& [key, why] : mapping.ask)
        if (!is_given(key))
            fail_usage("{}: {} needs --set {}=VALUE: {}", path_, mapping.info.name, key, why);
    std::vector<std::pair<std::string, std::string>> said;
    for (const auto& [key, text] : mapping.settings) {
        if (is_given(key)) continue;  // what follows from the file may fail where it is given
        const auto set = [&] {
            said.emplace_back(key,
                              text.starts_with('=') ? std::to_string(whole(text.substr(1))) : text);
            set_from_text(rows, key, said.back().second);
        };
        const bool is_known = find_setting(rows, key) != nullptr;
        with_error(set, [&](const Error& error) {
            return Error(is_known ? fmt::format("{}: {}: {}; --set {}=VALUE says it instead",
                                                mapping.file, key, error.what(), key)
                                  : fmt::format("{}: settings: {}", mapping.file, error.what()),
                         error.kind());
        });
    }
    for (const auto& [key, text] : settings) set_from_text(rows, key, text);
    said.insert(said.end(), settings.begin(), settings.end());
    std::erase_if(numbers_.sizes, [&](const auto& size) {  // what is given wins, but for a row
        return !mapping.sizes.contains(size.first) && is_given("model." + size.first);
    });
    for (const auto& [key, text] : said) add_setting(numbers_, key, text);
    with_context(path_, [&] { config.check(); });
}

void Converter::take(const std::string& name, const at::Tensor& tensor) {
    for (const Rule& rule : found_.mapping.rules)
        if (const auto bound = match(rule.from, name)) return try_apply(rule, *bound, name, tensor);
    faults_.unknown.push_back({name, tensor.sizes().vec(), ""});
}

// A rule that fails is one fault among those of the file.
void Converter::try_apply(const Rule& rule, const Bindings& bound, const std::string& name,
                          const at::Tensor& tensor) {
    std::string why;
    const std::exception_ptr thrown = caught([&] {
        with_error([&] { apply(rule, bound, name, tensor); },
                   [&](const Error& error) {
                       why = error.what();
                       if (error.kind() == ErrorKind::usage) faults_.kind = error.kind();
                       return error;
                   });
    });
    if (!thrown) return;
    if (why.empty()) std::rethrow_exception(thrown);
    faults_.failed.push_back({name, tensor.sizes().vec(), " " + why});
    for (const std::string& to : rule.to) failed_.emplace_back(to, bound);
}

// The window of the model hides what the mask of the file hides, which has `stored`.
void Converter::check_window(const Rule& rule, const at::Tensor& band, int64_t stored) const {
    const auto set = found_.mapping.settings.find("model.window");
    if (set == found_.mapping.settings.end()) return;
    const Config& config = out_.checkpoint.config;
    if (unread_settings(config).contains(set->first))
        fail_usage("is the band |t - j| < {}, and model.mixer={} has no window{}", stored,
                   config.model.mixer, rule.otherwise.empty() ? "" : "; " + rule.otherwise);
    const int64_t window = mixer_traits(config.model).window;
    if (!at::equal(band, at::ones_like(band).triu(1 - window).tril(window - 1)))
        fail_usage(
            "is the band |t - j| < {}, but model.window is {}; leave out --window (--set "
            "model.window) or give {}",
            stored, window, stored);
}

void Converter::check_dropped(const Rule& rule, const std::string& name,
                              const at::Tensor& tensor) const {
    const std::string otherwise = rule.otherwise.empty() ? "" : "; " + rule.otherwise;
    if (rule.check == "band") {
        if (!numbers_.sizes.contains("window"))
            fail(
                "is checked as a band, and nothing says its window: \"sizes\": {{\"window\": "
                "\"ones({})\"}}, or \"settings\": {{\"model.window\": N}}",
                shown(name));
        const int64_t window = whole("window");
        const at::Tensor mask = tensor.ne(0);
        const at::Tensor band = at::ones_like(mask).triu(1 - window).tril(window - 1);
        if (!at::equal(mask, band))
            fail("is not the band |t - j| < {} that such files have{}", window, otherwise);
        check_window(rule, band, window);
    }
    if (rule.check == "sinusoidal") {
        const at::Tensor table = tensor.reshape({-1, tensor.size(-1)}).to(at::kFloat);
        const at::Tensor expected = sinusoidal_positions(table.size(0), table.size(1));
        if (!at::allclose(table, expected, 1e-4, 1e-3))
            fail("is not the sinusoidal table that such files have{}", otherwise);
    }
}

void Converter::apply(const Rule& rule, const Bindings& bound, const std::string& name,
                      const at::Tensor& tensor) {
    if (!rule.drop.empty()) {
        check_dropped(rule, name, tensor);
        out_.dropped.push_back({name, tensor.sizes().vec(), rule.drop});
        return;
    }
    std::string how;
    const at::Tensor value = changed(rule, bound, tensor, how);
    const auto parts = static_cast<int64_t>(rule.to.size());
    if (rule.copy) return put_copies(rule, bound, name, {value, how});
    if (parts == 1) return put(name, fill_in(rule.to[0], bound), value, how);
    if (value.dim() < 1 || value.size(0) % parts != 0)
        fail("has shape {}, which cannot be cut into {} equal parts", shape_text(value), parts);
    const int64_t rows = value.size(0) / parts;
    for (int64_t i = 0; i < parts; ++i)
        put(name, fill_in(rule.to[static_cast<size_t>(i)], bound), value.narrow(0, i * rows, rows),
            fmt::format("rows {} to {}{}{}", i * rows, (i + 1) * rows - 1, how.empty() ? "" : ", ",
                        how));
}

// One tensor of theirs that several of ours are.
void Converter::put_copies(const Rule& rule, const Bindings& bound, const std::string& name,
                           const Changed& changed) {
    const std::string how = changed.how.empty() ? "a copy" : "a copy, " + changed.how;
    for (const std::string& to : rule.to) {
        const bool is_of_layers = to.find("{i}") != std::string::npos && !bound.contains("i");
        const int64_t count = is_of_layers ? out_.checkpoint.config.model.layers : 1;
        for (int64_t i = 0; i < count; ++i) {
            Bindings all = bound;
            if (is_of_layers) all["i"] = std::to_string(i);
            put(name, fill_in(to, all), changed.value, how);
        }
    }
}

// -inf where a mask of the file hides a source from its target.
at::Tensor Converter::masked(const Rule& rule, const Bindings& bound, at::Tensor value,
                             std::string& how) const {
    for (const bool is_visible : {true, false}) {
        const std::string& given = is_visible ? rule.visible : rule.hidden;
        if (given.empty()) continue;
        const std::string mask = fill_in(given, bound);
        const at::Tensor& by = tensor_of(found_.view, mask);
        if (by.numel() != value.numel() || !has_two_axes(by) || !has_two_axes(value))
            fail("has shape {}, the mask '{}' has {}", shape_text(value), shown(mask),
                 shape_text(by));
        const at::Tensor hides = is_visible ? by.eq(0) : by.ne(0);
        value = value.masked_fill(hides.reshape(value.sizes()),
                                  -std::numeric_limits<float>::infinity());
        how += fmt::format("{}-inf where {} is {}0", how.empty() ? "" : ", ", shown(mask),
                           is_visible ? "" : "not ");
    }
    return value;
}

at::Tensor Converter::changed(const Rule& rule, const Bindings& bound, at::Tensor value,
                              std::string& how) const {
    const auto add = [&](const std::string& words) { how += (how.empty() ? "" : ", ") + words; };
    if (value.is_complex() || value.is_quantized())
        fail("has dtype {}; allowed: real numbers", c10::toString(value.scalar_type()));
    const auto type = value.scalar_type();
    if (type != at::kFloat) {
        const at::Tensor wide = value;
        value = wide.to(at::kFloat);
        if (type == at::kDouble && !at::equal(value.isfinite(), wide.isfinite()))
            fail("holds float64 values beyond float32");
        add(fmt::format("from {}", c10::toString(type)));
    }
    if (!rule.times.empty()) {
        const std::string mask = fill_in(rule.times, bound);
        const at::Tensor by = tensor_of(found_.view, mask).to(at::kFloat);
        if (by.sizes() != value.sizes())
            fail("has shape {}, '{}' has {}", shape_text(value), shown(mask), shape_text(by));
        value = value * by;
        add("times " + shown(mask));
    }
    value = masked(rule, bound, value, how);
    if (rule.transpose) {
        if (!has_two_axes(value))
            fail("has shape {}; two axes are swapped, or the last two behind axes of one",
                 shape_text(value));
        value = value.transpose(-1, -2);
        add("transposed");
    }
    if (!rule.first.empty()) {
        const int64_t rows = whole(rule.first);
        if (value.dim() < 1 || rows > value.size(0))
            fail("has shape {}, its first {} rows are wanted", shape_text(value), rows);
        value = value.narrow(0, 0, rows);
        add(fmt::format("first {} rows", rows));
    }
    if (!rule.shape.empty()) {
        std::vector<int64_t> shape;
        double count = 1;
        for (const std::string& axis : rule.shape) {
            shape.push_back(whole(axis));
            count *= static_cast<double>(shape.back());
        }
        if (count != static_cast<double>(value.numel()))
            fail("has shape {}, which cannot become [{}]", shape_text(value),
                 fmt::join(shape, ", "));
        value = value.reshape(shape);
        add("reshaped");
    }
    if (!rule.scale.empty()) {
        value = value * evaluate(rule.scale, numbers_);
        add("times " + rule.scale);
    }
    return value;
}

void Converter::put(const std::string& from, const std::string& to, at::Tensor value,
                    const std::string& how) {
    if (to == "-") {
        out_.dropped.push_back({from, value.sizes().vec(), how + ": no place for it here"});
        return;
    }
    if (!values_.emplace(to, value.contiguous().clone()).second)
        fail("and another tensor both become '{}'", shown(to));
    out_.moved.push_back({from, to, value.sizes().vec(), how});
}

// The value of a parameter that the file does not have.
at::Tensor Converter::absent(const Parameter& parameter, const Net& fresh) {
    for (const auto& [pattern, value] : found_.mapping.fill) {
        if (!match(pattern, parameter.name)) continue;
        out_.fresh.push_back({parameter.name, parameter.value.sizes().vec(),
                              fmt::format("{} everywhere: the origin has none", value)});
        return at::full(parameter.value.sizes(), value, at::kFloat);
    }
    for (const std::string& pattern : found_.mapping.fresh) {
        if (!match(pattern, parameter.name)) continue;
        out_.fresh.push_back({parameter.name, parameter.value.sizes().vec(), "starts anew"});
        for (const Parameter& made : fresh.parameters())
            if (made.name == parameter.name) return made.value.detach().clone();
    }
    return {};
}

// What starts anew (q and k of a conversion) is never more than the rest several times over.
void Converter::check_size(const Net& expected) const {
    constexpr double kMostGrowth = 20;
    double there = 0, given = 0;
    for (const auto& [name, tensor] : found_.view.tensors)
        there += static_cast<double>(tensor.numel());
    for (const auto& [name, value] : values_) given += static_cast<double>(value.numel());
    there = std::max(there, given);
    const auto needed = static_cast<double>(parameter_count(expected.parameters()));
    if (needed > kMostGrowth * (there + 1e6))
        fail("{}: the settings describe a net of {:.0f} values, the file has {:.0f}", path_, needed,
             there);
}

// One that a rule that fails would give is no fault of its own.
void Converter::add_missing(const Parameter& parameter) {
    for (const auto& [to, bound] : failed_) {
        const auto names = match(to, parameter.name);
        if (names && std::all_of(names->begin(), names->end(), [&](const auto& one) {
                const auto known = bound.find(one.first);
                return known == bound.end() || known->second == one.second;
            }))
            return;
    }
    faults_.missing.push_back({parameter.name, parameter.value.sizes().vec(), ""});
}

// " from 'their.name'"
std::string Converter::origin_of(const std::string& ours) const {
    for (const Moved& row : out_.moved)
        if (row.to == ours && row.from != ours) return fmt::format(" from '{}'", shown(row.from));
    return "";
}

void Converter::complete() {
    const Config& config = out_.checkpoint.config;
    const auto seed = static_cast<uint64_t>(config.train.seed);
    ModelConfig shapes = config.model;
    shapes.init = "normal";  // the other ways make values
    const Net expected(shapes, seed, at::kMeta);
    check_size(expected);
    std::optional<Net> fresh;
    if (!found_.mapping.fresh.empty()) fresh.emplace(config.model, seed);
    std::vector<std::string> names;
    for (const Parameter& parameter : expected.parameters()) {
        names.push_back(parameter.name);
        const auto found = values_.find(parameter.name);
        const at::Tensor value =
            found != values_.end() ? found->second : absent(parameter, fresh ? *fresh : expected);
        if (!value.defined())
            add_missing(parameter);
        else if (value.sizes() != parameter.value.sizes())
            faults_.misshapen.push_back(
                {parameter.name, value.sizes().vec(),
                 fmt::format("{}, the settings need {}", origin_of(parameter.name),
                             shape_text(parameter.value))});
        else
            out_.checkpoint.weights.emplace_back(parameter.name, value);
        if (found != values_.end()) values_.erase(found);
    }
    for (const auto& [name, value] : values_) {
        Left strange{name, value.sizes().vec(), origin_of(name)};
        const std::string near = nearest_target(strange, faults_.missing, names);
        if (!near.empty()) strange.why += fmt::format(" (did you mean '{}'?)", near);
        faults_.strange.push_back(std::move(strange));
    }
}

}  // namespace

Converted convert(const Recognised& found, const std::string& path,
                  const std::vector<std::pair<std::string, std::string>>& settings) {
    return Converter(found, path).run(settings);
}

}  // namespace aft::imports
