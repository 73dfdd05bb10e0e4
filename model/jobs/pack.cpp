#include "model/jobs/pack.h"

#include <algorithm>

#include "core/check.h"
#include "core/files.h"
#include "core/images/codecs.h"
#include "core/outside.h"
#include "core/rng.h"
#include "model/data/files/shard_index.h"
#include "model/data/files/shard_scan.h"
#include "model/data/files/tar_writer.h"
#include "model/data/image_folder.h"
#include "model/jobs/pack_names.h"

namespace aft {
namespace {

constexpr int64_t kMebi = int64_t{1} << 20;

// A range of a part's pictures, in the order in which they are written.
struct PlannedShard {
    fs::path path{};
    size_t first = 0, count = 0;
};
struct PlannedPart {
    Split part = Split::train;
    ShardPattern pattern{};
    std::vector<PictureFile> files{};
    std::vector<PlannedShard> shards{};
};

PictureFolder pictures_of(const Spec& spec) {
    const SourceRoom& room = find_room(sources(), shown(spec.room), "data source");
    if (room.files == nullptr) {
        std::vector<std::string> able;
        for (const SourceRoom& other : sources())
            if (other.files != nullptr) able.push_back(other.info.name);
        fail_usage("data '{}': its pictures are no files of their own; allowed: {}", spec.text,
                   shown_names(able));
    }
    if (spec.path.empty())
        fail_usage("data '{}': a {} is missing; write {}:DIR", spec.text, room.path_kind,
                   spec.room);
    PictureFolder folder = room.files(spec);
    AFT_CHECK(static_cast<int64_t>(folder.class_names.size()) <= kMostClasses,
              "data '{}': {} classes; at most {} are packed", spec.text, folder.class_names.size(),
              kMostClasses);
    for (const std::string& name : folder.class_names)
        AFT_CHECK(printable_line(name) == name,
                  "data '{}': the class '{}' has control characters or is not in UTF-8, which "
                  "index.json cannot hold; rename its folder",
                  spec.text, shown(name));
    return folder;
}

// A shuffle of Fisher and Yates.
void shuffle_files(std::vector<PictureFile>& files, uint64_t seed, Split part) {
    CounterRng rng(seed, static_cast<uint64_t>(part));
    for (size_t i = files.size(); i > 1; --i)
        std::swap(files[i - 1], files[static_cast<size_t>(rng.below(static_cast<int64_t>(i)))]);
}

// Bytes of the picture and of its label in a shard.
int64_t packed_bytes(const PictureFile& file) {
    std::error_code error;
    const uint64_t size =
        fs::is_regular_file(file.path, error) ? fs::file_size(file.path, error) : 0;
    AFT_CHECK(!error && size <= kMaxImageBytes, "cannot pack '{}': {}",
              shown_path(file.path.string()),
              error ? error.message()
                    : fmt::format("{} bytes, at most {} are allowed", size, kMaxImageBytes));
    (void)read_file_part(file.path, 0, 0);  // that it can be opened
    const int64_t label = file.label < 0 ? 0 : TarWriter::member_bytes(1);
    return TarWriter::member_bytes(static_cast<int64_t>(size)) + label;
}

void plan_shards(PlannedPart& part, int64_t most_bytes) {
    int64_t bytes = 0;
    for (size_t i = 0; i < part.files.size(); ++i) {
        const int64_t more = packed_bytes(part.files[i]);
        const bool is_full = part.shards.empty() || bytes + more > most_bytes ||
                             static_cast<int64_t>(part.shards.back().count) == kMostShardExamples;
        if (is_full) {
            const auto number = static_cast<int64_t>(part.shards.size());
            part.shards.push_back(
                {.path = part.pattern.folder / part.pattern.file(number), .first = i});
            bytes = TarWriter::kEndBytes;
        }
        bytes += more;
        ++part.shards.back().count;
    }
    const auto count = static_cast<int64_t>(part.shards.size());
    if (count > part.pattern.most_shards())
        fail_usage(
            "-o: {} shards do not fit the number of '{}' (0 to {}); give it more digits, or "
            "--shard-mb a larger value",
            count, part.pattern.glob(), part.pattern.most_shards() - 1);
}

std::vector<PlannedPart> plan_parts(const PackRequest& request, const Spec& spec,
                                    PictureFolder& folder) {
    const ShardPattern pattern = parse_shard_pattern(request.out);
    const auto chosen = spec.options.find("split");
    const bool is_one = chosen != spec.options.end() && chosen->second != kAllParts;
    std::vector<PlannedPart> parts;
    for (const Split split : {Split::train, Split::validation, Split::test}) {
        if (folder.parts.part(split).empty()) continue;
        if (is_one && split != parse_split(chosen->second)) continue;
        parts.push_back({.part = split, .files = std::move(folder.parts.part(split))});
    }
    AFT_CHECK(!parts.empty(), "data '{}': no picture in this part", spec.text);
    for (PlannedPart& part : parts) {
        part.pattern = parts.size() == 1 ? pattern : pattern_of_part(pattern, part.part);
        if (request.seed)
            shuffle_files(part.files, static_cast<uint64_t>(*request.seed), part.part);
        plan_shards(part, request.shard_mb * kMebi);
    }
    return parts;
}

// Old shards of these patterns and their index.json: an Error, or with `force` the index goes
// first: it says that the shards beside it are whole.
void clear_place(const std::vector<PlannedPart>& parts, bool force) {
    const fs::path folder = parts.front().pattern.folder, index = folder / kShardIndexName;
    std::error_code error;
    const bool has_index = fs::exists(fs::symlink_status(index, error));
    AFT_CHECK(!has_index || read_shard_index(folder),
              "'{}' is there, and not of this program; choose another folder",
              shown_path(index.string()));
    for (const PlannedPart& part : parts) {
        const std::vector<fs::path> there = shards_there(part.pattern);
        AFT_CHECK(force || there.empty(),
                  "'{}' is there already ({} shards); --force replaces them",
                  shown_path(there.empty() ? "" : there.front().string()), there.size());
    }
    AFT_CHECK(force || !has_index, "'{}' is there already; --force replaces it and the shards",
              shown_path(index.string()));
    error.clear();
    if (has_index) fs::remove(index, error);
    AFT_CHECK(!error, "cannot remove '{}': {}", shown_path(index.string()), error.message());
}

// Those that a larger set has left.
void remove_stale(const PlannedPart& part) {
    for (const fs::path& path : shards_there(part.pattern)) {
        const bool is_ours =
            std::any_of(part.shards.begin(), part.shards.end(),
                        [&](const PlannedShard& shard) { return shard.path == path; });
        std::error_code error;
        if (!is_ours) fs::remove(path, error);
        AFT_CHECK(!error, "cannot remove '{}': {}", shown_path(path.string()), error.message());
    }
}

std::string lower_extension(const fs::path& path) {
    std::string kind = path.extension().string();
    std::transform(kind.begin(), kind.end(), kind.begin(), [](unsigned char c) {
        return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    });
    return kind;
}

class ShardPacker {
  public:
    ShardPacker(const std::vector<PlannedPart>& parts, const JobControl& control)
        : control_(control) {
        for (const PlannedPart& part : parts) total_ += static_cast<int64_t>(part.files.size());
    }

