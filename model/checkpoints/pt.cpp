// PyTorch's own files: torch.save, as a zip archive (since 1.6) and as the row of pickles before
// it. Read through the restricted reader of pickle.h: nothing is executed. Dicts and lists in each
// other become names with dots ("model.blocks.0.attn.qkv.weight"); what is no tensor is left out,
// short texts and numbers become metadata. Every stride is checked against its storage.
// Format: torch/serialization.py and torch/_utils.py of PyTorch 2.
#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>

#include "core/caught.h"
#include "core/check.h"
#include "core/files.h"
#include "core/outside.h"
#include "model/checkpoints/format.h"
#include "model/checkpoints/pickle.h"
#include "model/checkpoints/pt_storages.h"

namespace aft {
namespace {

constexpr int kMostLevels = 64;
constexpr size_t kLongestName = 1000, kMostDimensions = 16, kMostValues = size_t{1} << 20;
constexpr size_t kMostNameBytes = size_t{32} << 20;  // of all names
constexpr int64_t kLargestSize = int64_t{1} << 40;

struct StridedView {  // of a storage; in numbers
    int64_t offset = 0;
    std::vector<int64_t> sizes, strides;
};

class PtTensors {
  public:
    PtTensors(const Pickle& pickle, PtStorages& storages, TensorData values)
        : pickle_(pickle), storages_(storages), values_(values) {}

    TensorFile take() {
        add("", pickle_.root(), 0);
        return std::move(out_);
    }

  private:
    using Kind = PickleNode::Kind;

    template <class... Args>
    [[noreturn]] void refuse(const std::string& name, fmt::format_string<Args...> text,
                             Args&&... args) const {
        fail("{}: tensor '{}': {}", storages_.where(), shown(name),
             fmt::format(text, std::forward<Args>(args)...));
    }
    void add(const std::string& name, const PickleNode& node, int level);
    void add_note(const std::string& name, const PickleNode& node);
    [[nodiscard]] std::string key_of(const PickleNode& key) const;
    [[nodiscard]] at::Tensor tensor(const std::string& name, const PickleNode& call);
    [[nodiscard]] std::vector<int64_t> integers(const std::string& name, uint32_t node) const;
    void check(const std::string& name, const PtStorage& storage, const StridedView& view) const;

