// OneMklThread: MKL on this thread alone while it lives. Inside a parallel region it still splits
// some sums by the number of threads that it might have had.
#pragma once
#include <omp.h>

#include <vector>

// MKL's own (oneMKL reference, "mkl_set_num_threads_local"), in every LibTorch that stands on MKL.
extern "C" __attribute__((weak)) int MKL_Set_Num_Threads_Local(int threads);

namespace aft::nn {

class OneMklThread {
  public:
    OneMklThread() : before_(set(1)) {}
    ~OneMklThread() { set(before_); }
    OneMklThread(const OneMklThread&) = delete;
    OneMklThread& operator=(const OneMklThread&) = delete;

  private:
    friend class OneMklThreadEach;
    static int set(int threads) {
        return MKL_Set_Num_Threads_Local == nullptr ? 0 : MKL_Set_Num_Threads_Local(threads);
    }
    int before_;
};

// The same for this thread and for those of its parallel regions: for kernels of LibTorch that call
// MKL in their own.
class OneMklThreadEach {
  public:
    OneMklThreadEach() {
        on_each([](int& before) { before = OneMklThread::set(1); });
    }
    ~OneMklThreadEach() {
        on_each([](int& before) { OneMklThread::set(before); });
    }
    OneMklThreadEach(const OneMklThreadEach&) = delete;
    OneMklThreadEach& operator=(const OneMklThreadEach&) = delete;

  private:
    template <class Call>
    void on_each(const Call& call) {
#pragma omp parallel num_threads(static_cast<int>(before_.size()))
        call(before_[static_cast<size_t>(omp_get_thread_num())]);
    }
    std::vector<int> before_ = std::vector<int>(static_cast<size_t>(omp_get_max_threads()));
};

}  // namespace aft::nn
