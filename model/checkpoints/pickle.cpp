#include "model/checkpoints/pickle.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/check.h"
#include "core/outside.h"

namespace aft {
namespace {

constexpr uint32_t kStackMark = UINT32_MAX;
constexpr size_t kMostNodes = size_t{1} << 20;
constexpr size_t kLongestGlobal = 200;  // module and name of a global

}  // namespace

// The bytes of a pickle, read in order.
class PickleBytes {
  public:
    PickleBytes(std::string_view bytes, size_t at, const std::string& where)
        : bytes_(bytes.substr(0, std::min(bytes.size(), at + Pickle::kMostBytes))),
          at_(at),
          where_(where) {}
    [[nodiscard]] size_t at() const { return at_; }
    std::string_view take(uint64_t count) {
        if (count > bytes_.size() - at_)
            fail("{}: the pickle ends early, or is longer than {} MiB (offset {})", where_,
                 Pickle::kMostBytes >> 20, at_);
        const std::string_view out = bytes_.substr(at_, count);
        at_ += count;
        return out;
    }
    uint8_t byte() { return static_cast<uint8_t>(take(1)[0]); }
    uint64_t little_endian(size_t count) {
        uint64_t value = 0;
        const std::string_view raw = take(count);
        for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<uint8_t>(raw[i]);
        return value;
    }
    std::string_view line() {
        const size_t end = bytes_.find('\n', at_);
        if (end == std::string_view::npos) take(UINT64_MAX);
        const std::string_view out = take(end - at_);
        ++at_;
        return out;
    }

  private:
    std::string_view bytes_;
    size_t at_;
    const std::string& where_;
};

// The stack machine of the format, over nodes instead of objects.
class PickleMachine {
  public:
    PickleMachine(Pickle& out, std::string_view bytes, size_t at, const PickleRules& rules)
        : nodes_(out.nodes_), in_(bytes, at, rules.where), rules_(rules) {}
    // The root, and where the pickle ended.
    std::pair<uint32_t, size_t> run() {
        for (;;) {
            begin_ = in_.at();
            const auto op = static_cast<char>(in_.byte());
            if (op == '.') break;
            if (!scalar(op) && !sized(op) && !container(op) && !memo(op) && !object(op))
                refuse(fmt::format("instruction 0x{:02x}", static_cast<uint8_t>(op)));
        }
        const uint32_t root = pop();
        if (!stack_.empty()) refuse("more than one value at its end");
        return {root, in_.at()};
    }

  private:
    using Kind = PickleNode::Kind;

    [[noreturn]] void refuse(const std::string& what) const {
        fail(
            "{}: {} in a pickle (offset {}): only dicts, lists, numbers, texts and tensors are "
            "read, as torch.save(model.state_dict(), FILE) writes them; in PyTorch, of a file that "
            "you trust: torch.save(torch.load(FILE, weights_only=False)['{}'], NEW)",
            rules_.where, what, begin_, key_of_weights());
    }
    // Of the outermost dict, as far as it is read: the first key that holds a dict of tensors.
    [[nodiscard]] std::string key_of_weights() const {
        std::string key = "model";
        const auto mark = std::find(stack_.begin(), stack_.end(), kStackMark);
        if (mark == stack_.end()) return key;
        for (auto at = mark + 1; at + 1 < stack_.end() && at[0] != kStackMark; at += 2) {
            if (at[1] == kStackMark) break;
            const PickleNode &name = nodes_[at[0]], &value = nodes_[at[1]];
            if (name.kind != Kind::text || value.kind != Kind::dict || value.items.size() < 2)
                continue;
            if (nodes_[value.items[1]].kind == Kind::call) return shown(name.text);
        }
        return key;
    }
    void push(PickleNode node) {
        if (nodes_.size() >= kMostNodes) refuse(fmt::format("more than {} values", kMostNodes));
        stack_.push_back(static_cast<uint32_t>(nodes_.size()));
        nodes_.push_back(std::move(node));
    }
    uint32_t pop() {
        if (stack_.empty() || stack_.back() == kStackMark) refuse("a value that is not there");
        const uint32_t node = stack_.back();
        stack_.pop_back();
        return node;
    }
    // Everything above the last mark, which goes too.
    std::vector<uint32_t> pop_mark() {
        const auto mark = std::find(stack_.rbegin(), stack_.rend(), kStackMark);
        if (mark == stack_.rend()) refuse("a mark that is not there");
        std::vector<uint32_t> out(mark.base(), stack_.end());
        stack_.erase(mark.base() - 1, stack_.end());
        return out;
    }
    PickleNode& top(Kind kind, const char* what) {
        if (stack_.empty() || stack_.back() == kStackMark || nodes_[stack_.back()].kind != kind)
            refuse(what);
        return nodes_[stack_.back()];
    }

