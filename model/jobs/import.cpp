#include "model/jobs/import.h"

#include "core/caught.h"
#include "core/check.h"
#include "core/files.h"
#include "model/checkpoints/importers/convert.h"
#include "model/device.h"

namespace aft {

namespace {

// Tensors outside the part that was taken, counted by their first word.
void add_outside(const TensorFile& file, const std::string& prefix, ImportResult& result) {
    std::map<std::string, int64_t> counts;
    for (const auto& [name, tensor] : file.tensors)
        if (!name.starts_with(prefix)) ++counts[name.substr(0, name.find('.'))];
    for (const auto& [name, count] : counts)
        result.dropped.push_back({name + ".*",
                                  fmt::format("{} tensors beside '{}', which was taken", count,
                                              prefix.substr(0, prefix.size() - 1)),
                                  {}});
}

ImportResult import_file(const ImportRequest& request) {
    if (!request.as.empty() && !request.map.empty())
        fail_usage("--as and --map: one of them, found both");
    if (!request.dry_run) check_writable(request.out);
    const TensorFile file = read_tensors(request.file);
    imports::ImportChoice wanted{
        .path = request.file, .as = request.as, .map = request.map, .given = {}};
    for (const auto& [key, value] : request.set) wanted.given.push_back(key);
    const imports::Recognised found = imports::recognise(file, wanted);
    imports::Converted converted = imports::convert(found, request.file, request.set);
    ImportResult result{.file = request.file,
                        .importer = found.mapping.info.name,
                        .sentence = found.mapping.info.sentence,
                        .prefix = found.view.prefix,
                        .out = request.dry_run ? "" : request.out,
                        .model = mixer_traits(converted.checkpoint.config.model).words,
                        .mapped = {},
                        .dropped = {},
                        .fresh = {}};
    for (imports::Moved& row : converted.moved)
        result.mapped.push_back({row.from, row.to, row.how, row.shape});
    for (imports::Left& row : converted.dropped)
        result.dropped.push_back({row.name, row.why, row.shape});
    for (imports::Left& row : converted.fresh)
        result.fresh.push_back({row.name, row.why, row.shape});
    if (!result.prefix.empty()) add_outside(file, result.prefix, result);
    for (const auto& [name, tensor] : converted.checkpoint.weights)
        result.parameters += tensor.numel();
    if (!request.dry_run) write_checkpoint(request.out, converted.checkpoint);
    return result;
}

}  // namespace

ImportResult import_job(const ImportRequest& request) {
    ImportResult result;
    with_plain_errors([&] { result = import_file(request); });
    return result;
}

std::vector<RoomInfo> importer_list() {
    std::vector<RoomInfo> list;
    for (const imports::Mapping& mapping : imports::known_mappings())
        list.push_back({mapping.info.name,
                        (mapping.refuse.empty() ? "" : "Refused: ") + mapping.info.sentence});
    return list;
}

}  // namespace aft
