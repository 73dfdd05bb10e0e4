#include "model/checkpoints/pt_storages.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>

#include "core/check.h"
#include "core/files.h"
#include "core/outside.h"
#include "model/checkpoints/zip.h"

namespace aft {
namespace {

struct TypeNames {
    std::string_view storage, dtype;
    c10::ScalarType type;
};
constexpr std::array<TypeNames, 10> kStorageTypes{{
    {"torch.FloatStorage", "torch.float32", c10::ScalarType::Float},
    {"torch.DoubleStorage", "torch.float64", c10::ScalarType::Double},
    {"torch.HalfStorage", "torch.float16", c10::ScalarType::Half},
    {"torch.BFloat16Storage", "torch.bfloat16", c10::ScalarType::BFloat16},
    {"torch.LongStorage", "torch.int64", c10::ScalarType::Long},
    {"torch.IntStorage", "torch.int32", c10::ScalarType::Int},
    {"torch.ShortStorage", "torch.int16", c10::ScalarType::Short},
    {"torch.CharStorage", "torch.int8", c10::ScalarType::Char},
    {"torch.ByteStorage", "torch.uint8", c10::ScalarType::Byte},
    {"torch.BoolStorage", "torch.bool", c10::ScalarType::Bool},
}};
constexpr std::string_view kUntyped = "torch.storage.UntypedStorage";

// All names that a state dict needs; whatever else a file names is refused.
std::vector<std::string_view> known_globals() {
    std::vector<std::string_view> out = {"collections.OrderedDict",
                                         "torch._utils._rebuild_tensor",
                                         "torch._utils._rebuild_tensor_v2",
                                         "torch._utils._rebuild_tensor_v3",
                                         "torch._utils._rebuild_parameter",
                                         "torch.Size",
                                         kUntyped};
    for (const TypeNames& names : kStorageTypes)
        out.insert(out.end(), {names.storage, names.dtype});
    return out;
}

// Counted by torch.save: "0", "1", or an address before that. Long ones would be copied for every
// tensor.
const std::string& key_text(const PickleNode& key, const std::string& where) {
    constexpr size_t kLongest = 100;
    if (key.kind != PickleNode::Kind::text || key.text.size() > kLongest)
        fail("{}: the key of a storage is a text of at most {} characters", where, kLongest);
    return key.text;
}

int64_t item_bytes(c10::ScalarType type) {
    return int64_t(c10::elementSize(type));
}

// Bytes other than 0 and 1 in a bool tensor are undefined behaviour further on.
at::Tensor checked(at::Tensor tensor, const std::string& where) {
    if (tensor.scalar_type() != c10::ScalarType::Bool) return tensor;
    const auto* bytes = static_cast<const uint8_t*>(tensor.const_data_ptr());
    if (std::any_of(bytes, bytes + tensor.numel(), [](uint8_t b) { return b > 1; }))
        fail("{}: a bool storage with bytes other than 0 and 1", where);
    return tensor;
}

class ZipStorages final : public PtStorages {
  public:
    explicit ZipStorages(const fs::path& path)
        : zip_(path), where_(path.string()), bytes_(fs::file_size(path)) {
        for (const auto& [name, member] : zip_.members())
            if (name.ends_with("/data.pkl")) folder_ = name.substr(0, name.size() - 8);
        if (folder_.empty() || zip_.find(folder_ + "constants.pkl") != nullptr)
            fail("{}: a zip archive, but not of torch.save ({}): save model.state_dict()", where_,
                 folder_.empty() ? "no data.pkl in it" : "a TorchScript program");
        if (const auto* order = zip_.find(folder_ + "byteorder");
            order != nullptr && zip_.read_text(*order, 16) != "little")
            fail("{}: its numbers are big endian; only little endian is read", where_);
        const std::string text =
            zip_.read_text(*zip_.find(folder_ + "data.pkl"), Pickle::kMostBytes);
        const auto globals = known_globals();
        size_t at = 0;
        pickle_.emplace(text, at, PickleRules{globals, where_});
    }
    [[nodiscard]] const Pickle& pickle() const override { return *pickle_; }
    [[nodiscard]] const std::string& where() const override { return where_; }
    [[nodiscard]] uint64_t file_bytes() const override { return bytes_; }
    [[nodiscard]] at::Tensor load(const PtStorage& storage) override {
        const auto known = loaded_.find(storage.key);
        if (known != loaded_.end() && known->second.scalar_type() == storage.type &&
            known->second.numel() == storage.count)
            return known->second;
        const auto* member = zip_.find(folder_ + "data/" + storage.key);
        if (member == nullptr) fail("{}: storage '{}' is not there", where_, shown(storage.key));
        if (known != loaded_.end() ||
            uint64_t(storage.count) > member->bytes / uint64_t(item_bytes(storage.type)))
            fail("{}: storage '{}' of {} numbers has {} bytes", where_, shown(storage.key),
                 storage.count, member->bytes);
        at::Tensor out = at::empty({storage.count}, storage.type);
        zip_.read(*member, static_cast<char*>(out.mutable_data_ptr()), out.nbytes());
        return loaded_[storage.key] = checked(std::move(out), where_);
    }

