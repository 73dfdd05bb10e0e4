// Films: frames of one size as an animated PNG (written here), as GIF, MP4 or WebM (by the program
// ffmpeg, where it is on PATH), or as a folder of numbered PNGs. Any thread, one at a time; blocks
// on the disk and on ffmpeg. Memory: two frames, whatever the length. Errors name the path.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>

#include "core/images/image.h"

namespace aft {

inline constexpr int kMostFramesPerSecond = 60;

struct FilmShape {
    int64_t width = 0, height = 0;
    int frames_per_second = 10;  // 1 to kMostFramesPerSecond; a folder has no pace
};

class FilmSink;

// What the path says: .apng or .png; .gif, .mp4 or .webm; a folder where it ends in / or is one,
// whose frames are FOLDER/NAME-0001.png, NAME being the folder's.
class FilmWriter {
  public:
    FilmWriter(const std::filesystem::path& path, const FilmShape& shape,
               std::stop_token stop = {});
    ~FilmWriter();  // without finish(): removes what was written
    FilmWriter(const FilmWriter&) = delete;
    FilmWriter& operator=(const FilmWriter&) = delete;
    // RGB, of the film's size. Throws Interrupted when the token asks to stop.
    void add(const Image& frame);
    void finish();  // once, as the last, after a frame at least: the film is at its path then

  private:
    FilmShape shape_;
    std::stop_token stop_;
    std::unique_ptr<FilmSink> sink_;
    int64_t frames_ = 0;
};

// Before a long recording: throws what FilmWriter would throw of this path. Leaves nothing.
void check_film_path(const std::filesystem::path& path);

// Cropped at the right and below, or filled up there with the last column and row.
[[nodiscard]] Image fit_frame(const Image& image, int64_t width, int64_t height);

}  // namespace aft
