#include "model/data/files/shard_scan.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/caught.h"
#include "core/check.h"
#include "core/files.h"
#include "core/images/codecs.h"
#include "core/json.h"
#include "core/outside.h"
#include "core/warnings.h"
#include "model/data/files/tar_members.h"

namespace aft {
namespace {

constexpr int64_t kMostLabelBytes = 256;              // of KEY.cls
constexpr int64_t kMostJsonBytes = int64_t{1} << 20;  // of KEY.json

enum class MemberKind { other, picture, label, label_json };

struct MemberName {
    std::string key{};
    MemberKind kind = MemberKind::other;
};

std::string lower_case(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
        return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    });
    return out;
}

MemberName parse_member(std::string_view name) {
    while (name.starts_with("./")) name.remove_prefix(2);
    const size_t slash = name.rfind('/');
    const size_t base = slash == std::string_view::npos ? 0 : slash + 1;
    const size_t dot = name.find('.', base);
    if (dot == std::string_view::npos || dot == base) return {};
    const std::string kind = lower_case(name.substr(dot + 1));
    MemberName out{.key = std::string(name.substr(0, dot))};
    if (kind == "cls") out.kind = MemberKind::label;
    if (kind == "json") out.kind = MemberKind::label_json;
    if (kind.find('.') == std::string::npos && is_image_file("x." + kind))
        out.kind = MemberKind::picture;
    return out;
}

int64_t most_content(std::string_view name) {
    const MemberKind kind = parse_member(name).kind;
    if (kind == MemberKind::label) return kMostLabelBytes;
    return kind == MemberKind::label_json ? kMostJsonBytes : 0;
}

// Nothing is ever written under such a name; it is a sign that the file is not what it seems.
std::string member_name_problem(std::string_view name) {
    if (printable_line(name) != name)
        return "it has a name with control characters or not in UTF-8";
    if (name.starts_with("/")) return "it has an absolute name";
    const std::string within = "/" + std::string(name) + "/";
    if (within.find("/../") != std::string::npos) return "it has a name with '..'";
    return "";
}

std::string trimmed(std::string_view text) {
    const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    return std::string(text);
}

// Error says what is wrong with it.
std::string checked_label(const std::string& label) {
    AFT_CHECK(!label.empty(), "it is empty");
    AFT_CHECK(printable_line(label) == label && label.size() <= kMostLabelBytes,
              "it holds '{}'; expected a number or the name of a class", shown(label));
    const bool is_number =
        std::all_of(label.begin(), label.end(), [](char c) { return c >= '0' && c <= '9'; });
    AFT_CHECK(!is_number || label_number(label) >= 0, "it holds the class {}; allowed: 0 to {}",
              shown(label), kMostClasses - 1);
    return label;
}

std::string label_of_json(const std::string& text) {
    const nlohmann::json value = parse_json(text, {.file = "JSON"});
    const auto found = value.is_object() ? value.find("label") : value.end();
    if (!value.is_object() || found == value.end()) return "";
    if (found->is_string()) return checked_label(trimmed(found->get<std::string>()));
    AFT_CHECK(found->is_number_integer(), "its label is {}; expected a number or a name",
              found_json(*found));
    return checked_label(found->dump());
}

class ShardScan {
  public:
    explicit ShardScan(const fs::path& path) : path_(path) {}

    std::vector<ShardExample> run(int64_t expected) {
        const TarEnd end =
            visit_tar(path_, {.most_content = most_content,
                              .visit = [this](TarMember member) { add(std::move(member)); }});
        close();
        add_lost(end, expected);
        return std::move(examples_);
    }

  private:
    void add(TarMember member) {
        MemberName name = parse_member(member.name);
        if (name.kind == MemberKind::other) return;
        if (!is_open_ || name.key != key_) {
            close();
            is_open_ = true;
            key_ = std::move(name.key);
        }
        if (std::string problem = member_name_problem(member.name); !problem.empty())
            member.problem = std::move(problem);
        if (name.kind == MemberKind::picture)
            add_picture(member);
        else
            add_label(member, name.kind == MemberKind::label);
    }

