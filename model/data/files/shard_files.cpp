#include "model/data/files/shard_files.h"

#include <glob.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/check.h"
#include "core/files.h"
#include "core/outside.h"
#include "model/data/files/shard_index.h"

namespace aft {
namespace {

// The result of glob(), freed at the end.
class GlobResult {
  public:
    explicit GlobResult(const std::string& pattern)
        : code_(::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found_)) {}
    GlobResult(const GlobResult&) = delete;
    GlobResult& operator=(const GlobResult&) = delete;
    ~GlobResult() { ::globfree(&found_); }
    // By bytes: the order must not depend on the machine's language.
    [[nodiscard]] std::vector<std::string> sorted() const {
        if (code_ != 0) return {};
        std::vector<std::string> names(found_.gl_pathv, found_.gl_pathv + found_.gl_pathc);
        std::sort(names.begin(), names.end());
        return names;
    }

  private:
    glob_t found_{};
    int code_ = 0;
};

void add_matches(const Spec& spec, const std::string& pattern, Split part, ShardFiles& out) {
    const std::vector<std::string> names = GlobResult(pattern).sorted();
    if (names.empty()) {
        const bool has_brace = pattern.find('{') != std::string::npos;
        fail("data '{}': no file fits '{}'{}", spec.text, shown_path(pattern),
             has_brace ? "; braces stand for themselves: write * or [0-9] in their place"
                       : "; write a pattern of .tar files in quotes, as in "
                         "'shards:DIR/train-*.tar?val=DIR/val-*.tar'");
    }
    for (const std::string& name : names) out.files.push_back({.path = name, .part = part});
}

ShardFiles of_folder(const Spec& spec, const fs::path& folder) {
    const std::optional<ShardIndex> index = read_shard_index(folder);
    AFT_CHECK(index,
              "data '{}': '{}' has no index.json of 'afterimage data pack'; write a pattern, "
              "as in 'shards:{}/*.tar'",
              spec.text, shown_path(folder.string()), shown_path(folder.string()));
    for (const char* key : {"val", "test"})
        if (spec.options.contains(key))
            fail_usage(
                "data '{}': {} is for a pattern of shards; the parts of a folder are those "
                "of its index.json",
                spec.text, key);
    ShardFiles out;
    for (const ShardEntry& shard : index->shards)
        out.files.push_back(
            {.path = folder / shard.file, .part = shard.part, .examples = shard.examples});
    out.classes = index->classes;
    out.has_parts = true;
    return out;
}

// What the index.json beside the shards say of them.
void add_indexes(const Spec& spec, ShardFiles& out) {
    std::map<fs::path, std::map<std::string, int64_t>> folders;
    for (ShardFile& file : out.files) {
        const fs::path folder = file.path.parent_path();
        const auto [place, is_new] = folders.try_emplace(folder);
        if (is_new) {
            const auto index = read_shard_index(folder);
            if (!index) continue;
            if (out.classes && *out.classes != index->classes)
                fail_usage("data '{}': '{}' has other classes than the folders before it",
                           spec.text, shown_path((folder / kShardIndexName).string()));
            out.classes = index->classes;
            for (const ShardEntry& shard : index->shards)
                place->second[shard.file] = shard.examples;
        }
        const auto known = place->second.find(file.path.filename().string());
        if (known != place->second.end()) file.examples = known->second;
    }
}

void check_no_shard_twice(const Spec& spec, const ShardFiles& shards) {
    std::set<fs::path> seen;
    for (const ShardFile& file : shards.files)
        if (!seen.insert(file.path.lexically_normal()).second)
            fail_usage("data '{}': '{}' is in two parts", spec.text,
                       shown_path(file.path.string()));
}

}  // namespace

ShardFiles find_shards(const Spec& spec) {
    ShardFiles out;
    std::error_code error;
    if (fs::is_directory(spec.path, error)) {
        out = of_folder(spec, spec.path);
    } else {
        add_matches(spec, spec.path, Split::train, out);
        const auto add_option = [&](const char* key, Split part) {
            const auto found = spec.options.find(key);
            if (found == spec.options.end()) return;
            add_matches(spec, found->second, part, out);
            out.has_parts = true;
        };
        add_option("val", Split::validation);
        add_option("test", Split::test);
        add_indexes(spec, out);
    }
    check_no_shard_twice(spec, out);
    return out;
}

}  // namespace aft
