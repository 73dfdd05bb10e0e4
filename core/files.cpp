#include "core/files.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <streambuf>
#include <utility>

#include "core/atomic_file.h"
#include "core/check.h"
#include "core/environment.h"
#include "core/outside.h"

namespace aft {
namespace {

std::string error_words(int number) {
    return std::strerror(number);
}

// An open file: closed when it goes out of scope.
class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

  private:
    int fd_;
};

// A stream buffer over a descriptor that keeps the first error number, so that the message can say
// "No space left on device" instead of "write failed".
class DescriptorBuffer : public std::streambuf {
  public:
    explicit DescriptorBuffer(int fd) : fd_(fd) {
        setp(buffer_.data(), buffer_.data() + buffer_.size());
    }
    [[nodiscard]] int error() const { return error_; }

  protected:
    int_type overflow(int_type c) override {
        if (sync() != 0) return traits_type::eof();
        if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
        return traits_type::not_eof(c);
    }
    int sync() override {
        const bool written = write_all(pbase(), static_cast<size_t>(pptr() - pbase()));
        setp(buffer_.data(), buffer_.data() + buffer_.size());
        return written ? 0 : -1;
    }
    std::streamsize xsputn(const char* data, std::streamsize n) override {
        if (n == 0) return 0;  // data may be null
        if (n < epptr() - pptr()) {
            std::memcpy(pptr(), data, static_cast<size_t>(n));
            pbump(static_cast<int>(n));
            return n;
        }
        return sync() == 0 && write_all(data, static_cast<size_t>(n)) ? n : 0;
    }

  private:
    bool write_all(const char* data, size_t n) {
        while (n > 0 && error_ == 0) {
            const ssize_t written = ::write(fd_, data, n);
            if (written < 0) {
                if (errno != EINTR) error_ = errno;
                continue;
            }
            data += written;
            n -= static_cast<size_t>(written);
        }
        return error_ == 0;
    }
    int fd_;
    int error_ = 0;
    std::array<char, 65536> buffer_;
};

// Removes the temporary file unless it has become the real one.
class TemporaryFile {
  public:
    explicit TemporaryFile(fs::path path) : path_(std::move(path)) {}
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        if (!kept_) ::unlink(path_.c_str());
    }
    void keep() { kept_ = true; }
    [[nodiscard]] const char* name() const { return path_.c_str(); }

  private:
    fs::path path_;
    bool kept_ = false;
};

[[noreturn]] void fail_writing(const fs::path& path, int number) {
    const bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
    std::error_code ignored;
    const bool old_there = fs::exists(path, ignored);
    fail("cannot write '{}': {}{}{}", shown_path(path.string()), error_words(number),
         old_there ? "; the file that was there is unchanged" : "",
         full ? "; free some space or choose another folder" : "");
}

// A rename must replace the file that a link points to, and never a device or a folder.
fs::path writing_target(const fs::path& path) {
    std::error_code error;
    AFT_CHECK(!path.empty(), "cannot write: the file name is empty");
    const fs::path target = fs::is_symlink(path, error) ? fs::weakly_canonical(path, error) : path;
    const fs::file_status status = fs::status(target, error);
    AFT_CHECK(!fs::exists(status) || fs::is_regular_file(status),
              "cannot write '{}': it is {}, not a file", shown_path(path.string()),
              fs::is_directory(status) ? "a folder" : "a device or a pipe");
    return target;
}

fs::path temporary_name(const fs::path& target) {
    static std::atomic<int> count{0};
    fs::path name = target;
    name += fmt::format(".tmp-{}-{}", ::getpid(), count++);
    return name;
}

Descriptor open_new(TemporaryFile& temporary, const fs::path& wanted) {
    const int fd = ::open(temporary.name(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        const int number = errno;
        temporary.keep();  // it was never made
        fail_writing(wanted, number);
    }
    return Descriptor(fd);
}

void flush_folder(const fs::path& target) {
    const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
    const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Some file systems refuse to flush a folder; the rename itself is done by then.
    if (fd.get() >= 0) static_cast<void>(::fsync(fd.get()));
}

// A temporary file beside the one that it is to become.
struct PendingFile {
    fs::path path, target;
    TemporaryFile temporary;
    Descriptor fd;

    explicit PendingFile(const fs::path& wanted)
        : path(wanted),
          target(writing_target(wanted)),
          temporary(temporary_name(target)),
          fd(open_new(temporary, wanted)) {}
    void commit() {
        if (::fsync(fd.get()) != 0) fail_writing(path, errno);
        if (!fd.close()) fail_writing(path, errno);
        if (::rename(temporary.name(), target.c_str()) != 0) fail_writing(path, errno);
        temporary.keep();
        flush_folder(target);
    }
};

Descriptor open_for_reading(const fs::path& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    AFT_CHECK(fd >= 0, "cannot read '{}': {}", shown_path(path.string()), error_words(errno));
    return Descriptor(fd);
}

uint64_t regular_file_size(const Descriptor& fd, const fs::path& path) {
    struct stat info{};
    AFT_CHECK(::fstat(fd.get(), &info) == 0, "cannot read '{}': {}", shown_path(path.string()),
              error_words(errno));
    AFT_CHECK(!S_ISDIR(info.st_mode), "cannot read '{}': it is a folder, expected a file",
              shown_path(path.string()));
    AFT_CHECK(S_ISREG(info.st_mode), "cannot read '{}': it is a device or a pipe, expected a file",
              shown_path(path.string()));
    return static_cast<uint64_t>(info.st_size);
}

// Fewer bytes where the file ends before.
std::string read_from(const Descriptor& fd, const fs::path& path, uint64_t offset, uint64_t bytes) {
    std::string content(bytes, '\0');
    size_t done = 0;
    while (done < bytes) {
        const ssize_t n = ::pread(fd.get(), content.data() + done, bytes - done,
                                  static_cast<off_t>(offset + done));
        if (n < 0 && errno == EINTR) continue;
        AFT_CHECK(n >= 0, "cannot read '{}': {}", shown_path(path.string()), error_words(errno));
        if (n == 0) break;
        done += static_cast<size_t>(n);
    }
    content.resize(done);
    return content;
}

fs::path home_folder() {
    if (const std::string home = variable("HOME"); !home.empty()) return home;
    const passwd* user = ::getpwuid(::getuid());
    AFT_CHECK(user && user->pw_dir, "no home folder: set HOME");
    return user->pw_dir;
}

// The specification of these variables says that a relative path is to be ignored.
fs::path user_folder(const char* name, const char* fallback) {
    const fs::path value = variable(name);
    if (value.is_absolute()) return value / "afterimage";
    return home_folder() / fallback / "afterimage";
}

}  // namespace

