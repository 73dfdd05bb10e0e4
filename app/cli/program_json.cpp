#include "app/cli/program_json.h"

#include <filesystem>
#include <nlohmann/json.hpp>

namespace aft::app {

using nlohmann::json;

json figure_json(const FigureRequest& request, const std::string& file,
                 const FigureResult& result) {
    json ranges = json::array();
    for (const FigureRange& range : result.ranges)
        ranges.push_back({{"what", range.what},
                          {"min", range.values.low},
                          {"max", range.values.high},
                          {"low", range.colors.low},
                          {"high", range.colors.high}});
    return {{"figure", request.figure},    {"models", request.models},    {"file", file},
            {"title", result.scene.title}, {"notes", result.scene.notes}, {"ranges", ranges}};
}

json shots_json(const std::vector<WrittenPicture>& pictures) {
    json files = json::array();
    for (const WrittenPicture& picture : pictures)
        files.push_back({{"file", picture.file},
                         {"width", picture.width},
                         {"height", picture.height},
                         {"bytes", std::filesystem::file_size(picture.file)}});
    return {{"files", files}};
}

json demo_json(const std::string& run, const std::vector<WrittenPicture>& pictures) {
    json list = json::array();
    for (const WrittenPicture& picture : pictures)
        list.push_back({{"file", picture.file}, {"shows", picture.shows}});
    return {{"run", run}, {"pictures", list}};
}

json responses_json(const std::vector<ResponseRow>& rows) {
    json all = json::array();
    for (const ResponseRow& row : rows)
        all.push_back({{"model", row.model},
                       {"input", row.what},
                       {"budget_ms", row.budget_ms},
                       {"ms", row.ms},
                       {"note", row.note}});
    return all;
}

json lists_json(const std::vector<NamedList>& lists,
                const std::map<std::string, std::string>& ids) {
    json all = json::object();
    for (const NamedList& list : lists) {
        json& rooms = all[list.name] = json::array();
        for (const RoomInfo& room : list.rooms) {
            rooms.push_back({{"name", room.name}, {"sentence", room.sentence}});
            if (const auto id = ids.find(room.name); id != ids.end() && list.name == "actions")
                rooms.back()["id"] = id->second;
        }
    }
    return all;
}

}  // namespace aft::app
