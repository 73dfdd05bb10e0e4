#include "model/metrics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "core/check.h"
#include "core/json.h"
#include "model/checkpoints/run_paths.h"

namespace aft {

namespace {

using nlohmann::json;

constexpr size_t kSlice = size_t{8} << 20;  // bytes read at a time
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// Fast path for the common form of a line: {"step":1,"loss":0.5,"timing":{"step_ms":20.5}}. Returns
// false for anything else; the general JSON parser reads that and reports errors.
class LineScanner {
  public:
    struct ScannedCell {
        std::string_view key;
        bool in_timing = false, is_integer = false;
        double value = kMissing;
    };

    // False: not of the common form.
    [[nodiscard]] bool scan(std::string_view line) {
        at_ = line.data();
        end_ = at_ + line.size();
        cells_.clear();
        has_timing_ = false;
        return object(/*in_timing=*/false) && (skip(), at_ == end_);
    }
    [[nodiscard]] const std::vector<ScannedCell>& cells() const { return cells_; }

  private:
    void skip() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
    }
    [[nodiscard]] bool take(char c) {
        skip();
        if (at_ == end_ || *at_ != c) return false;
        ++at_;
        return true;
    }
    [[nodiscard]] bool object(bool in_timing) {
        if (!take('{')) return false;
        if (take('}')) return true;
        do {
            ScannedCell cell;
            cell.in_timing = in_timing;
            if (!key(cell.key) || !take(':')) return false;
            skip();
            if (!in_timing && cell.key == "timing") {
                if (std::exchange(has_timing_, true) || !object(true)) return false;
            } else if (!value(cell)) {
                return false;
            } else {
                cells_.push_back(cell);
            }
        } while (take(','));
        return take('}');
    }
    [[nodiscard]] bool key(std::string_view& out) {
        if (!take('"')) return false;
        const char* const begin = at_;
        while (at_ != end_ && *at_ != '"' && *at_ != '\\' && *at_ >= 0x20 && *at_ < 0x7f) ++at_;
        out = {begin, size_t(at_ - begin)};
        return at_ != end_ && *at_++ == '"';
    }
    size_t digits() {
        const char* const begin = at_;
        while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
        return size_t(at_ - begin);
    }
    [[nodiscard]] bool value(ScannedCell& cell) {
        if (std::string_view(at_, size_t(end_ - at_)).starts_with("null")) {
            at_ += 4;
            return true;
        }
        const char* const begin = at_;
        if (at_ != end_ && *at_ == '-') ++at_;
        const bool is_zero = at_ != end_ && *at_ == '0';
        const size_t whole = digits();
        if (whole == 0 || (is_zero && whole > 1)) return false;
        cell.is_integer = true;
        if (at_ != end_ && *at_ == '.') {
            ++at_;
            cell.is_integer = false;
            if (digits() == 0) return false;
        }
        if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
            ++at_;
            cell.is_integer = false;
            if (at_ != end_ && (*at_ == '-' || *at_ == '+')) ++at_;
            if (digits() == 0) return false;
        }
        const auto [stop, error] = std::from_chars(begin, at_, cell.value);
        return error == std::errc() && stop == at_;
    }

    const char *at_ = nullptr, *end_ = nullptr;
    std::vector<ScannedCell> cells_;
    bool has_timing_ = false;
};

std::map<std::string, double> numbers(const json& object) {
    std::map<std::string, double> out;
    if (!object.is_object()) return out;
    for (const auto& [key, value] : object.items())
        if (value.is_number()) out[key] = value.get<double>();
    return out;
}

// Appends lines to curves: cells go to the column they went to in the line before.
class RowWriter {
  public:
    explicit RowWriter(Curves& curves) : curves_(curves) { find_columns(); }

    // False: the line is no JSON object. Error where it is no JSON at all.
    [[nodiscard]] bool add(std::string_view line, const JsonOrigin& origin) {
        if (scanner_.scan(line) && add_cells()) return true;
        const json parsed = parse_json(line, origin);
        if (!parsed.is_object()) return false;
        std::map<std::string, double> values = numbers(parsed);
        values.erase("step");
        if (parsed.contains("timing"))
            for (const auto& [key, value] : numbers(parsed["timing"]))
                values["timing." + key] = value;
        const auto step = parsed.find("step");
        const double at = step != parsed.end() && step->is_number() ? step->get<double>() : 0;
        add_row(curves_, std::abs(at) <= 0x1p53 ? static_cast<int64_t>(at) : 0, values);
        find_columns();
        return true;
    }