  private:
    ZipFile zip_;
    std::string where_, folder_;
    uint64_t bytes_;
    std::optional<Pickle> pickle_;
    std::map<std::string, at::Tensor> loaded_;
};

// Five pickles in a row (magic number, protocol, sizes of the machine, the object, the keys of its
// storages), then for each key the count and the numbers.
class LegacyStorages final : public PtStorages {
  public:
    explicit LegacyStorages(const fs::path& path)
        : where_(path.string()), bytes_(fs::file_size(path)), in_(path, std::ios::binary) {
        std::string text(std::min<uint64_t>(bytes_, 2 * Pickle::kMostBytes), '\0');
        in_.read(text.data(), static_cast<std::streamsize>(text.size()));
        if (static_cast<size_t>(in_.gcount()) != text.size()) fail("{}: cannot be read", where_);
        const auto globals = known_globals();
        const PickleRules rules{globals, where_};
        size_t at = 0;
        for (int i = 0; i < 2; ++i) Pickle(text, at, rules);  // magic number, protocol
        check_machine(Pickle(text, at, rules));
        pickle_.emplace(text, at, rules);
        const Pickle keys(text, at, rules);
        if (keys.root().kind != PickleNode::Kind::list)
            fail("{}: the keys of its storages are no list", where_);
        // A memo could give one key any number of times.
        if (keys.root().items.size() > keys.size())
            fail("{}: {} keys of storages", where_, keys.root().items.size());
        for (const uint32_t key : keys.root().items) order_.push_back(key_text(keys[key], where_));
        begin_ = at;
    }
    [[nodiscard]] const Pickle& pickle() const override { return *pickle_; }
    [[nodiscard]] const std::string& where() const override { return where_; }
    [[nodiscard]] uint64_t file_bytes() const override { return bytes_; }
    [[nodiscard]] at::Tensor load(const PtStorage& storage) override;

  private:
    void check_machine(const Pickle& pickle) const;
    void find_all();