    const Pickle& pickle_;
    PtStorages& storages_;
    TensorData values_;
    TensorFile out_;
    std::set<std::string> names_;
    size_t seen_ = 0;
    size_t named_ = 0;     // characters of names so far
    uint64_t copied_ = 0;  // bytes of tensors that are no plain part of their storage
};

std::string PtTensors::key_of(const PickleNode& key) const {
    if (key.kind == Kind::text) return key.text;
    if (key.kind == Kind::integer && key.text.empty()) return std::to_string(key.integer);
    fail("{}: a dict whose keys are neither texts nor numbers", storages_.where());
}

void PtTensors::add(const std::string& name, const PickleNode& node, int level) {
    if (level > kMostLevels)
        fail("{}: more than {} levels of dicts and lists", storages_.where(), kMostLevels);
    if (++seen_ > kMostValues) fail("{}: more than {} values", storages_.where(), kMostValues);
    if (name.size() > kLongestName)
        fail("{}: a name of {} characters ('{}'), at most {}", storages_.where(), name.size(),
             shown(name), kLongestName);
    named_ += name.size();
    if (named_ > kMostNameBytes)
        fail("{}: names of more than {} MiB", storages_.where(), kMostNameBytes >> 20);
    const auto below = [&](const std::string& key) {
        return name.empty() ? key : name + "." + key;
    };
    if (node.kind == Kind::dict) {
        for (size_t i = 0; i + 1 < node.items.size(); i += 2)
            add(below(key_of(pickle_[node.items[i]])), pickle_[node.items[i + 1]], level + 1);
    } else if (node.kind == Kind::list || node.kind == Kind::tuple) {
        for (size_t i = 0; i < node.items.size(); ++i)
            add(below(std::to_string(i)), pickle_[node.items[i]], level + 1);
    } else if (node.kind == Kind::call && node.text.starts_with("torch._utils.")) {
        const std::string known = name.empty() ? "tensor" : name;
        if (!names_.insert(known).second) refuse(known, "is there twice");
        out_.tensors.emplace_back(known, tensor(known, node));
    } else {
        add_note(name, node);
    }
}

void PtTensors::add_note(const std::string& name, const PickleNode& node) {
    constexpr size_t kLongestNote = 200;
    if (node.kind == Kind::text && node.text.size() <= kLongestNote)
        out_.metadata[name] = node.text;
    else if (node.kind == Kind::integer && node.text.empty())
        out_.metadata[name] = std::to_string(node.integer);
    else if (node.kind == Kind::real)
        out_.metadata[name] = fmt::format("{}", node.real);
    else if (node.kind == Kind::boolean)
        out_.metadata[name] = node.integer != 0 ? "true" : "false";
}

std::vector<int64_t> PtTensors::integers(const std::string& name, uint32_t node) const {
    const PickleNode* tuple = &pickle_[node];
    if (tuple->kind == Kind::call && tuple->text == "torch.Size" && tuple->items.size() == 1)
        tuple = &pickle_[tuple->items[0]];
    if (tuple->kind != Kind::tuple || tuple->items.size() > kMostDimensions)
        refuse(name, "sizes and strides are tuples of at most {} numbers", kMostDimensions);
    std::vector<int64_t> out;
    for (const uint32_t item : tuple->items) {
        const PickleNode& value = pickle_[item];
        if (value.kind != Kind::integer || !value.text.empty() || value.integer < 0 ||
            value.integer > kLargestSize)
            refuse(name, "sizes and strides are numbers from 0 to {}", kLargestSize);
        out.push_back(value.integer);
    }
    return out;
}

void PtTensors::check(const std::string& name, const PtStorage& storage,
                      const StridedView& view) const {
    const auto& [offset, sizes, strides] = view;
    if (sizes.size() != strides.size())
        refuse(name, "{} sizes and {} strides", sizes.size(), strides.size());
    int64_t last = offset, count = 1, reach = 0;
    bool is_far = false;  // beyond 64 bits
    bool is_empty = false;
    for (size_t i = 0; i < sizes.size(); ++i) {
        is_empty |= sizes[i] == 0;
        const int64_t size = std::max<int64_t>(sizes[i], 1);
        is_far |= __builtin_mul_overflow(count, size, &count);
        is_far |= __builtin_mul_overflow(size - 1, strides[i], &reach);
        is_far |= __builtin_add_overflow(last, reach, &last);
    }
    if (!is_far && is_empty) return;
    if (is_far || count > storage.count)
        refuse(name, "more numbers than the {} of its storage", storage.count);
    if (offset < 0 || last >= storage.count)
        refuse(name, "its strides reach beyond the {} numbers of its storage", storage.count);
}

at::Tensor PtTensors::tensor(const std::string& name, const PickleNode& call) {
    if (call.text == "torch._utils._rebuild_parameter") {
        const PickleNode* inner = call.items.empty() ? nullptr : &pickle_[call.items[0]];
        if (inner == nullptr || inner->kind != Kind::call || inner->text == call.text)
            refuse(name, "a parameter without its tensor");
        return tensor(name, *inner);
    }
    constexpr size_t kStorage = 0, kOffset = 1, kSizes = 2, kStrides = 3, kType = 6;
    if (!call.text.starts_with("torch._utils._rebuild_tensor") || call.items.size() <= kStrides)
        refuse(name, "'{}' of {} arguments", call.text, call.items.size());
    std::string_view type;
    if (call.text.ends_with("_v3")) {
        if (call.items.size() <= kType) refuse(name, "no dtype");
        type = pickle_[call.items[kType]].text;
    }
    const PtStorage storage = storages_.find(pickle_, pickle_[call.items[kStorage]], type);
    const PickleNode& offset = pickle_[call.items[kOffset]];
    if (offset.kind != Kind::integer || !offset.text.empty()) refuse(name, "an offset is a number");
    const StridedView strided{offset.integer, integers(name, call.items[kSizes]),
                              integers(name, call.items[kStrides])};
    check(name, storage, strided);
    const auto& [begin, sizes, strides] = strided;
    const bool is_empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
    const auto meta = at::TensorOptions(storage.type).device(at::kMeta);
    if (values_ == TensorData::left_out) return at::empty(sizes, meta);
    if (is_empty) return at::empty(sizes, storage.type);
    const at::Tensor view = storages_.load(storage).as_strided(sizes, strides, begin);
    if (view.is_contiguous()) return view;
    copied_ += view.nbytes();
    if (copied_ > storages_.file_bytes())
        refuse(name, "more numbers in other orders than the file has bytes");
    return view.contiguous();
}

// Of protocol 2 or later.
bool is_pickle(std::string_view begin) {
    return begin.size() >= 2 && begin[0] == '\x80' && begin[1] >= 2 && begin[1] <= 5;
}

std::string beginning_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    char start[16] = {};
    in.read(start, sizeof start);
    return {start, static_cast<size_t>(in.gcount())};
}

bool recognises_pt(const fs::path& path) {
    const std::string begin = beginning_of(path);
    return begin.starts_with("PK\x03\x04") || is_pickle(begin);
}

// "a list of 3 values", "a dict of 'epoch', 'args'"
std::string words_of(const Pickle& pickle) {
    using Kind = PickleNode::Kind;
    const PickleNode& root = pickle.root();
    if (root.kind == Kind::list || root.kind == Kind::tuple)
        return fmt::format("a {} of {} values", root.kind == Kind::list ? "list" : "tuple",
                           root.items.size());
    if (root.kind != Kind::dict) return "a single value";
    std::vector<std::string> keys;
    for (size_t i = 0; i + 1 < root.items.size(); i += 2) {
        const PickleNode& key = pickle[root.items[i]];
        keys.push_back(key.kind == Kind::text ? fmt::format("'{}'", shown(key.text))
                                              : std::to_string(key.integer));
    }
    return keys.empty() ? "an empty dict" : "a dict of " + shown_names(keys);
}

constexpr const char* kExpected =
    "a dict of tensors is expected, as torch.save(model.state_dict(), FILE) writes it";

// What Python's own pickle.dump has written holds no storages.
[[noreturn]] void refuse_plain_pickle(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::string bytes(std::min<uint64_t>(Pickle::kMostBytes, fs::file_size(path)), '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<size_t>(in.gcount()));
    static constexpr std::array<std::string_view, 1> kNames{"collections.OrderedDict"};
    std::string top;
    static_cast<void>(error_words([&] {
        size_t at = 0;
        top = " of " + words_of(Pickle(bytes, at, {kNames, path.string()}));
    }));
    fail("{}: a pickle{} that torch.save has not written: {}", path.string(), top, kExpected);
}

TensorFile read_pt(const fs::path& path, TensorData values) {
    const std::string begin = beginning_of(path);
    if (is_pickle(begin) && !begin.starts_with(kLegacyStart)) refuse_plain_pickle(path);
    std::unique_ptr<PtStorages> storages = open_pt_storages(path);
    TensorFile file = PtTensors(storages->pickle(), *storages, values).take();
    if (file.tensors.empty())
        fail("{}: no tensors in it, but {}: {}", path.string(), words_of(storages->pickle()),
             kExpected);
    return file;
}

}  // namespace

FormatRoom pt_format() {
    return {.info = {"pt",
                     "PyTorch's torch.save, new and old: state dicts and dicts of them, read "
                     "without executing anything."},
            .recognises = recognises_pt,
            .read = read_pt,
            .write = nullptr};
}

}  // namespace aft