  private:
    struct KeySlot {
        std::string key;  // as in the line, without "timing."
        bool in_timing = false;
        NumberColumn* column = nullptr;
        double value = kMissing;  // of the line at hand
        size_t line = 0;          // the last one it was found in

        [[nodiscard]] bool is_of(const LineScanner::ScannedCell& cell) const {
            return in_timing == cell.in_timing && key == cell.key;
        }
    };

    void find_columns() {
        slots_.clear();
        order_.clear();
        for (auto& [key, column] : curves_.columns) {
            const bool in_timing = key.starts_with("timing.");
            slots_.push_back({in_timing ? key.substr(7) : key, in_timing, &column});
        }
    }
    // nullptr: a new column.
    KeySlot* slot_of(const LineScanner::ScannedCell& cell, size_t place) {
        if (place < order_.size() && slots_[order_[place]].is_of(cell))
            return &slots_[order_[place]];
        for (size_t i = 0; i < slots_.size(); ++i) {
            if (!slots_[i].is_of(cell)) continue;
            if (order_.size() <= place) order_.resize(place + 1);
            order_[place] = i;
            return &slots_[i];
        }
        return nullptr;
    }
    // False, and nothing added, on a new or duplicate key: the slow path handles that.
    [[nodiscard]] bool add_cells() {
        ++line_;
        std::optional<double> step;
        const auto& cells = scanner_.cells();
        for (size_t i = 0; i < cells.size(); ++i) {
            const LineScanner::ScannedCell& cell = cells[i];
            if (!cell.in_timing && cell.key == "step") {
                if (step || !cell.is_integer || std::abs(cell.value) > 0x1p53) return false;
                step = cell.value;
                continue;
            }
            if (std::isnan(cell.value)) continue;  // null
            KeySlot* const slot = slot_of(cell, i);
            if (slot == nullptr || slot->line == line_) return false;
            slot->line = line_;
            slot->value = cell.value;
        }
        curves_.step.push_back(step.value_or(0));
        for (KeySlot& slot : slots_)
            slot.column->push_back(slot.line == line_ ? slot.value : kMissing);
        ++curves_.version;
        return true;
    }

    Curves& curves_;
    LineScanner scanner_;
    std::vector<KeySlot> slots_;
    std::vector<size_t> order_;  // slot of each place in a line
    size_t line_ = 0;
};

// Whole lines only; longer ones than a slice are read whole.
std::string read_slice(const std::filesystem::path& path, uint64_t offset) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return {};  // nothing logged yet
    in.seekg(static_cast<std::streamoff>(offset));
    std::string text;
    while (in) {
        const size_t before = text.size();
        text.resize(before + kSlice);
        in.read(text.data() + before, std::streamsize(kSlice));
        text.resize(before + size_t(in.gcount()));
        const size_t end = text.rfind('\n');
        if (end == std::string::npos) continue;
        text.resize(end + 1);
        return text;
    }
    return {};  // torn, or still being written
}

}  // namespace

void add_row(Curves& curves, int64_t step, const std::map<std::string, double>& values) {
    const size_t rows = curves.step.size();
    curves.step.push_back(static_cast<double>(step));
    const auto fill = [](NumberColumn& column, size_t size) {
        while (column.size() < size) column.push_back(kMissing);
    };
    for (const auto& [key, value] : values) {
        NumberColumn& column = curves.columns[key];
        fill(column, rows);
        column.push_back(value);
    }
    for (auto& [key, column] : curves.columns) fill(column, rows + 1);
    ++curves.version;
}

void append_rows(std::string_view lines, const std::filesystem::path& file, uint64_t& offset,
                 Curves& curves) {
    RowWriter writer(curves);
    for (size_t begin = 0; begin < lines.size();) {
        const size_t end = std::min(lines.find('\n', begin), lines.size());
        const JsonOrigin origin{.file = file.native(), .line_at = offset};
        if (!writer.add(lines.substr(begin, end - begin), origin))
            fail("{}: the line at byte {} is not a JSON object", file.string(), offset);
        offset += end + 1 - begin;
        begin = end + 1;
    }
}

bool read_rows(const std::filesystem::path& run, uint64_t& offset, Curves& curves) {
    const std::filesystem::path path = metrics_path(run);
    const std::string text = read_slice(path, offset);
    append_rows(text, path, offset, curves);
    return !text.empty();
}

double last_value(const Curves& curves, const std::string& column) {
    const auto found = curves.columns.find(column);
    if (found == curves.columns.end()) return kMissing;
    for (size_t i = found->second.size(); i-- > 0;)
        if (!std::isnan(found->second[i])) return found->second[i];
    return kMissing;
}

}  // namespace aft