    std::string where_;
    uint64_t bytes_, begin_ = 0;
    std::ifstream in_;
    std::optional<Pickle> pickle_;
    std::vector<std::string> order_;
    std::map<std::string, at::Tensor> loaded_;
    bool is_walked_ = false;
    struct StorageExtent {
        uint64_t begin = 0;
        int64_t count = 0;
        c10::ScalarType type = c10::ScalarType::Float;
    };
    std::map<std::string, StorageExtent> extents_;
};

void LegacyStorages::check_machine(const Pickle& pickle) const {
    const PickleNode& root = pickle.root();
    if (root.kind != PickleNode::Kind::dict) fail("{}: not a file of torch.save", where_);
    for (size_t i = 0; i + 1 < root.items.size(); i += 2)
        if (pickle[root.items[i]].text == "little_endian" && pickle[root.items[i + 1]].integer == 0)
            fail("{}: its numbers are big endian; only little endian is read", where_);
}

// Where each storage lies follows from the types of those before it, which the object tells.
void LegacyStorages::find_all() {
    std::map<std::string, c10::ScalarType> types;
    for (uint32_t i = 0; i < pickle_->size(); ++i)
        if ((*pickle_)[i].kind == PickleNode::Kind::persistent) {
            const PtStorage storage = find(*pickle_, (*pickle_)[i], "");
            types[storage.key] = storage.type;
        }
    uint64_t at = begin_;
    for (const std::string& key : order_) {
        const auto type = types.find(key);
        if (type == types.end()) fail("{}: a storage that no tensor has", where_);
        int64_t count = 0;
        in_.clear();
        in_.seekg(static_cast<std::streamoff>(at));
        in_.read(reinterpret_cast<char*>(&count), sizeof count);
        at += sizeof count;
        if (!in_ || count < 0 || at > bytes_ ||
            uint64_t(count) > (bytes_ - at) / uint64_t(item_bytes(type->second)))
            fail("{}: storage '{}' claims {} numbers: the file is cut off", where_, shown(key),
                 count);
        extents_[key] = {at, count, type->second};
        at += uint64_t(count) * uint64_t(item_bytes(type->second));
    }
    is_walked_ = true;
}

at::Tensor LegacyStorages::load(const PtStorage& storage) {
    if (!is_walked_) find_all();
    const auto known = loaded_.find(storage.key);
    if (known != loaded_.end()) return known->second;
    const auto found = extents_.find(storage.key);
    if (found == extents_.end() || found->second.count != storage.count ||
        found->second.type != storage.type)
        fail("{}: storage '{}' of {} numbers is not there", where_, shown(storage.key),
             storage.count);
    at::Tensor out = at::empty({storage.count}, storage.type);
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(found->second.begin));
    in_.read(static_cast<char*>(out.mutable_data_ptr()),
             static_cast<std::streamsize>(out.nbytes()));
    if (!in_) fail("{}: cannot be read", where_);
    return loaded_[storage.key] = checked(std::move(out), where_);
}

}  // namespace

PtStorage PtStorages::find(const Pickle& pickle, const PickleNode& id,
                           std::string_view dtype) const {
    using Kind = PickleNode::Kind;
    constexpr size_t kParts = 5;  // "storage", its type, key, device, count; legacy: a view
    const PickleNode* parts = id.kind == Kind::persistent ? &pickle[id.items[0]] : nullptr;
    if (parts == nullptr || parts->kind != Kind::tuple || parts->items.size() < kParts)
        fail("{}: a tensor without a storage", where());
    const PickleNode &type = pickle[parts->items[1]], &key = pickle[parts->items[2]],
                     &count = pickle[parts->items[4]];
    if (parts->items.size() > kParts && pickle[parts->items[kParts]].kind != Kind::none)
        fail(
            "{}: storage '{}' is a part of another one, as old files of torch.save had it: save it "
            "anew",
            where(), shown(key.text));
    const bool is_untyped = type.text == kUntyped;
    const auto names =
        std::find_if(kStorageTypes.begin(), kStorageTypes.end(), [&](const TypeNames& one) {
            return is_untyped ? one.dtype == dtype : one.storage == type.text;
        });
    if (names == kStorageTypes.end() || count.kind != Kind::integer || !count.text.empty() ||
        count.integer < 0)
        fail("{}: storage '{}' of type '{}' cannot be read", where(), shown(key.text),
             shown(is_untyped ? dtype : type.text));
    // Of an untyped storage the bytes are counted.
    const int64_t numbers = is_untyped ? count.integer / item_bytes(names->type) : count.integer;
    return {.key = key_text(key, where()), .type = names->type, .count = numbers};
}

std::unique_ptr<PtStorages> open_pt_storages(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    char start[2] = {};
    in.read(start, sizeof start);
    if (!in) fail("{}: cannot be opened for reading", path.string());
    if (start[0] == 'P') return std::make_unique<ZipStorages>(path);
    return std::make_unique<LegacyStorages>(path);
}

}  // namespace aft
