// Films: what comes back out of the files is what was put in; ffmpeg as a script that plays it.
#include "core/film/film.h"

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "core/check.h"
#include "core/files.h"
#include "core/progress.h"
#include "core/rng.h"
#include "tests/core/apng_reader.h"
#include "tests/core/scratch.h"

namespace aft {
namespace {

namespace fs = std::filesystem;

Image film_noise(int64_t width, int64_t height, uint64_t seed) {
    Image image{width, height, 3, {}};
    CounterRng rng(seed, 1);
    for (int64_t i = 0; i < width * height * 3; ++i)
        image.pixels.push_back(static_cast<uint8_t>(rng.below(256)));
    return image;
}

Image film_flat(int64_t width, int64_t height, uint8_t value) {
    return {width, height, 3, std::vector<uint8_t>(static_cast<size_t>(width * height * 3), value)};
}

void set_pixel(Image& image, int64_t x, int64_t y, uint8_t value) {
    for (int64_t c = 0; c < 3; ++c)
        image.pixels[static_cast<size_t>((y * image.width + x) * 3 + c)] = value;
}

std::string film_bytes(const Image& image) {
    return {image.pixels.begin(), image.pixels.end()};
}

void write_film(const fs::path& path, const std::vector<Image>& frames, int per_second = 5) {
    FilmWriter writer(path, {frames[0].width, frames[0].height, per_second});
    for (const Image& frame : frames) writer.add(frame);
    writer.finish();
}

TEST(Film, EveryFrameOfAnApngComesBack) {
    const Scratch folder;
    Image gradient{31, 17, 3, {}};
    for (int64_t i = 0; i < 31 * 17 * 3; ++i)
        gradient.pixels.push_back(static_cast<uint8_t>(i * 7 / 5));
    const std::vector<Image> frames = {film_noise(31, 17, 1), film_noise(31, 17, 2), gradient,
                                       film_flat(31, 17, 9), film_noise(31, 17, 3)};
    write_film(folder / "a.apng", frames);
    const ApngReader film(read_file(folder / "a.apng"));
    ASSERT_EQ(film.frames.size(), frames.size());
    EXPECT_EQ(film.stated_frames, 5);
    EXPECT_EQ(film.plays, 0);
    for (size_t i = 0; i < frames.size(); ++i) {
        EXPECT_EQ(film.frames[i].image.pixels, frames[i].pixels) << "frame " << i;
        EXPECT_EQ(film.frames[i].delay, 1);
        EXPECT_EQ(film.frames[i].per_second, 5);
    }
    EXPECT_EQ(film.names[0], "IHDR");
    EXPECT_EQ(film.names[1], "acTL");
    EXPECT_EQ(film.names.back(), "IEND");
    EXPECT_EQ(read_image(folder / "a.apng").pixels, frames[0].pixels) << "as a picture: the first";
    EXPECT_EQ(folder.entries(), 1) << "no temporary file is left";
}

TEST(Film, OfAnApngOnlyWhatChangesIsStored) {
    const Scratch folder;
    std::vector<Image> frames(3, film_flat(40, 30, 100));
    set_pixel(frames[1], 7, 4, 1);
    set_pixel(frames[1], 9, 20, 1);
    set_pixel(frames[2], 39, 29, 5);
    write_film(folder / "a.png", frames);
    const ApngReader film(read_file(folder / "a.png"));
    ASSERT_EQ(film.frames.size(), 3U);
    EXPECT_EQ(film.frames[0].stored_pixels, 40 * 30);
    EXPECT_EQ(film.frames[1].stored_pixels, 3 * 17);
    EXPECT_EQ(film.frames[2].stored_pixels, 33 * 26);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(film.frames[i].image.pixels, frames[i].pixels) << i;
}

TEST(Film, FramesThatAreAlikeLastLonger) {
    const Scratch folder;
    std::vector<Image> frames(4, film_flat(5, 5, 1));
    frames.push_back(film_flat(5, 5, 2));
    frames.push_back(film_flat(5, 5, 2));
    write_film(folder / "a.apng", frames, 60);
    const ApngReader film(read_file(folder / "a.apng"));
    ASSERT_EQ(film.frames.size(), 2U);
    EXPECT_EQ(film.stated_frames, 2);
    EXPECT_EQ(film.frames[0].delay, 4);
    EXPECT_EQ(film.frames[1].delay, 2);
    EXPECT_EQ(film.frames[1].per_second, 60);
}

TEST(Film, ADelayThatIsTooLongIsOfTwoFrames) {
    const Scratch folder;
    write_film(folder / "a.apng", std::vector<Image>(70000, film_flat(2, 2, 1)));
    const ApngReader film(read_file(folder / "a.apng"));
    ASSERT_EQ(film.frames.size(), 2U);
    EXPECT_EQ(film.frames[0].delay + film.frames[1].delay, 70000);
    EXPECT_EQ(film.frames[1].image.pixels, film_flat(2, 2, 1).pixels);
}

TEST(Film, WithoutItsEndNothingIsThere) {
    const Scratch folder;
    put(folder / "old.apng", "old");
    for (const char* name : {"new.apng", "old.apng", "frames/"}) {
        FilmWriter writer(folder / name, {4, 4, 5});
        writer.add(film_noise(4, 4, 1));
    }
    EXPECT_EQ(read_file(folder / "old.apng"), "old");
    EXPECT_EQ(folder.entries(), 1);
    FilmWriter empty(folder / "new.apng", {4, 4, 5});
    EXPECT_TRUE(has(error_of([&] { empty.finish(); }), "no frame"));
}

TEST(Film, AFolderHoldsNumberedPictures) {
    const Scratch folder;
    const std::vector<Image> frames = {film_noise(6, 4, 1), film_noise(6, 4, 2)};
    write_film(folder / "scrub/", frames);
    EXPECT_EQ(read_image(folder / "scrub/scrub-0001.png").pixels, frames[0].pixels);
    EXPECT_EQ(read_image(folder / "scrub/scrub-0002.png").pixels, frames[1].pixels);
    const std::string again = error_of([&] { write_film(folder / "scrub", frames); });
    EXPECT_TRUE(has(again, "holds 'scrub-000")) << again;
    fs::create_directories(folder / "there");
    put(folder / "there/words.txt", "kept");
    write_film(folder / "there", frames);  // an existing folder needs no slash
    EXPECT_EQ(read_image(folder / "there/there-0002.png").pixels, frames[1].pixels);
    EXPECT_TRUE(fs::exists(folder / "there/words.txt"));
}

TEST(Film, BadInputIsRefusedInWords) {
    const Scratch folder;
    const auto error = [&](const fs::path& path, FilmShape shape = {4, 4, 5}) {
        return error_of([&] { FilmWriter writer(path, shape); });
    };
    for (const char* name : {"a.avi", "a", "a.", ".apng"}) {
        const std::string words = error(folder / name);
        EXPECT_TRUE(has(words, ".apng, .png, .gif, .mp4, .webm")) << name << ": " << words;
        EXPECT_EQ(words, error_of([&] { check_film_path(folder / name); })) << name;
    }
    EXPECT_TRUE(has(error(""), "empty"));
    EXPECT_TRUE(has(error(folder / "a.apng", {0, 4, 5}), "0 x 4"));
    EXPECT_TRUE(has(error(folder / "a.apng", {4, 4, 0}), "found 0, allowed: 1 to 60"));
    EXPECT_TRUE(has(error(folder / "a.apng", {4, 4, 61}), "found 61"));
    EXPECT_TRUE(has(error(folder / "no/a.apng"), "no/a.apng"));
    EXPECT_TRUE(has(error_of([&] { check_film_path(folder / "no/a.apng"); }), "no/a.apng"));
    EXPECT_TRUE(has(error_of([&] { check_film_path(folder / "no/such/"); }), "no folder"));
    FilmWriter writer(folder / "a.apng", {4, 4, 5});
    EXPECT_TRUE(has(error_of([&] { writer.add(film_noise(5, 4, 1)); }), "5 x 4"));
    EXPECT_TRUE(
        has(error_of([&] { writer.add({4, 4, 1, std::vector<uint8_t>(16)}); }), "1 channels"));
    EXPECT_EQ(error_of([&] { check_film_path(folder / "b.APNG"); }), "");
    EXPECT_FALSE(fs::exists(folder / "b.APNG"));
}

TEST(Film, AFullDiskIsAnErrorAndLeavesNothing) {
    const Scratch folder;
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const auto usual = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{2000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string words = error_of(
        [&] { write_film(folder / "a.apng", {film_noise(40, 40, 1), film_noise(40, 40, 2)}); });
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, usual);
    EXPECT_TRUE(has(words, "a.apng")) << words;
    EXPECT_EQ(folder.entries(), 0);
}

TEST(Film, FramesAreFittedToASize) {
    Image image{2, 2, 3, {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}};
    EXPECT_EQ(fit_frame(image, 1, 1).pixels, (std::vector<uint8_t>{1, 1, 1}));
    EXPECT_EQ(fit_frame(image, 3, 3).pixels,
              (std::vector<uint8_t>{1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4,
                                    4, 4, 4, 4, 3, 3, 3, 4, 4, 4, 4, 4, 4}));
    EXPECT_EQ(fit_frame(image, 1, 3).pixels, (std::vector<uint8_t>{1, 1, 1, 3, 3, 3, 3, 3, 3}));
}

// ffmpeg on a PATH of its own: the lines of a script that finds the output's name in $out.
class FilmByFfmpeg : public ::testing::Test {
  protected:
    void SetUp() override {
        const char* const path = std::getenv("PATH");
        before_ = path == nullptr ? "" : path;
        fs::create_directories(scratch_ / "bin");
        fs::create_directories(scratch_ / "films");
        setenv("PATH", (scratch_ / "bin").c_str(), 1);
    }
    void TearDown() override { setenv("PATH", before_.c_str(), 1); }
    void play(const std::string& lines) {
        const fs::path program = scratch_ / "bin/ffmpeg";
        put(program, "#!/bin/sh\nPATH='" + before_ + "'\nfor out; do :; done\nout=${out#file:}\n" +
                         "echo \"$@\" > '" + (scratch_ / "words").string() + "'\n" + lines + "\n");
        fs::permissions(program, fs::perms::owner_all);
    }
    [[nodiscard]] fs::path film(const char* name) const { return scratch_ / "films" / name; }
    [[nodiscard]] int64_t films() const {
        return std::distance(fs::directory_iterator(scratch_ / "films"), fs::directory_iterator());
    }
    Scratch scratch_;
    std::string before_;
};

TEST_F(FilmByFfmpeg, GetsEveryPixelAndItsOutputIsTheFilm) {
    play("cat > \"$out\"");
    const std::vector<Image> frames = {film_noise(6, 4, 1), film_noise(6, 4, 2)};
    for (const char* name : {"a.mp4", "a.webm", "a.gif"}) {
        write_film(film(name), frames, 7);
        EXPECT_EQ(read_file(film(name)), film_bytes(frames[0]) + film_bytes(frames[1]));
        const std::string words = read_file(scratch_ / "words");
        EXPECT_TRUE(has(words, "-f rawvideo -pix_fmt rgb24 -video_size 6x4 -framerate 7 -i pipe:0"))
            << words;
        EXPECT_EQ(has(words, "yuv420p"), !has(name, "gif")) << words;
        EXPECT_TRUE(has(words, "-f " + std::string(name).substr(2) + " file:/")) << words;
    }
    EXPECT_EQ(films(), 3);
}

TEST_F(FilmByFfmpeg, OddSizesArePadded) {
    play("cat > \"$out\"");
    write_film(film("a.mp4"), {film_noise(5, 3, 1)});
    EXPECT_TRUE(has(read_file(scratch_ / "words"), "-video_size 6x4"));
    const Image padded = fit_frame(film_noise(5, 3, 1), 6, 4);
    EXPECT_EQ(read_file(film("a.mp4")), film_bytes(padded));
    write_film(film("a.gif"), {film_noise(5, 3, 1)});
    EXPECT_EQ(read_file(film("a.gif")).size(), 45U) << "a GIF has any size";
}

TEST_F(FilmByFfmpeg, ThatIsMissingIsSaid) {
    for (const char* name : {"a.mp4", "a.webm", "a.gif"}) {
        const std::string words = error_of([&] { write_film(film(name), {film_flat(2, 2, 1)}); });
        EXPECT_TRUE(has(words, "not on PATH; .apng")) << words;
        EXPECT_EQ(words, error_of([&] { check_film_path(film(name)); }));
    }
    EXPECT_EQ(error_of([&] { check_film_path(film("a.apng")); }), "");
    put(scratch_ / "bin/ffmpeg", "not to be run");
    EXPECT_TRUE(has(error_of([&] { check_film_path(film("a.mp4")); }), "not on PATH"));
    EXPECT_EQ(films(), 0);
}

TEST_F(FilmByFfmpeg, ThatFailsSaysItsLastLine) {
    put(film("old.mp4"), "old");
    play("cat > \"$out\"; echo first >&2; printf 'no encoder \\033[31m\\n\\n' >&2; exit 3");
    const std::string words = error_of([&] { write_film(film("old.mp4"), {film_flat(2, 2, 1)}); });
    EXPECT_TRUE(has(words, "old.mp4")) << words;
    EXPECT_TRUE(has(words, "ended with code 3 after 1 frames: no encoder \\x1b[31m")) << words;
    EXPECT_EQ(read_file(film("old.mp4")), "old");
    play("cat > /dev/null");
    EXPECT_TRUE(
        has(error_of([&] { write_film(film("a.mp4"), {film_flat(2, 2, 1)}); }), "wrote nothing"));
    EXPECT_EQ(films(), 1);
}

TEST_F(FilmByFfmpeg, ThatDiesInTheMiddleIsAnError) {
    for (const char* end : {"head -c 100000 > \"$out\"; echo lost >&2; exit 1",
                            "head -c 100000 > \"$out\"; echo lost >&2; kill -9 $$"}) {
        play(end);
        FilmWriter writer(film("a.mp4"), {200, 200, 5});
        const std::string words = error_of([&] {
            for (int i = 0; i < 1000; ++i) writer.add(film_noise(200, 200, 1));
        });
        EXPECT_TRUE(has(words, "ended ") && has(words, "lost")) << words;
    }
    EXPECT_EQ(films(), 0) << "no partial file is left";
}

TEST_F(FilmByFfmpeg, ThatHangsIsEndedByTheToken) {
    play("exec sleep 1000");
    std::stop_source stop;
    const auto start = std::chrono::steady_clock::now();
    {
        FilmWriter writer(film("a.mp4"), {500, 500, 5}, stop.get_token());
        std::atomic<bool> is_adding{false};
        std::jthread later([&] {
            // Nobody reads: the frame, larger than what a socket holds, waits.
            is_adding.wait(false);
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            stop.request_stop();
        });
        const Image frame = film_noise(500, 500, 1);
        is_adding = true;
        is_adding.notify_one();
        EXPECT_THROW(writer.add(frame), Interrupted);
    }
    {
        std::stop_source before_end;
        FilmWriter writer(film("a.mp4"), {2, 2, 5}, before_end.get_token());
        writer.add(film_flat(2, 2, 1));
        before_end.request_stop();
        EXPECT_THROW(writer.finish(), Interrupted);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(500));
    EXPECT_EQ(films(), 0);
}

}  // namespace
}  // namespace aft
