// Mutations of the run folder: what a resume drops, and which checkpoints are kept.
#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "model/train/run_folder.h"
#include "tests/model/train/train_fixtures.h"
#include "tests/mutants.h"

namespace aft {
namespace {

namespace fs = std::filesystem;

// The two things that remove: both get a folder as it was before.
struct FolderPart {
    std::function<void(const fs::path&, int64_t)> resume_from;
    std::function<void(RunFolder&, int64_t)> save;
};

Checkpoint checkpoint_at(int64_t step) {
    Checkpoint checkpoint;
    checkpoint.config = tiny_config();
    checkpoint.step = step;
    return checkpoint;
}

FolderPart real_folder() {
    return {.resume_from = [](const fs::path& path,
                              int64_t step) { RunFolder(path).resume_from(step, tiny_config()); },
            .save = [](RunFolder& run, int64_t step) { (void)run.save(checkpoint_at(step)); }};
}

std::vector<int64_t> logged_steps(const fs::path& run) {
    std::ifstream in(run / "metrics.jsonl");
    std::vector<int64_t> steps;
    for (std::string line; std::getline(in, line);) {
        const nlohmann::json read = nlohmann::json::parse(line, nullptr, false);
        steps.push_back(read.is_object() ? read.value("step", int64_t{-1}) : -1);
    }
    return steps;
}

std::string resume_mistake(const FolderPart& part) {
    const Scratch folder;
    const fs::path path = folder / "run";
    {
        RunFolder run(path, tiny_config());
        for (int64_t step = 1; step <= 6; ++step) {
            StepReport report;
            report.step = step;
            report.values = {{"loss", 1.0 / static_cast<double>(step)}};
            run.log(report);
        }
    }
    std::ofstream(path / "metrics.jsonl", std::ios::app) << "{\"step\": 7, \"lo";
    part.resume_from(path, 4);
    if (logged_steps(path) != std::vector<int64_t>{1, 2, 3, 4})
        return "the log does not end at the step that is resumed";
    RunFolder run(path);
    run.resume_from(4, tiny_config());
    StepReport report;
    report.step = 5;
    run.log(report);
    return logged_steps(path) == std::vector<int64_t>{1, 2, 3, 4, 5} ? ""
                                                                     : "the log does not continue";
}

std::string save_mistake(const FolderPart& part) {
    const Scratch folder;
    Config config = tiny_config();
    config.train.keep_checkpoints = 2;
    RunFolder run(folder / "run", config);
    put(folder / "run" / "notes.json", R"({"pinned": [10]})");
    for (const int64_t step : {10, 20, 30}) part.save(run, step);
    run.keep_save(20, SaveKind::by_hand);
    for (const int64_t step : {40, 50}) part.save(run, step);
    return checkpoint_steps(folder / "run") == std::vector<int64_t>{10, 20, 40, 50}
               ? ""
               : "kept are not the newest two, the pinned one and the one saved by hand";
}

std::string folder_mistake(const FolderPart& part) {
    const std::string wrong = resume_mistake(part);
    return wrong.empty() ? save_mistake(part) : wrong;
}

// Resumes rightly, and leaves another log: the lines that `keeps` says of those that were there.
Mutant<FolderPart> with_log(const std::string& name,
                            const std::function<bool(int64_t step, int64_t from)>& keeps) {
    FolderPart part = real_folder();
    part.resume_from = [keeps](const fs::path& path, int64_t from) {
        std::ifstream in(path / "metrics.jsonl");
        std::string kept;
        int64_t number = 0;
        for (std::string line; std::getline(in, line);)
            if (keeps(++number, from)) kept += line + (in.eof() ? "" : "\n");
        in.close();
        real_folder().resume_from(path, from);
        put(path / "metrics.jsonl", kept);
    };
    return {name, part};
}

// Saves rightly, and then removes one that `removes` chooses of those that are there.
Mutant<FolderPart> with_removal(
    const std::string& name, const std::function<int64_t(const std::vector<int64_t>&)>& removes) {
    FolderPart part = real_folder();
    part.save = [removes](RunFolder& run, int64_t step) {
        (void)run.save(checkpoint_at(step));
        const std::vector<int64_t> steps = checkpoint_steps(run.path());
        if (steps.size() > 2) remove_save(run.path(), removes(steps));
    };
    return {name, part};
}

TEST(Mutants, RunFolderMistakesAreNoticed) {
    FolderPart never_prunes = real_folder();
    never_prunes.save = [](RunFolder& run, int64_t step) {
        (void)run.save(checkpoint_at(step), SaveKind::by_hand);
    };
    FolderPart by_time = real_folder();
    by_time.save = [](RunFolder& run, int64_t step) {
        (void)run.save(checkpoint_at(step), SaveKind::by_time);
    };
    using Steps = std::vector<int64_t>;
    expect_noticed(
        folder_mistake, real_folder(),
        {with_log("drops no lines", [](int64_t, int64_t) { return true; }),
         with_log("keeps one line too many", [](auto step, auto from) { return step <= from + 1; }),
         with_log("drops the line of the step", [](auto step, auto from) { return step < from; }),
         with_log("leaves the torn line",
                  [](auto step, auto from) { return step <= from || step == 7; }),
         with_log("drops the lines before", [](auto step, auto from) { return step == from; }),
         with_log("drops the whole log", [](int64_t, int64_t) { return false; }),
         with_removal("removes the oldest, pinned or not", [](const Steps& s) { return s[0]; }),
         with_removal("removes the newest", [](const Steps& s) { return s.back(); }),
         with_removal("keeps one too few", [](const Steps& s) { return s[s.size() - 2]; }),
         {"removes none", never_prunes},
         {"removes what is not the last", by_time}});
}

}  // namespace
}  // namespace aft
