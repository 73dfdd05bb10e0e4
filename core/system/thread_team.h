// A few threads that run one piece of work together, many times a second: short spins, then they
// give way, then they sleep. Pieces of a token are too short for OpenMP's teams. Owned by one
// decoder; run() by its thread. No LibTorch.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace aft::decode {

class Crew {
  public:
    explicit Crew(int64_t threads);
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    // work(0) here, work(1) .. work(threads - 1) on the others; back when all are done. It must not
    // throw.
    void run(int64_t threads, const std::function<void(int64_t)>& work);
    // From inside work: goes on when all of this run have come.
    void meet();
    [[nodiscard]] int64_t size() const { return static_cast<int64_t>(others_.size()) + 1; }

  private:
    void serve(int64_t thread);
    void come();
    void move_apart() const;
    const std::function<void(int64_t)>* work_ = nullptr;
    int64_t members_ = 1;
    bool ends_ = false;
    std::atomic<uint32_t> call_{0};  // one more with every run
    std::atomic<uint32_t> arrived_{0}, phase_{0};
    std::atomic<int> caller_cpu_{-1};
    std::thread::id caller_;  // of run()
    std::vector<std::jthread> others_;
};

// One thread or all: whichever was faster of late. A busy machine makes two threads wait for each
// other far longer than one needs alone, so both ways are tried again and again.
class Pace {
  public:
    explicit Pace(int64_t threads) : all_(threads) {}
    [[nodiscard]] int64_t threads() const;
    void took(double seconds, int64_t rows);

  private:
    static constexpr int64_t kTry = 32, kStay = 992;  // tokens; whole blocks of biases
    [[nodiscard]] bool trying() const { return token_ < kTry; }
    int64_t all_, token_ = 0;
    bool one_ = false;               // the way to stay with
    double tried_ = 0, stayed_ = 0;  // seconds a row: of the other way, of this one
};

}  // namespace aft::decode
