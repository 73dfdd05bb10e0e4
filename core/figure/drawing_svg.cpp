#include <fmt/format.h>

#include "core/codecs.h"
#include "core/figure/drawing.h"
#include "core/text.h"

namespace aft {

namespace {

std::string hex(uint32_t ink) {
    return fmt::format("#{:06X}", ink & 0xFFFFFFU);
}

// One decimal is enough for a place, and none is written where there is none.
std::string place(double v) {
    std::string text = fmt::format("{:.2f}", v);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

std::string base64(std::string_view bytes) {
    static constexpr char kLetters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (size_t i = 0; i < bytes.size(); i += 3) {
        const size_t left = bytes.size() - i;
        const auto at = [&](size_t n) {
            return n < left ? uint32_t{static_cast<uint8_t>(bytes[i + n])} : uint32_t{0};
        };
        const uint32_t word = at(0) << 16U | at(1) << 8U | at(2);
        out += kLetters[word >> 18U & 63U];
        out += kLetters[word >> 12U & 63U];
        out += left > 1 ? kLetters[word >> 6U & 63U] : '=';
        out += left > 2 ? kLetters[word & 63U] : '=';
    }
    return out;
}

std::string box_of(const DrawBox& box) {
    return fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", place(box.x), place(box.y),
                       place(box.width), place(box.height));
}

struct SvgWriter {
    std::string body = {};
    std::string patterns = {};  // one for each pair of hatch colours

    void operator()(const TextMark& mark) {
        constexpr const char* kAnchors[] = {"start", "middle", "end"};
        body += fmt::format(
            "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\" text-anchor=\"{}\"{}>{}</text>\n",
            place(mark.at.x), place(mark.at.y), place(mark.size), hex(mark.ink),
            kAnchors[static_cast<int>(mark.anchor)], mark.is_bold ? " font-weight=\"600\"" : "",
            xml_text(mark.words));
    }
    void operator()(const FillMark& mark) {
        body += fmt::format("<rect {} fill=\"{}\"/>\n", box_of(mark.box), hex(mark.ink));
    }
    void operator()(const HatchMark& mark) {
        const std::string id = fmt::format("hatch-{:06X}-{:06X}", mark.ground, mark.line);
        if (patterns.find(id) == std::string::npos)
            patterns += fmt::format(
                "<pattern id=\"{}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
                "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"{}\"/>"
                "<rect width=\"1.2\" height=\"6\" fill=\"{}\"/></pattern>\n",
                id, hex(mark.ground), hex(mark.line));
        body += fmt::format("<rect {} fill=\"url(#{})\"/>\n", box_of(mark.box), id);
    }
    void operator()(const LineMark& mark) {
        body += "<polyline points=\"";
        for (const DrawPoint& point : mark.points)
            body += fmt::format("{},{} ", place(point.x), place(point.y));
        body += fmt::format("\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"", hex(mark.ink),
                            place(mark.width));
        if (mark.opacity < 1) body += fmt::format(" stroke-opacity=\"{}\"", place(mark.opacity));
        body += " stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n";
    }
    void operator()(const DotMark& mark) {
        body += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n",
                            place(mark.at.x), place(mark.at.y), place(mark.radius), hex(mark.ink));
    }
    void operator()(const ImageMark& mark) {
        body += fmt::format(
            "<image {} preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
            "href=\"data:image/png;base64,{}\"/>\n",
            box_of(mark.box), base64(encode_png(mark.image)));
    }
};

}  // namespace

std::string to_svg(const FigureDrawing& drawing) {
    SvgWriter writer;
    for (const DrawMark& mark : drawing.marks) std::visit(writer, mark);
    const std::string size =
        fmt::format("width=\"{}\" height=\"{}\"", place(drawing.width), place(drawing.height));
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {} viewBox=\"0 0 {} {}\" role=\"img\" "
        "font-family=\"Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif\">\n"
        "<title>{}</title>\n<defs>\n{}</defs>\n<rect {} fill=\"{}\"/>\n{}</svg>\n",
        size, place(drawing.width), place(drawing.height), xml_text(drawing.title), writer.patterns,
        size, hex(drawing.ground), writer.body);
}

}  // namespace aft
