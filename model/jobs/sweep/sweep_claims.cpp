#include "model/jobs/sweep/sweep_claims.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "core/files.h"
#include "model/train/run_lock.h"

namespace aft {
namespace {

constexpr char kEnded = '!';
constexpr size_t kLongestError = 4000;

}  // namespace

fs::path SweepClaims::file_of(size_t run) const {
    return folder_ / std::to_string(run);
}

void SweepClaims::clear() const {
    std::error_code error;
    fs::remove_all(folder_, error);
    make_folder(folder_);
}

std::optional<SweepClaims::RunClaim> SweepClaims::take(size_t run) const {
    FileHandle file = open_own(file_of(run), O_RDWR);
    if (!try_lock(file, file_of(run))) return {};
    std::string text(1 + kLongestError, '\0');
    const ssize_t n = ::pread(file.get(), text.data(), text.size(), 0);
    text.resize(static_cast<size_t>(std::max<ssize_t>(n, 0)));
    RunClaim claim{std::move(file), {}};
    if (!text.empty() && text[0] == kEnded) claim.error = text.substr(1);
    return claim;
}

void SweepClaims::end(const RunClaim& claim, const std::string& error) const {
    const std::string text = kEnded + error.substr(0, kLongestError);
    // On a full disk the run's own file still says that it is done.
    static_cast<void>(::pwrite(claim.file.get(), text.data(), text.size(), 0) > 0);
}

bool SweepClaims::are_free(size_t runs) const {
    for (size_t run = 0; run < runs; ++run)
        if (fs::exists(file_of(run)) && !take(run)) return false;
    return true;
}

void SweepClaims::ask_stop() const {
    static_cast<void>(open_own(folder_ / "stop", O_RDWR));
}

bool SweepClaims::is_stop_asked() const {
    std::error_code unknown;
    return fs::exists(folder_ / "stop", unknown);
}

}  // namespace aft
