// Every identity and trap holds for every backend, and fails for operators that are wrong.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/check.h"
#include "model/mixers/aft_layer.h"
#include "tests/model/net/small_nets.h"
#include "tests/model/ops/ops_cases.h"

namespace aft::ops::testing {
namespace {

std::vector<OpsCheck> all_checks() {
    std::vector<OpsCheck> out = identity_checks();
    for (const OpsCheck& check : trap_checks()) out.push_back(check);
    return out;
}

// What a check says of an operator; a refused input counts as a failure too.
std::string outcome(const OpsCheck& check, const Operator& op) {
    try {
        return check.run(op);
    } catch (const Error& error) {
        return error.what();
    }
}

class OpsChecks : public ::testing::TestWithParam<OpsCheck> {};

TEST_P(OpsChecks, hold_for_reference) {
    EXPECT_EQ(outcome(GetParam(), operator_of(OperatorBackend::reference)), "");
}

// Blocks of 8 rows: windows, prefixes and diagonals cross block boundaries everywhere.
TEST_P(OpsChecks, hold_for_tiled) {
    EXPECT_EQ(outcome(GetParam(), operator_of(OperatorBackend::tiled, 8)), "");
    EXPECT_EQ(outcome(GetParam(), operator_of(OperatorBackend::tiled, 7)), "");
    EXPECT_EQ(outcome(GetParam(), operator_of(OperatorBackend::automatic)), "");
}

// The operator that the wrong ones are made of passes: it is the mistakes that are noticed. (It
// lets NaN through a weight of zero, so that one check is not for it.)
TEST_P(OpsChecks, hold_for_the_unmutated_operator) {
    if (GetParam().name == "poison stays local") return;
    EXPECT_EQ(outcome(GetParam(), unmutated()), "");
}

std::string test_name(const ::testing::TestParamInfo<OpsCheck>& info) {
    std::string name;
    for (const char c : info.param.name) name += std::isalnum(c) ? c : '_';
    return name;
}
INSTANTIATE_TEST_SUITE_P(All, OpsChecks, ::testing::ValuesIn(all_checks()), test_name);

TEST(OpsMutations, are_noticed) {
    std::set<std::string> useful;
    for (const Mutation& mutation : mutations())
        for (const OpsCheck& check : all_checks())
            for (const std::string& name : mutation.noticed_by) {
                if (check.name != name) continue;
                EXPECT_NE(outcome(check, mutation.op), "")
                    << "'" << name << "' does not notice: " << mutation.name;
                useful.insert(name);
            }
    for (const Mutation& mutation : mutations())
        for (const std::string& name : mutation.noticed_by)
            EXPECT_TRUE(useful.count(name)) << "no check is called " << name;
}

// A check that no wrong operator fails would check nothing.
TEST(OpsMutations, every_check_notices_something) {
    for (const OpsCheck& check : all_checks()) {
        bool notices = false;
        for (const Mutation& mutation : mutations())
            notices = notices || !outcome(check, mutation.op).empty();
        EXPECT_TRUE(notices) << check.name;
    }
}

// The traps and identities walk aft_cases(): a mixer that is added must be among them.
TEST(OpsIdentities, every_mixer_of_aft_is_walked) {
    std::set<OperatorKind> walked;
    for (const OpsCase& c : aft_cases()) walked.insert(c.kind);
    size_t layers = 0;
    for (const NetCase& c : small_cases()) {
        const Net net(c.config, 1);
        const auto* const layer = dynamic_cast<const AftLayer*>(&net.mixer(0));
        if (layer == nullptr) continue;
        ++layers;
        EXPECT_TRUE(walked.contains(layer->kind()))
            << c.label << ": its operator is not in aft_cases() of ops_cases.cpp";
    }
    EXPECT_GE(layers, walked.size());
}

}  // namespace
}  // namespace aft::ops::testing
