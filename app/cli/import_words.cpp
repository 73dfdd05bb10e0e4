#include "app/cli/import_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "core/folded_lines.h"
#include "core/outside.h"
#include "core/text.h"

namespace aft::app {
namespace {

std::string shape_words(const std::vector<int64_t>& shape) {
    return shape.empty() ? "" : fmt::format(" [{}]", fmt::join(shape, ", "));
}

}  // namespace

std::string reason_words(const std::string& title, const std::vector<NamedReason>& rows,
                         bool every_tensor) {
    FoldedLines named(every_tensor);
    for (const NamedReason& row : rows)
        named.add({row.name}, shape_words(row.shape) + ": " + printable_line(row.why));
    return fmt::format("{}:{}\n{}", title, rows.empty() ? " nothing" : "", named.words());
}

std::string import_words(const ImportResult& result, bool every_tensor) {
    std::string words =
        fmt::format("{} as {}: {}\n", printable_line(result.file), printable_line(result.importer),
                    printable_line(result.sentence));
    if (!result.prefix.empty())
        words += fmt::format("taken: what lies under '{}'\n", printable_line(result.prefix));
    FoldedLines mapped(every_tensor);
    for (const ImportedTensor& row : result.mapped)
        mapped.add({row.from, row.to},
                   shape_words(row.shape) + (row.how.empty() ? "" : ", " + row.how));
    words += "mapped:\n" + mapped.words();
    words += reason_words("dropped", result.dropped, every_tensor) +
             reason_words("new", result.fresh, every_tensor);
    words += fmt::format("{}, {} parameters\n", result.model, group_thousands(result.parameters));
    for (const std::string& note : result.notes)
        words += fmt::format("note: {}\n", printable_line(note));
    words += result.out.empty() ? "nothing written (--dry-run)\n"
                                : fmt::format("written: {}\n", printable_line(result.out));
    return words;
}

}  // namespace aft::app
