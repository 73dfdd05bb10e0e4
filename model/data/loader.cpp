#include "model/data/loader.h"

#include <ATen/ATen.h>

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/check.h"
#include "model/data/batch.h"

namespace aft {

struct Prepared {
    Batch batch;
    std::exception_ptr error;
};

// Loader threads claim a step, build its batch unlocked and insert it. `generation` is bumped when
// the trainer jumps to another step; batches of older generations are discarded.
struct Loader::Threads {
    BatchMaker maker;
    std::mutex mutex;
    std::condition_variable_any wanted, ready;
    std::map<int64_t, Prepared> prepared;  // waiting batches
    int64_t next_to_make = 0;              // first step that no thread has claimed
    int64_t next_to_give = 0;              // next step to hand out
    int64_t prefetch_batches = 0;          // batches made in advance
    uint64_t generation = 0;
    std::vector<std::jthread> workers;  // last: they stop before the rest goes

    Threads(BatchMaker made, int64_t threads)
        : maker(std::move(made)), prefetch_batches(threads + 2) {}

    void work(const std::stop_token& stop) {
        std::unique_lock lock(mutex);
        while (wanted.wait(lock, stop,
                           [this] { return next_to_make < next_to_give + prefetch_batches; })) {
            const int64_t step = next_to_make++;
            const uint64_t began = generation;
            lock.unlock();
            Prepared result = prepare(step);
            lock.lock();
            if (began != generation) continue;
            prepared[step] = std::move(result);
            ready.notify_all();
        }
    }

    [[nodiscard]] Prepared prepare(int64_t step) const {
        Prepared result;
        try {
            result.batch = maker.make(step);
        } catch (...) {
            result.error = std::current_exception();
        }
        return result;
    }

    [[nodiscard]] Prepared take(int64_t step) {
        std::unique_lock lock(mutex);
        if (step != next_to_give) {
            ++generation;
            prepared.clear();
            next_to_make = step;
        }
        next_to_give = step;
        wanted.notify_all();
        ready.wait(lock, [&] { return prepared.contains(step); });
        auto node = prepared.extract(step);
        next_to_give = step + 1;
        wanted.notify_all();
        return std::move(node.mapped());
    }
};

Loader::Loader(std::shared_ptr<const DataSource> source, const LoaderOptions& options)
    : threads_(
          std::make_unique<Threads>(BatchMaker(std::move(source), options), options.data.threads)) {
    for (int64_t i = 0; i < options.data.threads; ++i)
        threads_->workers.emplace_back(
            [threads = threads_.get()](const std::stop_token& stop) { threads->work(stop); });
}

Loader::~Loader() = default;

Batch Loader::next(int64_t step) {
    AFT_ASSERT(step >= 0);
    Prepared result = threads_->workers.empty() ? threads_->prepare(step) : threads_->take(step);
    if (result.error) std::rethrow_exception(result.error);
    return std::move(result.batch);
}

}  // namespace aft
