#include <fmt/format.h>

#include "core/figure/drawing.h"
#include "core/images/svg.h"
#include "core/text.h"

namespace aft {

namespace {

std::string box_of(const DrawBox& box) {
    return fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", svg_number(box.x),
                       svg_number(box.y), svg_number(box.width), svg_number(box.height));
}

struct SvgWriter {
    std::string body = {};
    std::string patterns = {};  // one for each pair of hatch colours

    void operator()(const TextMark& mark) {
        constexpr const char* kAnchors[] = {"start", "middle", "end"};
        body += fmt::format(
            "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\" text-anchor=\"{}\"{}>{}</text>\n",
            svg_number(mark.at.x), svg_number(mark.at.y), svg_number(mark.size),
            svg_color(mark.ink), kAnchors[static_cast<int>(mark.anchor)],
            mark.is_bold ? " font-weight=\"600\"" : "", xml_text(mark.words));
    }
    void operator()(const FillMark& mark) {
        body += fmt::format("<rect {} fill=\"{}\"/>\n", box_of(mark.box), svg_color(mark.ink));
    }
    void operator()(const HatchMark& mark) {
        const std::string id = fmt::format("hatch-{:06X}-{:06X}", mark.ground, mark.line);
        if (patterns.find(id) == std::string::npos)
            patterns += fmt::format(
                "<pattern id=\"{}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
                "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"{}\"/>"
                "<rect width=\"1.2\" height=\"6\" fill=\"{}\"/></pattern>\n",
                id, svg_color(mark.ground), svg_color(mark.line));
        body += fmt::format("<rect {} fill=\"url(#{})\"/>\n", box_of(mark.box), id);
    }
    void operator()(const LineMark& mark) {
        body += "<polyline points=\"";
        for (const DrawPoint& point : mark.points)
            body += fmt::format("{},{} ", svg_number(point.x), svg_number(point.y));
        body += fmt::format("\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"",
                            svg_color(mark.ink), svg_number(mark.width));
        if (mark.opacity < 1)
            body += fmt::format(" stroke-opacity=\"{}\"", svg_number(mark.opacity));
        body += " stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n";
    }
    void operator()(const DotMark& mark) {
        body += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n",
                            svg_number(mark.at.x), svg_number(mark.at.y), svg_number(mark.radius),
                            svg_color(mark.ink));
    }
    void operator()(const ImageMark& mark) {
        body += fmt::format(
            "<image {} preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
            "href=\"{}\"/>\n",
            box_of(mark.box), png_data_uri(mark.image));
    }
};

}  // namespace

std::string to_svg(const FigureDrawing& drawing) {
    SvgWriter writer;
    for (const DrawMark& mark : drawing.marks) std::visit(writer, mark);
    const std::string size = fmt::format("width=\"{}\" height=\"{}\"", svg_number(drawing.width),
                                         svg_number(drawing.height));
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {} viewBox=\"0 0 {} {}\" role=\"img\" "
        "font-family=\"Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif\">\n"
        "<title>{}</title>\n<defs>\n{}</defs>\n<rect {} fill=\"{}\"/>\n{}</svg>\n",
        size, svg_number(drawing.width), svg_number(drawing.height), xml_text(drawing.title),
        writer.patterns, size, svg_color(drawing.ground), writer.body);
}

}  // namespace aft
