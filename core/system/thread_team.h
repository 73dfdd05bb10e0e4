// A thread team for parallel regions far shorter than OpenMP's: some 50 a token, of 5 to 50 us
// each. Waiting threads spin for about 20 us, then yield, then sleep on a futex. Owned by one
// decoder; run() by its thread. No LibTorch.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace aft {

class ThreadTeam {
  public:
    enum class Members { caller, all };

    explicit ThreadTeam(int64_t threads);
    ~ThreadTeam();
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    // work(0) on the calling thread and, with all members, work(1) .. work(size() - 1) on the
    // others, each with flush-to-zero; returns when all are done. It must not throw.
    void run(Members members, const std::function<void(int64_t)>& work);
    // Inside work: waits until every member of this run has arrived.
    void barrier();
    [[nodiscard]] int64_t size() const { return static_cast<int64_t>(others_.size()) + 1; }

  private:
    void serve(int64_t thread);
    void arrive();
    void leave_callers_core() const;
    const std::function<void(int64_t)>* work_ = nullptr;
    bool is_alone_ = true;
    bool ends_ = false;
    std::atomic<uint32_t> call_{0};  // one more with every run of all members
    std::atomic<uint32_t> arrived_{0}, phase_{0};
    std::atomic<int> caller_cpu_{-1};
    std::thread::id caller_;  // of run()
    std::vector<std::jthread> others_;
};

// Chooses one thread or all by the measured time per row, timed again every 1024 tokens: on a busy
// machine two threads wait at barriers far longer than one thread needs alone.
class ThreadChoice {
  public:
    explicit ThreadChoice(int64_t threads) : all_(threads) {}
    [[nodiscard]] int64_t threads() const;
    void record(double seconds, int64_t rows);

  private:
    static constexpr int64_t kTry = 32, kStay = 992;  // tokens; whole blocks of biases
    [[nodiscard]] bool trying() const { return token_ < kTry; }
    int64_t all_, token_ = 0;
    bool one_ = false;               // the current choice: one thread
    double tried_ = 0, stayed_ = 0;  // seconds per row: the alternative, the current choice
};

}  // namespace aft