std::string read_file(const fs::path& path, uint64_t max_bytes) {
    const Descriptor fd = open_for_reading(path);
    const uint64_t size = regular_file_size(fd, path);
    AFT_CHECK(size <= max_bytes, "cannot read '{}': {} bytes, at most {} are allowed",
              shown_path(path.string()), size, max_bytes);
    return read_from(fd, path, 0, size);  // shorter where the file has become so
}

std::string read_file_part(const fs::path& path, uint64_t offset, uint64_t bytes) {
    const Descriptor fd = open_for_reading(path);
    const uint64_t size = regular_file_size(fd, path);
    const bool is_there = offset <= size && bytes <= size - offset;
    std::string content = is_there ? read_from(fd, path, offset, bytes) : "";
    AFT_CHECK(is_there && content.size() == bytes,
              "cannot read '{}': it has become shorter: {} bytes from byte {} on are wanted",
              shown_path(path.string()), bytes, offset);
    return content;
}

struct AtomicFile::Impl : PendingFile {
    using PendingFile::PendingFile;
};

AtomicFile::AtomicFile(const fs::path& path) : impl_(std::make_unique<Impl>(path)) {}
AtomicFile::~AtomicFile() = default;

void AtomicFile::write(std::string_view bytes) {
    const off_t end = ::lseek(impl_->fd.get(), 0, SEEK_END);
    if (end < 0) fail_writing(impl_->path, errno);
    write_at(static_cast<uint64_t>(end), bytes);
}

void AtomicFile::write_at(uint64_t offset, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n =
            ::pwrite(impl_->fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail_writing(impl_->path, errno);
        bytes.remove_prefix(static_cast<size_t>(n));
        offset += static_cast<uint64_t>(n);
    }
}

fs::path AtomicFile::temporary() const {
    return impl_->temporary.name();
}

void AtomicFile::commit() {
    impl_->commit();
}

void write_atomically(const fs::path& path, const std::function<void(std::ostream&)>& write) {
    PendingFile file(path);
    DescriptorBuffer buffer(file.fd.get());
    std::ostream stream(&buffer);
    write(stream);
    stream.flush();
    if (buffer.error() != 0) fail_writing(path, buffer.error());
    AFT_CHECK(stream.good(), "cannot write '{}': the content could not be produced",
              shown_path(path.string()));
    file.commit();
}

void write_atomically(const fs::path& path, std::string_view content) {
    write_atomically(path, [content](std::ostream& out) {
        out.write(content.data(), static_cast<std::streamsize>(content.size()));
    });
}

void check_writable(const fs::path& file) {
    TemporaryFile temporary(temporary_name(writing_target(file)));
    const Descriptor fd = open_new(temporary, file);
}

TemporaryFolder::TemporaryFolder(const std::string& prefix) {
    std::string name = (fs::temp_directory_path() / (prefix + "XXXXXX")).string();
    AFT_CHECK(::mkdtemp(name.data()) != nullptr, "cannot make the folder '{}': {}", name,
              error_words(errno));
    path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

std::string lower_ending(const fs::path& path) {
    std::string ending = path.extension().string();
    for (char& c : ending)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return ending;
}

void make_folder(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    AFT_CHECK(!error, "cannot make the folder '{}': {}", shown_path(path.string()),
              error.message());
    AFT_CHECK(fs::is_directory(path, error), "cannot make the folder '{}': a file is in its place",
              shown_path(path.string()));
}

fs::path config_folder() {
    return user_folder("XDG_CONFIG_HOME", ".config");
}

std::string own_program() {
    std::error_code unknown;
    return fs::read_symlink("/proc/self/exe", unknown).string();
}

fs::path shared_file(const std::string& name) {
    std::vector<fs::path> places;
    if (const std::string share = variable("AFTERIMAGE_SHARE"); !share.empty())
        places.emplace_back(share);
    std::error_code error;
    if (const fs::path binary = own_program(); !binary.empty())
        places.push_back(binary.parent_path().parent_path() / "share" / "afterimage");
    places.emplace_back(AFT_SOURCE_DIR);
    std::string looked;
    for (const fs::path& place : places) {
        if (fs::exists(place / name, error)) return place / name;
        looked += (looked.empty() ? "'" : ", '") + place.string() + "'";
    }
    fail(
        "'{}' is not there; looked in {}. Set AFTERIMAGE_SHARE to the folder that holds assets "
        "and shaders",
        name, looked);
}

std::string version() {
    return AFT_VERSION;
}

}  // namespace aft
