// Mutation tests of a part: a check is a function of the part that says what is wrong ("" if
// nothing is). It must pass the real part and notice every mutant, which is the part with one named
// mistake. Tests only.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace aft {

template <class Part>
struct Mutant {
    std::string mistake;
    Part part;
};

template <class Part, class Check>
void expect_noticed(const Check& check, const Part& real,
                    const std::vector<Mutant<Part>>& mutants) {
    EXPECT_EQ(check(real), "") << "the check is wrong, or the part is";
    for (const Mutant<Part>& mutant : mutants)
        EXPECT_NE(check(mutant.part), "") << "not noticed: " << mutant.mistake;
}

}  // namespace aft
