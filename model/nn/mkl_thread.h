// OneMklThread: MKL on this thread alone while it lives. Inside a parallel region it still splits
// some sums by the number of threads that it might have had.
#pragma once

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
    static int set(int threads) {
        return MKL_Set_Num_Threads_Local == nullptr ? 0 : MKL_Set_Num_Threads_Local(threads);
    }
    int before_;
};

}  // namespace aft::nn
