// GIF, MP4 and WebM by the program ffmpeg: raw RGB goes to its standard input, it writes the
// temporary file. Started without a shell, in a process group of its own: Ctrl-C is ours.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "core/atomic_file.h"
#include "core/check.h"
#include "core/environment.h"
#include "core/files.h"
#include "core/film/sinks.h"
#include "core/outside.h"
#include "core/progress.h"
#include "core/system/spawn.h"
#include "core/text.h"

namespace aft {
namespace {

constexpr int kLook_ms = 50;  // how often the stop token is looked at while ffmpeg works

std::vector<std::string> ffmpeg_words(const VideoTarget& target, const FilmShape& shape,
                                      const fs::path& file) {
    std::vector<std::string> words = {
        "ffmpeg",       "-nostdin",
        "-hide_banner", "-loglevel",
        "error",        "-y",
        "-f",           "rawvideo",
        "-pix_fmt",     "rgb24",
        "-video_size",  fmt::format("{}x{}", shape.width, shape.height),
        "-framerate",   std::to_string(shape.frames_per_second),
        "-i",           "pipe:0",
        "-an"};
    const bool is_gif = target.ending == ".gif";
    if (is_gif)  // a palette for each frame: those of a whole film would wait for its end
        words.insert(words.end(), {"-filter_complex",
                                   "split[a][b];[a]palettegen=stats_mode=single[p];"
                                   "[b][p]paletteuse=new=1"});
    else  // what every player shows
        words.insert(words.end(), {"-pix_fmt", "yuv420p"});
    words.insert(words.end(), {"-f", target.ending.substr(1), "file:" + file.string()});
    return words;
}

class VideoSink : public FilmSink {
  public:
    VideoSink(const VideoTarget& target, const FilmShape& shape)
        : target_(target), shape_(shape), file_(target.path) {
        if (target.ending != ".gif") {  // yuv420p has a colour for two by two pixels
            shape_.width += shape.width % 2;
            shape_.height += shape.height % 2;
        }
        start(find_ffmpeg(target.ending));
    }
    ~VideoSink() override {
        if (process_ <= 0) return;
        ::kill(-process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    VideoSink(const VideoSink&) = delete;
    VideoSink& operator=(const VideoSink&) = delete;
    void add(const Image& frame) override {
        const bool fits = frame.width == shape_.width && frame.height == shape_.height;
        const Image padded = fits ? Image() : fit_frame(frame, shape_.width, shape_.height);
        const std::vector<uint8_t>& pixels = fits ? frame.pixels : padded.pixels;
        send_all({reinterpret_cast<const char*>(pixels.data()), pixels.size()});
        ++frames_;
    }
    void finish() override {
        input_ = OwnedFd();  // the end of the film
        const int status = wait_for_end();
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_ended(status);
        std::error_code error;
        AFT_CHECK(fs::file_size(file_.temporary(), error) > 0 && !error,
                  "cannot write the film '{}': ffmpeg wrote nothing{}", path_words(), last_line());
        file_.commit();
    }

  private:
    void start(const fs::path& program) {
        std::array<int, 2> ends{};
        // A socket in place of a pipe: writing to one that was closed need not raise SIGPIPE.
        const bool has_input =
            ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0;
        AFT_CHECK(has_input, "ffmpeg cannot be started: {}", std::strerror(errno));
        input_ = OwnedFd(ends[0]);
        const OwnedFd far_end(ends[1]);
        errors_ = OwnedFd(::memfd_create("ffmpeg", MFD_CLOEXEC));
        AFT_CHECK(errors_.get() >= 0, "ffmpeg cannot be started: {}", std::strerror(errno));
        std::vector<std::string> words =
            ffmpeg_words(target_, shape_, fs::absolute(file_.temporary()));
        std::vector<char*> pointers;
        for (std::string& word : words) pointers.push_back(word.data());
        pointers.push_back(nullptr);
        const SpawnPlan plan(far_end.get(), errors_.get());
        pid_t process = 0;
        const int error = ::posix_spawn(&process, program.c_str(), &plan.files, &plan.attributes,
                                        pointers.data(), environ);
        AFT_CHECK(error == 0, "'{}' cannot be started: {}", shown_path(program.string()),
                  std::strerror(error));
        process_ = process;
    }
    void send_all(std::string_view bytes) {
        while (!bytes.empty()) {
            if (target_.stop.stop_requested()) throw Interrupted();
            pollfd ready{.fd = input_.get(), .events = POLLOUT, .revents = 0};
            static_cast<void>(::poll(&ready, 1, kLook_ms));
            const ssize_t sent =
                ::send(input_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent >= 0)
                bytes.remove_prefix(static_cast<size_t>(sent));
            else if (errno != EAGAIN && errno != EINTR)
                fail_ended(wait_for_end());
        }
    }
    int wait_for_end() {
        for (;;) {
            int status = 0;
            const pid_t ended = ::waitpid(process_, &status, WNOHANG);
            if (ended > 0) {
                process_ = 0;
                return status;
            }
            if (ended < 0 && errno != EINTR) {
                process_ = 0;
                fail("cannot write the film '{}': how ffmpeg ended is not known", path_words());
            }
            if (target_.stop.stop_requested()) throw Interrupted();
            static_cast<void>(::poll(nullptr, 0, kLook_ms / 10));
        }
    }
    [[noreturn]] void fail_ended(int status) {
        const std::string end = WIFSIGNALED(status)
                                    ? fmt::format("was ended by signal {}", WTERMSIG(status))
                                    : fmt::format("ended with code {}", WEXITSTATUS(status));
        fail("cannot write the film '{}': ffmpeg {} after {} frames{}", path_words(), end, frames_,
             last_line());
    }
    // ": what it has said last".
    [[nodiscard]] std::string last_line() const {
        std::string text(4096, 0);
        const off_t size = ::lseek(errors_.get(), 0, SEEK_END);
        const off_t from = std::max<off_t>(0, size - static_cast<off_t>(text.size()));
        const ssize_t got = ::pread(errors_.get(), text.data(), text.size(), from);
        text.resize(static_cast<size_t>(std::max<ssize_t>(0, got)));
        std::string last;
        for (std::string& line : split(text, '\n'))
            if (line.find_first_not_of(" \t\r") != std::string::npos) last = std::move(line);
        return last.empty() ? "" : ": " + shown(last);
    }
    [[nodiscard]] std::string path_words() const { return shown_path(target_.path.string()); }

    VideoTarget target_;
    FilmShape shape_;  // with the padding
    AtomicFile file_;
    OwnedFd input_, errors_;
    pid_t process_ = 0;  // 0: it has ended
    int64_t frames_ = 0;
};

}  // namespace

fs::path find_ffmpeg(const std::string& ending) {
    std::error_code ignored;
    for (const std::string& folder : split(variable("PATH"), ':')) {
        const fs::path program = fs::path(folder.empty() ? "." : folder) / "ffmpeg";
        if (fs::is_regular_file(program, ignored) && ::access(program.c_str(), X_OK) == 0)
            return program;
    }
    fail(
        "a film that ends in {} needs the program ffmpeg, which is not on PATH; .apng and a folder "
        "need none",
        ending);
}

std::unique_ptr<FilmSink> video_sink(const VideoTarget& target, const FilmShape& shape) {
    return std::make_unique<VideoSink>(target, shape);
}

}  // namespace aft
