// text: the bytes of a file; the first 90 % train, the next 5 % validation, the last 5 % test. A
// token is a byte, or with alphabet=used its place among the bytes that occur, in ascending order.
#include <array>

#include "core/check.h"
#include "core/files.h"
#include "core/outside.h"
#include "model/data/source.h"

namespace aft {
namespace {

constexpr uint64_t kMaxText = uint64_t{2} << 30;

// "0a20616263" -> the five bytes: the alphabet that a model was trained with.
std::vector<uint8_t> parse_alphabet(const Spec& spec, const std::string& hex) {
    const auto digit = [](char c) {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    };
    std::vector<uint8_t> bytes;
    bool good = hex.size() >= 4 && hex.size() % 2 == 0;
    for (size_t i = 0; good && i < hex.size(); i += 2) {
        const int high = digit(hex[i]), low = digit(hex[i + 1]);
        good = high >= 0 && low >= 0 && (bytes.empty() || bytes.back() < 16 * high + low);
        bytes.push_back(static_cast<uint8_t>(16 * high + low));
    }
    if (!good)
        fail_usage(
            "data '{}': alphabet is '{}'; allowed: 256, used, or ascending bytes as pairs "
            "of hexadecimal digits",
            spec.text, shown(hex));
    return bytes;
}

class Text : public DataSource {
  public:
    explicit Text(const Spec& spec) : path_(spec.path), tokens_(read_file(spec.path, kMaxText)) {
        length_ = spec.integer("length", 256, 1, 1 << 20);
        AFT_CHECK(tokens_.size() >= 20, "data '{}': '{}' has {} bytes; at least 20 are needed",
                  spec.text, shown_path(path_), tokens_.size());
        choose_alphabet(spec);
        info_.is_text = true;
        info_.height = info_.channels = 1;
        info_.width = length_;
        info_.levels = static_cast<int64_t>(info_.alphabet.size());
    }
    [[nodiscard]] const DataInfo& info() const override { return info_; }
    [[nodiscard]] int64_t size(Split split) const override { return text_size(split) / length_; }
    [[nodiscard]] Example example(Split split, int64_t index) const override {
        return window(split, index * length_, length_);
    }

    [[nodiscard]] int64_t text_size(Split split) const override {
        return end_of(split) - start_of(split);
    }

    [[nodiscard]] Example window(Split split, int64_t start, int64_t length) const override {
        AFT_ASSERT(start >= 0 && length >= 0 && start + length <= text_size(split));
        const auto first = tokens_.begin() + start_of(split) + start;
        return {std::vector<uint8_t>(first, first + length), -1};
    }

  private:
    [[nodiscard]] int64_t start_of(Split split) const {
        const auto all = static_cast<int64_t>(tokens_.size());
        if (split == Split::train) return 0;
        return split == Split::validation ? all * 90 / 100 : all * 95 / 100;
    }
    [[nodiscard]] int64_t end_of(Split split) const {
        if (split == Split::test) return static_cast<int64_t>(tokens_.size());
        return start_of(split == Split::train ? Split::validation : Split::test);
    }

    void choose_alphabet(const Spec& spec) {
        const auto option = spec.options.find("alphabet");
        const std::string name = option == spec.options.end() ? "256" : option->second;
        std::array<bool, 256> used{};
        for (char c : tokens_) used[static_cast<uint8_t>(c)] = true;
        if (name == "256" || name == "used") {
            for (size_t byte = 0; byte < 256; ++byte)
                if (name == "256" || used[byte])
                    info_.alphabet.push_back(static_cast<uint8_t>(byte));
        } else {
            info_.alphabet = parse_alphabet(spec, name);
        }
        if (info_.alphabet.size() == 256) return;
        std::array<int, 256> place{};
        place.fill(-1);
        for (size_t i = 0; i < info_.alphabet.size(); ++i)
            place[info_.alphabet[i]] = static_cast<int>(i);
        for (size_t at = 0; at < tokens_.size(); ++at) {
            const int token = place[static_cast<uint8_t>(tokens_[at])];
            AFT_CHECK(token >= 0, "'{}': byte {} at {} is not in the alphabet of {} bytes",
                      shown_path(path_), static_cast<uint8_t>(tokens_[at]), at,
                      info_.alphabet.size());
            tokens_[at] = static_cast<char>(token);
        }
    }

    std::string path_, tokens_;
    int64_t length_ = 256;
    DataInfo info_;
};

}  // namespace

SourceRoom text_source() {
    return {{"text", "The bytes of a file, 90 % training, 5 % validation, 5 % test."},
            {"length=N bytes of a window (the model's, else 256)",
             "alphabet=256|used all bytes, or only those that occur (256)"},
            "file",
            [](const Spec& spec, uint64_t) -> std::unique_ptr<DataSource> {
                spec.allow({"length", "alphabet"});
                return std::make_unique<Text>(spec);
            }};
}

}  // namespace aft
