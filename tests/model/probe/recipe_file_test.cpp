// Recipes as files: what is written is read back, what is wrong is named, and two thousand broken
// files are read or refused.
#include <gtest/gtest.h>

#include <random>

#include "core/check.h"
#include "core/files.h"
#include "model/jobs/recipe.h"
#include "tests/model/scratch.h"

namespace aft {
namespace {

Recipe all_kinds() {
    Recipe recipe;
    recipe.interventions.push_back({.name = "zero", .options = {}});
    recipe.interventions.push_back({.name = "blur",
                                    .layer = 3,
                                    .head = 7,
                                    .strength = 0.6,
                                    .on = false,
                                    .options = {{"sigma", "1.5"}, {"axis", "both"}}});
    recipe.interventions.push_back(
        {.name = "copy", .layer = 0, .options = {{"from", "runs/other"}, {"from_layer", "2"}}});
    return recipe;
}

std::string refusal_text(const std::string& text) {
    const Scratch folder;
    const fs::path path = folder / "r.json";
    put(path, text);
    try {
        (void)read_recipe(path.string());
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        const std::string words = error.what();
        EXPECT_NE(words.find("r.json"), std::string::npos) << words;
        EXPECT_LT(words.size(), 600u);
        return words;
    }
    return "";
}

std::string refusal_of(const std::string& one) {
    return refusal_text(R"({"afterimage_recipe": 1, "interventions": [)" + one + "]}");
}

TEST(RecipeFiles, WhatIsWrittenIsReadBack) {
    const Scratch folder;
    const std::string path = (folder / "r.json").string();
    write_recipe(path, all_kinds(), "mirror: aft-full");
    EXPECT_EQ(read_recipe(path), all_kinds());
}

TEST(RecipeFiles, WhatIsWrongIsNamed) {
    const auto has = [](const std::string& words, const char* part) {
        EXPECT_NE(words.find(part), std::string::npos) << words;
    };
    has(refusal_text(""), "r.json");
    has(refusal_text("[]"), "afterimage_recipe");
    has(refusal_text(R"({"afterimage_recipe": 2, "interventions": []})"), "found 2");
    has(refusal_text(R"({"afterimage_recipe": 1})"), "interventions: missing");
    has(refusal_text(R"({"afterimage_recipe": 1, "interventions": [], "more": 1})"), "'more'");
    has(refusal_of("1"), "intervention 1: found 1");
    has(refusal_of("{}"), "its name is missing");
    has(refusal_of(R"({"name": "zreo"})"), "unknown intervention 'zreo'");
    has(refusal_of(R"({"name": "zero", "layer": -1})"), "layer: found -1");
    has(refusal_of(R"({"name": "zero", "head": 1.5})"), "head: found 1.5");
    has(refusal_of(R"({"name": "zero", "strength": 2})"), "strength: found 2, allowed: 0 to 1");
    has(refusal_of(R"({"name": "zero", "strength": "1"})"), "strength");
    has(refusal_of(R"({"name": "gate-off", "strength": 0.5})"), "in full");
    has(refusal_of(R"({"name": "zero", "on": 1})"), "on: found 1, allowed: true, false");
    has(refusal_of(R"({"name": "blur", "options": {"sigma": 0}})"), "sigma: found '0'");
    has(refusal_of(R"({"name": "blur", "options": {"sigma": [1]}})"), "options.sigma");
    has(refusal_of(R"({"name": "blur", "options": {"axis": "up"}})"), "source, target, both");
    has(refusal_of(R"({"name": "zero", "name": "blur"})"), "name");
    std::string many = R"({"name": "zero"})";
    for (int i = 0; i < 300; ++i) many += R"(, {"name": "zero"})";
    has(refusal_of(many), "at most 256");
}

TEST(RecipeFiles, BrokenFilesAreReadOrRefused) {
    const Scratch folder;
    const std::string path = (folder / "r.json").string();
    write_recipe(path, all_kinds(), "mirror");
    const std::string whole = read_file(path);
    std::mt19937_64 random(5);
    int refused = 0;
    for (int i = 0; i < 2000; ++i) {
        std::string bytes = whole;
        for (uint64_t n = random() % 3 + 1; n > 0; --n) {
            const size_t at = random() % bytes.size();
            if (random() % 2 == 0)
                bytes[at] = static_cast<char>(random());
            else
                bytes.erase(at, random() % 8 + 1);
        }
        put(path, bytes);
        try {
            (void)read_recipe(path);
        } catch (const Error& error) {
            ++refused;
            EXPECT_NE(std::string(error.what()).find("r.json"), std::string::npos);
        }
    }
    EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace aft