    bool scalar(char op);
    bool sized(char op);
    bool container(char op);
    bool memo(char op);
    bool object(char op);
    void push_long(uint64_t bytes);
    void push_global(std::string_view module, std::string_view name);
    void copy_items(std::vector<uint32_t>& to, uint32_t from);
    void reduce();
    void build();

    std::vector<PickleNode>& nodes_;
    PickleBytes in_;
    const PickleRules& rules_;
    std::vector<uint32_t> stack_;
    std::vector<uint32_t> memo_;  // by slot; kStackMark: none
    uint64_t memoized_ = 0;       // by MEMOIZE, which counts for itself
    size_t begin_ = 0;            // of the instruction
    size_t copied_ = 0;           // items that stand in a second node
};

void PickleMachine::push_long(uint64_t bytes) {
    const std::string_view raw = in_.take(bytes);
    if (bytes > 8) {
        push({.kind = Kind::integer, .text = std::string(raw)});
        return;
    }
    uint64_t value = bytes > 0 && (raw[bytes - 1] & 0x80) != 0 ? UINT64_MAX : 0;
    for (size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<uint8_t>(raw[i]);
    push({.kind = Kind::integer, .integer = static_cast<int64_t>(value)});
}

bool PickleMachine::scalar(char op) {
    switch (op) {
        case '\x80':  // PROTO
            if (const int version = in_.byte(); version < 2 || version > 4)
                refuse(fmt::format("protocol {}", version));
            return true;
        case '\x95':
            in_.take(8);
            return true;  // FRAME
        case 'N':
            push({});
            return true;
        case '\x88':
            push({.kind = Kind::boolean, .integer = 1});
            return true;
        case '\x89':
            push({.kind = Kind::boolean});
            return true;
        case 'J':
            push({.kind = Kind::integer,
                  .integer = static_cast<int32_t>(static_cast<uint32_t>(in_.little_endian(4)))});
            return true;
        case 'K':
        case 'M':
            push({.kind = Kind::integer,
                  .integer = static_cast<int64_t>(in_.little_endian(op == 'K' ? 1 : 2))});
            return true;
        case 'G': {  // big endian
            uint64_t bits = 0;
            for (const char c : in_.take(8)) bits = bits << 8 | static_cast<uint8_t>(c);
            push({.kind = Kind::real, .real = std::bit_cast<double>(bits)});
            return true;
        }
        case '\x8a':
            push_long(in_.byte());
            return true;
        case '\x8b':
            push_long(in_.little_endian(4));
            return true;
        default:
            return false;
    }
}

bool PickleMachine::sized(char op) {
    const auto push_sized = [&](Kind kind, size_t length_bytes) {
        push({.kind = kind, .text = std::string(in_.take(in_.little_endian(length_bytes)))});
        return true;
    };
    switch (op) {
        case '\x8c':  // SHORT_BINUNICODE
        case 'U':
            return push_sized(Kind::text, 1);  // SHORT_BINSTRING
        case 'X':                              // BINUNICODE
        case 'T':
            return push_sized(Kind::text, 4);  // BINSTRING
        case '\x8d':
            return push_sized(Kind::text, 8);  // BINUNICODE8
        case 'C':
            return push_sized(Kind::bytes, 1);
        case 'B':
            return push_sized(Kind::bytes, 4);
        case '\x8e':
            return push_sized(Kind::bytes, 8);
        default:
            return false;
    }
}

bool PickleMachine::container(char op) {
    const auto tuple_of = [&](size_t count) {
        std::vector<uint32_t> items(count);
        for (size_t i = count; i-- > 0;) items[i] = pop();
        push({.kind = Kind::tuple, .items = std::move(items)});
        return true;
    };
    const auto append = [&](Kind kind, const std::vector<uint32_t>& items, const char* what) {
        auto& to = top(kind, what).items;
        to.insert(to.end(), items.begin(), items.end());
        return true;
    };
    switch (op) {
        case '(':
            stack_.push_back(kStackMark);
            return true;
        case '}':
            push({.kind = Kind::dict});
            return true;
        case ']':
            push({.kind = Kind::list});
            return true;
        case ')':
            return tuple_of(0);
        case '\x85':
            return tuple_of(1);
        case '\x86':
            return tuple_of(2);
        case '\x87':
            return tuple_of(3);
        case 't':
            push({.kind = Kind::tuple, .items = pop_mark()});
            return true;
        case 'l':
            push({.kind = Kind::list, .items = pop_mark()});
            return true;
        case 'a': {
            const uint32_t item = pop();
            return append(Kind::list, {item}, "an item without its list");
        }
        case 'e': {
            const auto items = pop_mark();
            return append(Kind::list, items, "items without their list");
        }
        case 's': {
            const uint32_t value = pop(), key = pop();
            return append(Kind::dict, {key, value}, "an entry without its dict");
        }
        case 'u': {
            const auto items = pop_mark();
            if (items.size() % 2 != 0) refuse("a key without its value");
            return append(Kind::dict, items, "entries without their dict");
        }
        default:
            return false;
    }
}

bool PickleMachine::memo(char op) {
    const auto put = [&](uint64_t slot) {
        if (slot >= kMostNodes) refuse(fmt::format("memo {}", slot));
        if (stack_.empty() || stack_.back() == kStackMark) refuse("a value that is not there");
        if (slot >= memo_.size()) memo_.resize(slot + 1, kStackMark);
        memo_[slot] = stack_.back();
        return true;
    };
    const auto get = [&](uint64_t slot) {
        if (slot >= memo_.size() || memo_[slot] == kStackMark)
            refuse(fmt::format("memo {} that is not there", slot));
        stack_.push_back(memo_[slot]);
        return true;
    };
    switch (op) {
        case 'q':
            return put(in_.byte());
        case 'r':
            return put(in_.little_endian(4));
        case '\x94':
            return put(memoized_++);
        case 'h':
            return get(in_.byte());
        case 'j':
            return get(in_.little_endian(4));
        case '0':
            pop();
            return true;
        case '2': {
            const uint32_t node = pop();
            stack_.insert(stack_.end(), 2, node);
            return true;
        }
        default:
            return false;
    }
}

void PickleMachine::push_global(std::string_view module, std::string_view name) {
    if (module.size() + name.size() > kLongestGlobal)
        refuse(fmt::format("a name of {} characters", module.size() + name.size()));
    std::string whole = fmt::format("{}.{}", module, name);
    if (std::find(rules_.globals.begin(), rules_.globals.end(), whole) == rules_.globals.end())
        refuse(fmt::format("'{}'", shown(whole)));
    push({.kind = Kind::global, .text = std::move(whole)});
}

// A memo could give the same arguments to any number of calls: what is copied is bounded.
void PickleMachine::copy_items(std::vector<uint32_t>& to, uint32_t from) {
    const std::vector<uint32_t>& items = nodes_[from].items;
    copied_ += items.size();
    if (copied_ > kMostNodes) refuse(fmt::format("more than {} arguments", kMostNodes));
    to.insert(to.end(), items.begin(), items.end());
}

void PickleMachine::reduce() {
    const uint32_t arguments = pop(), callee = pop();
    if (nodes_[callee].kind != Kind::global || nodes_[arguments].kind != Kind::tuple)
        refuse("a call of what is no name");
    PickleNode out{.kind = Kind::call, .text = nodes_[callee].text};
    if (out.text != "collections.OrderedDict") {
        copy_items(out.items, arguments);
        push(std::move(out));
        return;
    }
    // Without arguments, or of a list of pairs as older files have it.
    out = {.kind = Kind::dict};
    if (nodes_[arguments].items.size() > 1) refuse("an ordered dict of several arguments");
    std::vector<uint32_t> pairs;
    if (!nodes_[arguments].items.empty()) copy_items(pairs, nodes_[arguments].items[0]);
    for (const uint32_t pair : pairs) {
        if (nodes_[pair].items.size() != 2) refuse("an ordered dict of what are no pairs");
        copy_items(out.items, pair);
    }
    push(std::move(out));
}

// Attributes of an ordered dict (`_metadata` of a state dict): nothing is kept of them.
void PickleMachine::build() {
    pop();
    top(Kind::dict, "a state of what is no dict");
}

bool PickleMachine::object(char op) {
    switch (op) {
        case 'c': {
            const std::string_view module = in_.line();
            push_global(module, in_.line());
            return true;
        }
        case '\x93': {  // STACK_GLOBAL
            const uint32_t name = pop(), module = pop();
            if (nodes_[name].kind != Kind::text || nodes_[module].kind != Kind::text)
                refuse("a name that is no text");
            push_global(nodes_[module].text, nodes_[name].text);
            return true;
        }
        case 'Q': {
            const uint32_t id = pop();
            push({.kind = Kind::persistent, .items = {id}});
            return true;
        }
        case 'R':
            reduce();
            return true;
        case 'b':
            build();
            return true;
        default:
            return false;
    }
}

Pickle::Pickle(std::string_view bytes, size_t& at, const PickleRules& rules) {
    std::tie(root_, at) = PickleMachine(*this, bytes, at, rules).run();
}

}  // namespace aft
