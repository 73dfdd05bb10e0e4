#include "core/figure/scene.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/figure/parts.h"
#include "core/files.h"
#include "core/images/codecs.h"
#include "core/outside.h"
#include "core/text.h"

namespace aft {

namespace {

constexpr double kLeastWidth = 560, kTitle = 16, kNoteLine = 18;

FigureInk ink_of(bool is_dark) {
    if (is_dark) return {kPlotColorsDark, 0x1B1E22, 0x343A41, true};
    FigureInk ink{kPlotColorsLight, 0xEDEEF0, 0xC3C8CE, false};
    ink.colors.pane = 0xFFFFFF;  // of paper
    return ink;
}

// Lines no wider than `most`; a word that is wider has a line of its own.
std::vector<std::string> wrapped(const std::string& words, double most) {
    std::vector<std::string> lines;
    std::string line;
    for (const std::string& word : split(words, ' ')) {
        const std::string longer = line.empty() ? word : line + " " + word;
        if (!line.empty() && text_width(longer, kFigureText) > most) {
            lines.push_back(line);
            line = word;
        } else {
            line = longer;
        }
    }
    lines.push_back(line);
    return lines;
}

// The parts one below the other, and how wide they are.
double draw_parts(FigureDrawing& to, const FigureInk& ink, const FigureScene& figure) {
    double y = 0, width = 0;
    for (const auto& part : figure.parts) {
        if (y > 0) y += 20;
        const DrawPoint at{kFigureMargin, y};
        const DrawBox box = std::holds_alternative<FigureGrid>(part)
                                ? draw_grid(to, ink, std::get<FigureGrid>(part), at)
                                : draw_plot(to, ink, std::get<FigurePlot>(part), at);
        y = box.bottom();
        width = std::max(width, box.width);
    }
    to.height = y;
    return width;
}

void shift(DrawMark& mark, double down) {
    std::visit(
        [down](auto& one) {
            if constexpr (requires { one.box; })
                one.box.y += down;
            else if constexpr (requires { one.points; })
                for (DrawPoint& point : one.points) point.y += down;
            else
                one.at.y += down;
        },
        mark);
}

}  // namespace

FigureDrawing draw_figure(const FigureScene& figure) {
    const FigureInk ink = ink_of(figure.is_dark);
    FigureDrawing parts;
    const double title = text_width(figure.title, kTitle, true);
    const double width = std::ceil(std::max({draw_parts(parts, ink, figure), kLeastWidth, title}));
    FigureDrawing out{width + 2 * kFigureMargin, 0, ink.colors.pane, figure.title, {}};
    double y = kFigureMargin + 14;
    out.marks.emplace_back(TextMark{.at = {kFigureMargin, y},
                                    .words = figure.title,
                                    .size = kTitle,
                                    .ink = ink.colors.text1,
                                    .is_bold = true});
    y += 6;
    for (const std::string& note : figure.notes)
        for (const std::string& line : wrapped(note, width)) {
            y += kNoteLine;
            out.marks.emplace_back(TextMark{.at = {kFigureMargin, y},
                                            .words = line,
                                            .size = kFigureText,
                                            .ink = ink.colors.text2});
        }
    y += 22;
    for (DrawMark& mark : parts.marks) {
        shift(mark, y);
        out.marks.push_back(std::move(mark));
    }
    out.height = std::ceil(y + parts.height + kFigureMargin);
    return out;
}

std::string figure_number(double v) {
    if (v == 0 || !std::isfinite(v)) return v == 0 ? "0" : "not finite";
    const double size = std::abs(v);
    std::string words;
    if (size >= 9999.5 || size < 0.00095) {
        words = fmt::format("{:.1e}", size);
        const size_t e = words.find('e');  // 1.5e-06 -> 1.5e-6
        words = words.substr(0, e + 1) + (words[e + 1] == '-' ? "\u2212" : "") +
                std::to_string(std::stoi(words.substr(e + 2)));
    } else {
        const int digits = static_cast<int>(std::floor(std::log10(size)));
        words = fmt::format("{:.{}f}", size, std::clamp(2 - digits, 0, 5));
        if (words.find('.') != std::string::npos) {
            while (words.back() == '0') words.pop_back();
            if (words.back() == '.') words.pop_back();
        }
    }
    return v < 0 ? "\u2212" + words : words;
}

void check_figure_file(const std::filesystem::path& path) {
    const std::string kind = path.extension().string();
    if (kind != ".png" && kind != ".svg")
        fail_usage("-o '{}': the name must end in .png or .svg", shown_path(path.string()));
    check_writable(path);
}

void write_figure(const std::filesystem::path& path, const FigureScene& figure, int scale) {
    const FigureDrawing drawing = draw_figure(figure);
    if (path.extension() == ".svg") return write_atomically(path, to_svg(drawing));
    const double longer = std::max(drawing.width, drawing.height) * scale;
    const double pixels = drawing.width * drawing.height * scale * scale;
    if (longer > static_cast<double>(kMaxSide) || pixels > static_cast<double>(kMaxPixels))
        fail_usage(
            "{}: the picture would have {:.0f} x {:.0f} pixels, allowed: {} a side and {} in all; "
            "a smaller --scale, fewer layers or heads, or .svg",
            shown_path(path.string()), drawing.width * scale, drawing.height * scale, kMaxSide,
            kMaxPixels);
    write_png(path, to_image(drawing, scale));
}

}  // namespace aft
