#include "core/npz.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "core/check.h"
#include "core/files.h"
#include "core/writers.h"

namespace aft {
namespace {

constexpr size_t kMostTables = 65000, kCsvAxes = 3;
constexpr uint64_t kMostBytes = std::numeric_limits<uint32_t>::max();
constexpr uint16_t kZipVersion = 20;
constexpr uint32_t kLocalHead = 0x04034b50, kCentralHead = 0x02014b50, kEnd = 0x06054b50;

void check_table(const std::filesystem::path& path, const NumberTable& table) {
    const int64_t size =
        std::accumulate(table.shape.begin(), table.shape.end(), int64_t{1}, std::multiplies<>());
    AFT_CHECK(size == int64_t(table.values.size()),
              "cannot write '{}': '{}' has {} values, its shape says {}", path.string(), table.name,
              table.values.size(), size);
}

template <class Number>
void put(std::string& out, Number value) {  // little endian, as this machine is
    char bytes[sizeof(Number)];
    std::memcpy(bytes, &value, sizeof(Number));
    out.append(bytes, sizeof(Number));
}

struct ZipMember {
    std::string name;
    uint32_t crc = 0, bytes = 0, offset = 0;
};

// What the local and the central head have in common: version to the length of the name.
std::string common_head(const ZipMember& member) {
    constexpr uint16_t kStored = 0, kNoFlags = 0, kNoTime = 0, kFirstDay = 33;
    std::string out;
    put(out, kZipVersion);
    put(out, kNoFlags);
    put(out, kStored);
    put(out, kNoTime);
    put(out, kFirstDay);
    put(out, member.crc);
    put(out, member.bytes);
    put(out, member.bytes);
    put(out, uint16_t(member.name.size()));
    put(out, uint16_t{0});  // no extra field
    return out;
}

class ZipWriter {
  public:
    explicit ZipWriter(std::ostream& out) : out_(out) {}
    void add(const std::string& name, const std::string& head, std::string_view data) {
        ZipMember member{name, 0, uint32_t(head.size() + data.size()), uint32_t(written_)};
        const auto crc = [&](uLong before, std::string_view bytes) {
            return crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
        };
        member.crc = uint32_t(crc(crc(0, head), data));
        std::string local;
        put(local, kLocalHead);
        local += common_head(member) + name;
        write(local);
        write(head);
        write(data);
        members_.push_back(std::move(member));
    }
    void finish() {
        const uint64_t begin = written_;
        for (const ZipMember& member : members_) {
            std::string central;
            put(central, kCentralHead);
            put(central, kZipVersion);
            central += common_head(member);
            put(central, uint16_t{0});  // no comment, one disk, no attributes
            put(central, uint32_t{0});
            put(central, uint32_t{0});
            put(central, member.offset);
            write(central + member.name);
        }
        std::string end;
        put(end, kEnd);
        put(end, uint32_t{0});
        put(end, uint16_t(members_.size()));
        put(end, uint16_t(members_.size()));
        put(end, uint32_t(written_ - begin));
        put(end, uint32_t(begin));
        put(end, uint16_t{0});
        write(end);
    }

  private:
    void write(std::string_view bytes) {
        out_.write(bytes.data(), std::streamsize(bytes.size()));
        written_ += bytes.size();
    }
    std::ostream& out_;
    uint64_t written_ = 0;
    std::vector<ZipMember> members_;
};

// The shortest digits that read back as the number; of a float32 its own.
std::string csv_number(double value) {
    const auto single = static_cast<float>(value);
    return double(single) == value ? fmt::format("{}", single) : fmt::format("{}", value);
}

}  // namespace

std::string table_csv(const NumberTable& table) {
    std::string out;
    const size_t columns = table.columns.size();
    for (size_t c = 0; c < columns; ++c) out += (c == 0 ? "" : ",") + csv_cell(table.columns[c]);
    for (size_t i = 0; columns > 0 && i < table.values.size(); ++i) {
        out += i % columns == 0 ? '\n' : ',';
        const bool is_number = std::isfinite(table.values[i]) || i >= table.words.size();
        out += is_number ? csv_number(table.values[i]) : csv_cell(table.words[i]);
    }
    return out + "\n";
}

void write_npz(const std::filesystem::path& path, std::span<const NumberTable> tables,
               const std::string& note) {
    AFT_CHECK(tables.size() <= kMostTables, "cannot write '{}': {} tables, at most {} fit",
              path.string(), tables.size(), kMostTables);
    constexpr uint64_t kHeads = 512;  // of one member, at most
    uint64_t bytes = note.size() + kHeads;
    for (const NumberTable& table : tables) {
        check_table(path, table);
        bytes += table.values.size() * sizeof(double) + kHeads + 3 * table.name.size();
        for (const std::string& word : table.words) bytes += word.size() + kHeads;
    }
    AFT_CHECK(bytes <= kMostBytes, "cannot write '{}': {} bytes, at most {} fit", path.string(),
              bytes, kMostBytes);
    write_atomically(path, [&](std::ostream& out) {
        ZipWriter zip(out);
        for (const NumberTable& table : tables) {
            zip.add(table.name + ".npy", npy_header(table.shape, "<f8"),
                    {reinterpret_cast<const char*>(table.values.data()),
                     table.values.size() * sizeof(double)});
            if (!table.columns.empty()) zip.add(table.name + ".csv", "", table_csv(table));
        }
        zip.add("note.json", "", note);
        zip.finish();
    });
}

void write_csv(const std::filesystem::path& path, std::span<const NumberTable> tables) {
    for (const NumberTable& table : tables) {
        check_table(path, table);
        AFT_CHECK(table.shape.size() <= kCsvAxes, "cannot write '{}': '{}' has {} axes, at most {}",
                  path.string(), table.name, table.shape.size(), kCsvAxes);
    }
    write_atomically(path, [&](std::ostream& out) {
        out << "table,index0,index1,index2,value\n";
        for (const NumberTable& table : tables) {
            const std::string name = csv_cell(table.name);
            std::vector<int64_t> index(table.shape.size(), 0);
            for (const double value : table.values) {
                out << name << ',';
                for (size_t axis = 0; axis < kCsvAxes; ++axis)
                    out << (axis < index.size() ? std::to_string(index[axis]) : "") << ',';
                out << csv_number(value) << '\n';
                for (size_t axis = index.size(); axis-- > 0;) {
                    if (++index[axis] < table.shape[axis]) break;
                    index[axis] = 0;
                }
            }
        }
    });
}

}  // namespace aft
