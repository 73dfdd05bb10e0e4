// Ten thousand broken files of tensors: each is read or refused by an Error that names it, within
// the memory of its size. The address sanitizer's build runs them too.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <random>

#include "core/check.h"
#include "core/files.h"
#include "model/checkpoints/format.h"
#include "model/jobs/import.h"
#include "tests/model/scratch.h"
#include "tests/source_file.h"

namespace aft {
namespace {

// Some bytes changed, a piece cut out, put in twice, or the end cut off.
std::string mutated(std::string bytes, std::mt19937_64& random) {
    const auto place = [&] { return static_cast<size_t>(random() % bytes.size()); };
    const auto length = [&] { return static_cast<size_t>(random() % 16 + 1); };
    for (uint64_t n = random() % 4 + 1; n > 0 && bytes.size() > 32; --n) {
        switch (random() % 6) {
            case 0:
                bytes[place()] = static_cast<char>(random());
                break;
            case 1:
                bytes[place()] = static_cast<char>(random() % 2 == 0 ? 0xff : 0);
                break;
            case 2:
                bytes[place()] ^= static_cast<char>(1 << (random() % 8));
                break;
            case 3:
                bytes.erase(place(), length());
                break;
            case 4:
                bytes.insert(place(), bytes.substr(place(), length()));
                break;
            default:
                if (random() % 8 == 0) bytes.resize(place() + 1);
                break;
        }
    }
    return bytes;
}

struct Outcome {
    int64_t read = 0, refused = 0;
};

Outcome read_mutants(const std::string& name, int64_t count) {
    const std::string whole = read_file(source_file(name));
    const Scratch folder;
    const fs::path path = folder / "mutant";
    std::mt19937_64 random(20);
    Outcome outcome;
    for (int64_t i = 0; i < count; ++i) {
        put(path, mutated(whole, random));
        try {
            const TensorFile file = read_tensors(path);
            size_t bytes = 0;
            for (const auto& [key, tensor] : file.tensors) bytes += tensor.nbytes();
            // Tied tensors share a storage: each may be as large as the file.
            EXPECT_LE(bytes, (file.tensors.size() + 1) * (whole.size() + 64)) << "mutant " << i;
            ++outcome.read;
            if (i % 8 == 0)
                static_cast<void>(import_job({.file = path.string(), .out = "", .dry_run = true}));
        } catch (const Error& error) {
            ++outcome.refused;
            EXPECT_NE(std::string(error.what()).find("mutant"), std::string::npos) << error.what();
        }
    }
    return outcome;
}

TEST(MutatedFiles, AreReadOrRefused) {
    constexpr int64_t kEach = 2500;
    for (const char* name :
         {"tests/model/imports/rish16.pt", "tests/model/imports/labml-layer.pt",
          "tests/model/imports/labml.io.safetensors", "tests/model/pt/legacy.pt"}) {
        SCOPED_TRACE(name);
        const Outcome outcome = read_mutants(name, kEach);
        // Both happen: changed numbers are still numbers, changed structure is not.
        EXPECT_GT(outcome.read, kEach / 100);
        EXPECT_GT(outcome.refused, kEach / 100);
    }
}

}  // namespace
}  // namespace aft
