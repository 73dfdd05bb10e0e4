#include "model/checkpoints/importers/expression.h"

#include <cctype>
#include <cmath>
#include <string_view>

#include "core/check.h"
#include "core/outside.h"

namespace aft::imports {

namespace {

constexpr int kMostLevels = 32;
constexpr int kMostTerms = 10000;  // sizes in sizes, each read again

// Recursive descent: sum = product {+- product}, product = value {*/ value}.
class Parser {
  public:
    Parser(std::string_view text, const SizeTable& numbers, int level, int& terms)
        : whole_(text), text_(text), numbers_(numbers), level_(level), terms_(terms) {}

    double all() {
        const double value = sum();
        if (!text_.empty()) refuse("nothing more is expected");
        return value;
    }

  private:
    [[noreturn]] void refuse(const char* why) const {
        fail("'{}': {} at '{}'", shown(whole_), why, shown(text_));
    }
    void skip_blanks() {
        while (text_.starts_with(' ')) text_.remove_prefix(1);
    }
    bool take(char c) {
        skip_blanks();
        if (!text_.starts_with(c)) return false;
        text_.remove_prefix(1);
        skip_blanks();
        return true;
    }
    void expect(char c) {
        if (!take(c)) refuse(c == ')' ? "a ')' is expected" : "a ',' is expected");
    }
    double sum() {
        if (++level_ > kMostLevels) refuse("more than 32 levels");
        double value = product();
        for (;;) {
            if (take('+'))
                value += product();
            else if (take('-'))
                value -= product();
            else
                break;
        }
        --level_;
        return value;
    }
    double product() {
        double value = factor();
        for (;;) {
            if (take('*')) {
                value *= factor();
            } else if (take('/')) {
                const double by = factor();
                if (by == 0) refuse("a division by 0");
                value /= by;
            } else {
                return value;
            }
        }
    }
    double factor() {
        if (++terms_ > kMostTerms) refuse("more than 10000 terms");
        if (take('(')) {
            const double value = sum();
            expect(')');
            return value;
        }
        skip_blanks();
        if (!text_.empty() && std::isdigit(static_cast<unsigned char>(text_.front())) != 0)
            return static_cast<double>(integer());
        const std::string word = name();
        return take('(') ? function(word) : size(word);
    }
    int64_t integer() {
        int64_t value = 0;
        while (!text_.empty() && std::isdigit(static_cast<unsigned char>(text_.front())) != 0) {
            value = 10 * value + (text_.front() - '0');
            if (value > int64_t{1} << 40) refuse("a number is too large");
            text_.remove_prefix(1);
        }
        return value;
    }
    std::string name() {
        size_t n = 0;
        while (n < text_.size() &&
               (std::isalnum(static_cast<unsigned char>(text_[n])) != 0 || text_[n] == '_'))
            ++n;
        if (n == 0) refuse("a number, a name or a bracket is expected");
        const std::string word(text_.substr(0, n));
        text_.remove_prefix(n);
        return word;
    }
    std::string tensor() {
        const size_t end = text_.find_first_of(",)");
        std::string_view found = text_.substr(0, end);
        text_.remove_prefix(found.size());
        while (found.ends_with(' ')) found.remove_suffix(1);
        return std::string(found);
    }
    double function(const std::string& word) {
        double value = 0;
        if (word == "sqrt") {
            value = std::sqrt(sum());
        } else if (word == "size") {
            const std::string of = tensor();
            expect(',');
            value = static_cast<double>(numbers_.facts.size(of, integer()));
        } else if (word == "count") {
            value = static_cast<double>(numbers_.facts.count(tensor()));
        } else if (word == "ones") {
            value = static_cast<double>(numbers_.facts.ones(tensor()));
        } else if (word == "has") {
            value = numbers_.facts.has(tensor()) ? 1 : 0;
        } else {
            fail("'{}': unknown function '{}'; allowed: size, count, ones, has, sqrt",
                 shown(whole_), word);
        }
        expect(')');
        return value;
    }
    double size(const std::string& word) {
        const auto found = numbers_.sizes.find(word);
        if (found == numbers_.sizes.end())
            fail("'{}': unknown size '{}'; a row of \"sizes\" says what it is", shown(whole_),
                 shown(word));
        if (level_ + 2 > kMostLevels) refuse("sizes that need each other");
        return Parser(found->second, numbers_, level_ + 1, terms_).all();
    }

    std::string_view whole_, text_;
    const SizeTable& numbers_;
    int level_;
    int& terms_;
};

}  // namespace

double evaluate(const std::string& expression, const SizeTable& numbers) {
    constexpr size_t kLongest = 500;
    if (expression.size() > kLongest)
        fail("'{}': an expression of more than {} characters", shown(expression), kLongest);
    int terms = 0;
    const double value = Parser(expression, numbers, 0, terms).all();
    if (!std::isfinite(value)) fail("'{}' is not a finite number", shown(expression));
    return value;
}

int64_t whole_number(const std::string& expression, const SizeTable& numbers) {
    const double value = evaluate(expression, numbers);
    if (value < 0 || value > 0x1p53 || std::nearbyint(value) != value)
        fail("'{}' is {}, not a whole number from 0 on", shown(expression), value);
    return static_cast<int64_t>(value);
}

}  // namespace aft::imports