    void add_picture(const TarMember& member) {
        std::string problem = member.problem;
        if (problem.empty() && has_picture_) problem = "it is a second picture of its key";
        if (problem.empty() && member.size > static_cast<int64_t>(kMaxImageBytes))
            problem =
                fmt::format("it has {} bytes, at most {} are allowed", member.size, kMaxImageBytes);
        if (!problem.empty()) note(open_.problem, member, problem);
        if (has_picture_) return;
        has_picture_ = true;
        open_.name = member.name;
        open_.offset = member.offset;
        open_.size = member.size;
    }

    void add_label(const TarMember& member, bool is_cls) {
        if (is_cls) {
            open_.has_label_file = true;
            open_.label.clear();  // it goes before KEY.json
            open_.label_problem.clear();
            label_name_ = member.name;
        } else if (open_.has_label_file) {
            return;
        }
        std::string problem = member.problem;
        const int64_t most = is_cls ? kMostLabelBytes : kMostJsonBytes;
        if (problem.empty() && member.size > most)
            problem = fmt::format("it has {} bytes, at most {} are allowed", member.size, most);
        if (problem.empty())
            problem = error_words([&] {
                open_.label =
                    is_cls ? checked_label(trimmed(member.content)) : label_of_json(member.content);
            });
        if (!problem.empty()) note(open_.label_problem, member, problem);
    }

    // Keeps the first one.
    void note(std::string& target, const TarMember& member, const std::string& problem) const {
        if (target.empty())
            target = fmt::format("'{}' in '{}': {}", shown(member.name), shown_path(path_.string()),
                                 problem);
    }

    // The members of a key are complete.
    void close() {
        if (is_open_ && (has_picture_ || open_.has_label_file)) {
            if (!has_picture_) {
                open_.name = label_name_;
                note(open_.problem, {.name = label_name_}, "it has no picture beside it");
            }
            examples_.push_back(std::move(open_));
        }
        open_ = {};
        is_open_ = has_picture_ = false;
    }

    // Why not all of the file could be read; empty: it could.
    [[nodiscard]] std::string loss_words(const TarEnd& end) const {
        const std::string file = shown_path(path_.string());
        if (!end.damage.empty())
            return fmt::format("'{}' cannot be read from byte {} on: {}", file, end.at, end.damage);
        if (end.is_truncated) return fmt::format("'{}' is cut within its last member", file);
        if (!end.is_marked) return fmt::format("'{}' has no mark at its end: it may be cut", file);
        return "";
    }

    void add_lost(const TarEnd& end, int64_t expected) {
        const std::string words = loss_words(end);
        const auto found = static_cast<int64_t>(examples_.size());
        for (int64_t i = found; i < expected; ++i)
            examples_.push_back({.problem = fmt::format("example {} of {} is missing in '{}'{}{}",
                                                        i + 1, expected, shown_path(path_.string()),
                                                        words.empty() ? "" : ": ", words)});
        if (words.empty() || found < expected) return;
        const bool is_counted = end.is_truncated && found > 0 && is_left_out(examples_.back());
        if (is_counted) return;
        if (expected < 0 && !end.damage.empty())
            examples_.push_back({.problem = words});
        else
            warn_once(words);
    }

    static bool is_left_out(const ShardExample& example) {
        return !example.problem.empty() || !example.label_problem.empty();
    }

    const fs::path& path_;
    std::vector<ShardExample> examples_{};
    std::string key_{}, label_name_{};
    ShardExample open_{};
    bool is_open_ = false, has_picture_ = false;
};

}  // namespace

int64_t label_number(const std::string& label) {
    int64_t number = -1;
    const char* end = label.data() + label.size();
    const auto [stop, error] = std::from_chars(label.data(), end, number);
    const bool is_read = error == std::errc() && stop == end && !label.starts_with("-");
    return is_read && number < kMostClasses ? number : -1;
}

std::vector<ShardExample> scan_shard(const fs::path& path, int64_t expected) {
    return ShardScan(path).run(expected);
}

}  // namespace aft
