// The formats of films, for core/film/film.cpp alone, which has checked the shape and the frames.
// Without finish() a sink removes what it has written.
#pragma once
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>

#include "core/film/film.h"

namespace aft {

class FilmSink {
  public:
    virtual ~FilmSink() = default;
    virtual void add(const Image& frame) = 0;
    virtual void finish() = 0;
};

[[nodiscard]] std::unique_ptr<FilmSink> apng_sink(const std::filesystem::path& path,
                                                  const FilmShape& shape);

// Ending: ".gif", ".mp4" or ".webm". The token ends ffmpeg, also while it does not read.
struct VideoTarget {
    std::filesystem::path path;
    std::string ending;
    std::stop_token stop;
};
[[nodiscard]] std::unique_ptr<FilmSink> video_sink(const VideoTarget& target,
                                                   const FilmShape& shape);
// The program on PATH; throws where there is none.
[[nodiscard]] std::filesystem::path find_ffmpeg(const std::string& ending);

[[nodiscard]] std::unique_ptr<FilmSink> folder_sink(const std::filesystem::path& folder);
void check_film_folder(const std::filesystem::path& folder);

}  // namespace aft
