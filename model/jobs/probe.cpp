#include "model/jobs/probe.h"

#include <algorithm>
#include <cmath>

#include "core/colormap.h"
#include "core/files.h"
#include "core/json.h"
#include "core/writers.h"
#include "model/decode/input.h"
#include "model/device.h"
#include "model/probe/probe.h"
#include "model/traits.h"

namespace aft {

namespace {

enum class CellKind : uint8_t { gap, value, hidden };

struct Sheet {  // maps of one field, side by side
    std::vector<float> values;
    std::vector<CellKind> cells;
    int64_t rows = 0, columns = 0;
    bool is_folded = false;  // rows over sources, as small pictures
};

struct Fold {  // the token grid of a picture whose sources make up a row; 0: rows stay rows
    bool rows_over_sources = false;
    int64_t height = 0, width = 0;
};

Fold fold_of(const ProbeRoom& room, const ModelConfig& model) {
    if (!room.folds_sources || task_traits(model).is_text()) return {room.folds_sources};
    return {true, model.grid_height(), model.grid_width()};
}

// Rows over sources become little images of the token grid; heads become tiles; the rest is as is.
// marked: the same field with NaN where a target cannot see, or nullptr.
Sheet lay_out(const Field& field, const Field* marked, const Fold& fold) {
    int64_t height = field.shape.size() > 1 ? field.shape[field.shape.size() - 2] : 1;
    int64_t width = field.shape.empty() ? 1 : field.shape.back();
    if (fold.height > 0 && width % (fold.height * fold.width) == 0) {
        height = fold.height;
        width = width / height;
    }
    const int64_t tiles = field.size() / (height * width);
    const auto across = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(tiles))));
    const int64_t gap = tiles > 1 ? 1 : 0, down = (tiles + across - 1) / across;
    Sheet sheet;
    sheet.is_folded = fold.rows_over_sources;
    sheet.rows = down * (height + gap) - gap;
    sheet.columns = across * (width + gap) - gap;
    sheet.values.assign(static_cast<size_t>(sheet.rows * sheet.columns), 0.0F);
    sheet.cells.assign(sheet.values.size(), CellKind::gap);
    for (int64_t i = 0; i < field.size(); ++i) {
        const int64_t tile = i / (height * width), cell = i % (height * width);
        const int64_t y = tile / across * (height + gap) + cell / width;
        const int64_t x = tile % across * (width + gap) + cell % width;
        const auto to = static_cast<size_t>(y * sheet.columns + x), from = static_cast<size_t>(i);
        const bool hidden =
            marked && std::isnan(marked->values[from]) && !std::isnan(field.values[from]);
        sheet.values[to] = field.values[from];
        sheet.cells[to] = hidden ? CellKind::hidden : CellKind::value;
    }
    return sheet;
}

// Gaps are plain, what a target cannot see is hatched.
void paint_ground(Image& image, const Sheet& sheet, int64_t zoom) {
    constexpr Rgb kGround{0x15, 0x17, 0x1A}, kHatch{0x1B, 0x1E, 0x22}, kLine{0x34, 0x3A, 0x41};
    for (int64_t y = 0; y < image.height; ++y)
        for (int64_t x = 0; x < image.width; ++x) {
            const CellKind cell =
                sheet.cells[static_cast<size_t>(y / zoom * sheet.columns + x / zoom)];
            if (cell == CellKind::value) continue;
            const Rgb& colour = cell == CellKind::gap ? kGround : (x + y) % 6 == 0 ? kLine : kHatch;
            std::copy(colour.begin(), colour.end(),
                      image.pixels.begin() + (y * image.width + x) * image.channels);
        }
}

