// Sums of gradients from GPU to GPU: what is sent to whom, by an NCCL of threads; on a GPU by NCCL
// itself, one rank with itself.
#include "model/distributed/gpu_link.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <numeric>

#include "core/warnings.h"
#include "model/distributed/gradient_buckets.h"
#include "tests/model/small_presets.h"
#include "tests/model/test_device.h"
#include "tests/model/train/rank_threads.h"
#include "tests/model/train/train_fixtures.h"

namespace aft {
namespace {

// What ranks that are threads have sent each other and not yet received.
class Post {
  public:
    void send(int from, int to, std::vector<float> values) {
        const std::lock_guard lock(mutex_);
        boxes_[{from, to}].push_back(std::move(values));
        arrived_.notify_all();
    }
    std::vector<float> receive(int from, int to) {
        std::unique_lock lock(mutex_);
        auto& box = boxes_[{from, to}];
        arrived_.wait(lock, [&] { return !box.empty(); });
        std::vector<float> values = std::move(box.front());
        box.erase(box.begin());
        return values;
    }

  private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::map<std::pair<int, int>, std::vector<std::vector<float>>> boxes_;
};

struct Receipt {
    float* to;
    size_t count;
    int peer;
};
Post* post = nullptr;
thread_local int my_rank = 0;
thread_local std::vector<Receipt> receipts;

// As NCCL: what is between group_start and group_end happens together, in any order.
Nccl nccl_of_threads() {
    Nccl nccl;
    nccl.get_id = [](NcclId* id) { return id->bytes[0] = 'x', kNcclSuccess; };
    nccl.init = [](void** comm, int, NcclId id, int rank) {
        static Post none;
        *comm = post != nullptr ? post : &none;
        my_rank = rank;
        return id.bytes[0] == 'x' ? kNcclSuccess : 1;
    };
    nccl.abort = [](void*) { return kNcclSuccess; };
    nccl.async_error = [](void*, NcclResult* error) { return *error = kNcclSuccess; };
    nccl.group_start = [] { return receipts.clear(), kNcclSuccess; };
    nccl.group_end = [] {
        for (const Receipt& one : receipts) {
            const std::vector<float> values = post->receive(one.peer, my_rank);
            if (values.size() != one.count) return 4;
            std::copy(values.begin(), values.end(), one.to);
        }
        return kNcclSuccess;
    };
    nccl.send = [](const void* from, size_t count, int, int peer, void*, void*) {
        const auto* const floats = static_cast<const float*>(from);
        post->send(my_rank, peer, {floats, floats + count});
        return kNcclSuccess;
    };
    nccl.receive = [](void* to, size_t count, int, int peer, void*, void*) {
        receipts.push_back({static_cast<float*>(to), count, peer});
        return kNcclSuccess;
    };
    nccl.error_words = [](NcclResult) { return "as the test wanted"; };
    return nccl;
}

// Blocks of different sizes, some empty: the same arrive as through the processor's memory.
TEST(GpuLink, SendsEachItsBlock) {
    Post letters;
    post = &letters;
    const std::vector<std::vector<int64_t>> counts{{2, 0, 5}, {1, 3, 0}, {4, 4, 1}};  // [from][to]
    const std::vector<std::string> errors = with_ranks(3, [&](RankGroup& group) {
        GpuLink link(group, at::kCPU, nccl_of_threads());
        const auto me = static_cast<size_t>(group.rank());
        std::vector<int64_t> to_me;
        for (const auto& row : counts) to_me.push_back(row[me]);
        std::vector<float> in(10), plain(12, -1), linked(12, -1);
        std::iota(in.begin(), in.end(), 100.0F * static_cast<float>(me));
        group.exchange({counts[me], in.data()}, {to_me, plain.data()});
        group.exchange({counts[me], in.data()}, {to_me, linked.data()}, &link);
        EXPECT_EQ(plain, linked);
        EXPECT_NE(linked[0], -1);
    });
    EXPECT_EQ(errors, no_errors(3));
}

TEST(GpuLink, WhatNcclSaysIsAnError) {
    Post letters;
    post = &letters;
    const std::vector<std::string> errors = with_ranks(2, [&](RankGroup& group) {
        Nccl nccl = nccl_of_threads();
        nccl.group_end = [] { return 2; };
        GpuLink link(group, at::kCPU, nccl);
        std::vector<float> in(2), out(2);
        group.exchange({{1, 1}, in.data()}, {{1, 1}, out.data()}, &link);
    });
    for (const std::string& words : errors)
        EXPECT_NE(words.find("as the test wanted"), std::string::npos) << words;
}

// Peers that do not come, and an error while they are waited for: NCCL is aborted once, and nothing
// is sent any more.
TEST(GpuLink, GivesUpWhatDoesNotEnd) {
    static std::atomic<int> aborted{0};
    for (const NcclResult state : {kNcclInProgress, 3}) {
        aborted = 0;
        static std::atomic<NcclResult> found{0};
        found = state;
        const std::vector<std::string> errors = with_ranks(1, [&](RankGroup& group) {
            Nccl nccl = nccl_of_threads();
            nccl.group_end = [] { return kNcclSuccess; };
            nccl.abort = [](void*) { return ++aborted, kNcclSuccess; };
            nccl.async_error = [](void*, NcclResult* error) {
                *error = found;
                return kNcclSuccess;
            };
            GpuLink link(group, at::kCPU, nccl);
            const std::vector<int64_t> none{0};
            const RankGroup::RankBlocks nothing{none, nullptr};
            const auto words = [&] {
                return error_words(
                    [&] { link.exchange(nothing, nothing, std::chrono::milliseconds(50)); });
            };
            EXPECT_EQ(words(),
                      state == kNcclInProgress ? "NCCL: no answer" : "NCCL: as the test wanted");
            EXPECT_EQ(aborted, 1);
            EXPECT_EQ(words(), "NCCL: a rank is lost");
        });
        EXPECT_EQ(errors, no_errors(1));
        EXPECT_EQ(aborted, 1) << "not again at its end";
    }
}

TEST(GpuLink, SaysWhyThereIsNone) {
    EXPECT_EQ(no_link_words({"a 0:1", "a 0:2", "b 0:1"}), "");
    EXPECT_EQ(no_link_words({"", "", "a 0:1"}), "") << "some compute on something else";
    EXPECT_EQ(no_link_words({"a 0:1", "b 0:1", "a 0:1"}), "ranks 0 and 2 share a GPU");
    EXPECT_EQ(no_link_words({"a 0:1", "!no NCCL\x1b"}), "rank 1: no NCCL\\x1b");
}

TEST(GpuLink, IsNoneWithoutGpus) {
    EXPECT_EQ(
        with_ranks(2, [](RankGroup& group) { EXPECT_EQ(link_gpus(group, at::kCPU), nullptr); }),
        no_errors(2));
}

TEST(GpuLink, IsNoneWhereRanksShareAGpu) {
    if (!test_device().is_cuda()) GTEST_SKIP() << "no GPU";
    std::vector<std::string> warnings;
    const WarningSink before =
        set_warning_sink([&](const std::string& text) { warnings.push_back(text); });
    const std::vector<std::string> errors = with_ranks(
        2, [](RankGroup& group) { EXPECT_EQ(link_gpus(group, test_device()), nullptr); });
    set_warning_sink(before);
    EXPECT_EQ(errors, no_errors(2));
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("ranks 0 and 1 share a GPU"), std::string::npos) << warnings[0];
}

TEST(GpuLink, SumsBucketsOnAGpu) {
    if (!test_device().is_cuda()) GTEST_SKIP() << "no GPU";
    const std::vector<std::string> errors = with_ranks(1, [](RankGroup& group) {
        EXPECT_NE(link_gpus(group, test_device()), nullptr);
        for (const bool shards : {false, true}) {
            Parameters parameters;
            for (const int64_t size : {3, 400000, 7})
                parameters.push_back({.name = fmt::format("p{}", size),
                                      .value = at::ones({size}, test_device()).requires_grad_()});
            GradientBuckets buckets(group, parameters, shards);
            for (int step = 1; step <= 3; ++step) {
                buckets.begin(true);
                at::Tensor loss = at::zeros({}, test_device());
                for (const Parameter& p : parameters) loss = loss + (p.value * step).sum();
                loss.backward();
                (void)buckets.finish();
                for (const Parameter& p : parameters) {
                    EXPECT_TRUE(at::equal(p.value.grad(), at::full_like(p.value, step)));
                    p.value.mutable_grad().reset();
                }
                if (shards) buckets.share_values();
            }
            EXPECT_TRUE(at::equal(parameters[1].value, at::ones_like(parameters[1].value)));
        }
    });
    EXPECT_EQ(errors, no_errors(1));
}

// A whole training step whose gradients go through NCCL: the bits of one alone.
TEST(GpuLink, AStepThroughNcclHasTheBitsOfOneAlone) {
    if (!test_device().is_cuda()) GTEST_SKIP() << "no GPU";
    Config config = tiny_config();
    config.train.batch = 4;
    const auto steps = [&](RankGroup* group) {
        Trainer trainer(config, test_device(), group);
        for (int step = 0; step < 3; ++step) EXPECT_EQ(trainer.step().failure, "");
        return trainer.checkpoint(true).weights;
    };
    const auto alone = steps(nullptr);
    const std::vector<std::string> errors = with_ranks(1, [&](RankGroup& group) {
        const auto linked = steps(&group);
        ASSERT_EQ(alone.size(), linked.size());
        for (size_t i = 0; i < alone.size(); ++i)
            EXPECT_TRUE(at::equal(alone[i].second.cpu(), linked[i].second.cpu())) << alone[i].first;
    });
    EXPECT_EQ(errors, no_errors(1));
}

}  // namespace
}  // namespace aft