    void write(const PlannedPart& part) {
        for (const PlannedShard& shard : part.shards)
            write_atomically(shard.path, [&](std::ostream& out) {
                TarWriter tar(out);
                for (size_t i = shard.first; i < shard.first + shard.count && out.good(); ++i)
                    add(tar, part.files[i], i);
                tar.close();
            });
    }

  private:
    void add(TarWriter& tar, const PictureFile& file, size_t place) {
        if (control_.stop.stop_requested()) throw Interrupted();
        const std::string key = fmt::format("{:08}", place);
        tar.add(key + lower_extension(file.path), read_file(file.path, kMaxImageBytes));
        if (file.label >= 0) tar.add(key + ".cls", std::to_string(file.label));
        control_.report({.done = ++done_, .total = total_, .what = "pictures"});
    }

    const JobControl& control_;
    int64_t done_ = 0, total_ = 0;
};

PackedPart packed_part(const PlannedPart& part, ShardIndex& index) {
    PackedPart out{.part = split_name(part.part),
                   .pattern = part.pattern.glob(),
                   .examples = static_cast<int64_t>(part.files.size()),
                   .shards = static_cast<int64_t>(part.shards.size())};
    for (const PlannedShard& shard : part.shards) {
        out.bytes += static_cast<int64_t>(fs::file_size(shard.path));
        index.shards.push_back({.file = shard.path.filename().string(),
                                .part = part.part,
                                .examples = static_cast<int64_t>(shard.count)});
    }
    return out;
}

}  // namespace

PackResult pack_pictures(const PackRequest& request, const JobControl& control) {
    const Spec spec = parse_spec(request.data, control.stop);
    PictureFolder folder = pictures_of(spec);
    ShardIndex index{.classes = folder.class_names};
    const std::vector<PlannedPart> parts = plan_parts(request, spec, folder);
    const fs::path place = parts.front().pattern.folder;
    make_folder(place);
    check_writable(parts.front().shards.front().path);
    clear_place(parts, request.force);
    ShardPacker packer(parts, control);
    for (const PlannedPart& part : parts) {
        packer.write(part);
        if (request.force) remove_stale(part);
    }
    PackResult result{.data = "shards:" + place.string(),
                      .index = (place / kShardIndexName).string(),
                      .classes = static_cast<int64_t>(index.classes.size()),
                      .parts = {}};
    for (const PlannedPart& part : parts) result.parts.push_back(packed_part(part, index));
    write_shard_index(place, index);
    return result;
}

}  // namespace aft