// Signed quantities in ember, shares and exp in viridis from 0: as in the window.
void write_picture(const std::string& path, const Field& field, const Sheet& sheet) {
    const auto quantity = field.notes.find("quantity");
    const std::string what = quantity == field.notes.end() ? "" : quantity->second;
    const bool is_signed = field.unit == "nats" || what == "exp-1";
    const Scale scale = what == "exp-1" ? Scale::signed_log : Scale::linear;
    const Colormap map = is_signed ? Colormap::ember_dark : Colormap::viridis;
    std::vector<float> seen;
    for (size_t i = 0; i < sheet.values.size(); ++i)
        if (sheet.cells[i] == CellKind::value) seen.push_back(sheet.values[i]);
    const Signs signs = what == "exp-1" ? Signs::above_minus_one
                        : is_signed     ? Signs::both
                                        : Signs::none;
    // As the window starts: a row of shares is shown up to its largest.
    Range range =
        map_range(seen, signs, sheet.is_folded && field.unit == "share" ? 100 : kMapPercentile);
    if (!is_signed)
        for (const float v : seen) range.low = std::min(range.low, double(v));
    constexpr int64_t kSide = 768;
    const int64_t longer = std::max(sheet.rows, sheet.columns);
    const int zoom = static_cast<int>(std::clamp<int64_t>(kSide / longer, 1, 16));
    Image image = colorize({sheet.values, sheet.rows, sheet.columns}, {range, scale, map}, zoom);
    paint_ground(image, sheet, zoom);
    write_png(path, image);
}

void check_out(const std::string& path) {
    const std::string kind = fs::path(path).extension().string();
    if (kind != ".npy" && kind != ".csv" && kind != ".png")
        fail_usage("-o '{}': the name must end in .npy, .csv or .png", path);
    check_writable(path);
}

ProbeRequest to_request(const ProbeJob& job, std::vector<uint8_t> tokens) {
    ProbeRequest request;
    request.probe = job.probe;
    request.layer = job.layer;
    request.head = job.head;
    request.channel = job.channel;
    request.position = job.position;
    request.options = job.options;
    request.tokens = std::move(tokens);
    return request;
}

ProbeResult describe(const Field& field) {
    double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
    int64_t count = 0;
    for (const float v : field.values) {
        if (!std::isfinite(v)) continue;
        low = std::min<double>(low, v);
        high = std::max<double>(high, v);
        sum += v;
        ++count;
    }
    ProbeResult out;
    out.field = field.name;
    out.unit = field.unit;
    out.shape = field.shape;
    out.axes = field.axes;
    out.step = field.step;
    out.notes = field.notes;
    if (count == 0) return out;
    out.min = low;
    out.max = high;
    out.mean = sum / static_cast<double>(count);
    return out;
}

}  // namespace

std::vector<ProbeInfo> probe_list() {
    std::vector<ProbeInfo> list;
    for (const ProbeRoom& room : probes()) list.push_back({room.info, room.options});
    return list;
}

ProbeResult probe_job(const ProbeJob& job, const JobControl& control) {
    const ProbeRoom& room = find_room(probes(), job.probe, "probe");
    check_out(job.out);
    const Checkpoint checkpoint = read_checkpoint(job.model);
    const InputTokens input =
        room.needs == ProbeNeeds::input
            ? read_input(checkpoint, {job.image, job.text, job.data, job.index})
            : InputTokens{};
    const Net net = make_net(checkpoint, parse_device(job.device));
    Activations kept;
    const ProbeContext context{net, checkpoint.step, control, kept};
    ProbeRequest request = to_request(job, input.tokens);
    const FieldSet set = run_probe(context, request);
    const Field& field = set.fields.front();
    const std::string kind = fs::path(job.out).extension().string();
    if (kind == ".npy") write_npy(job.out, field);
    if (kind == ".csv") write_csv(job.out, field);
    if (kind == ".png") {
        const bool marks = std::any_of(room.options.begin(), room.options.end(),
                                       [](const ProbeOption& o) { return o.key == "visible"; });
        if (marks) request.options["visible"] = "nan";
        const FieldSet marked = marks ? run_probe(context, request) : FieldSet{};
        write_picture(job.out, field,
                      lay_out(field, marks ? &marked.fields.front() : nullptr,
                              fold_of(room, checkpoint.config.model)));
    }
    ProbeResult result = describe(field);
    result.probe = job.probe;
    result.model = job.model;
    result.layer = job.layer;
    result.file = job.out;
    result.input_note = input.note;
    return result;
}

}  // namespace aft
