// The JSON of what commands answer beside the results of jobs (app/cli/results_json.h): figures,
// pictures of the window, its response, lists, the demo. Pure but for the sizes of files. Any
// thread.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/figures/figure.h"
#include "app/host/response.h"
#include "model/jobs/lists.h"

namespace aft::app {

// "file" is where `result` was written, as the command was asked for.
[[nodiscard]] nlohmann::json figure_json(const FigureRequest& request, const std::string& file,
                                         const FigureResult& result);

// A picture that a command wrote: width x height pixels (0: not said), and what it shows.
struct WrittenPicture {
    std::string file, shows{};
    int64_t width = 0, height = 0;
};
// With the bytes of each file. std::filesystem::filesystem_error: one of them is gone.
[[nodiscard]] nlohmann::json shots_json(const std::vector<WrittenPicture>& pictures);
[[nodiscard]] nlohmann::json demo_json(const std::string& run,
                                       const std::vector<WrittenPicture>& pictures);

[[nodiscard]] nlohmann::json responses_json(const std::vector<ResponseRow>& rows);

// By the name of each list its rooms; `ids`: of the rooms that have one, by their names.
[[nodiscard]] nlohmann::json lists_json(const std::vector<NamedList>& lists,
                                        const std::map<std::string, std::string>& ids);

}  // namespace aft::app
