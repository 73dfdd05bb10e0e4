// The source of pictures that lie in files, whatever the files: its list of them says where. Each
// is cropped to a centred square, of which `crop` of each side is kept, and averaged to size x
// size. Pictures are kept once prepared, up to a limit.
//
// Pictures that cannot be read. To decode a million pictures at every start would take an hour, so
// up to 512 of them, spread evenly over the list, are decoded before the first step of a training
// (they are kept prepared, so that a small set loses nothing): more than 1 % unreadable is an error
// there. Any other is met when it is first wanted: named in a warning, counted and left out from
// then on; in training the next readable one of the list takes its place, in an evaluation none
// does. Those that the list itself knows to be unreadable are counted when the source is opened.
// What is left out depends on the files alone, so it is the same at every start. More than 1 % of
// all pictures met unreadable is an error then.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/images/image.h"
#include "model/data/source.h"

namespace aft {

// Where pictures lie, in parts and in an order that never changes. Any thread.
class PictureList {
  public:
    virtual ~PictureList() = default;
    [[nodiscard]] virtual int64_t size(Split split) const = 0;
    [[nodiscard]] virtual int64_t label(Split split, int64_t index) const = 0;  // -1: none
    // Reads and decodes; Error names the picture.
    [[nodiscard]] virtual Image read(Split split, int64_t index) const = 0;
    // Why it cannot be read, where that is known without reading it; else empty.
    [[nodiscard]] virtual std::string problem(Split, int64_t) const { return {}; }
    // Empty: there are none, or labels are numbers alone.
    [[nodiscard]] virtual const std::vector<std::string>& class_names() const = 0;
    [[nodiscard]] virtual int64_t classes() const {
        return static_cast<int64_t>(class_names().size());
    }
};

// Reads the options size, levels, gray and crop. Error where more than 1 % of the pictures have a
// problem that the list knows.
[[nodiscard]] std::unique_ptr<DataSource> make_picture_source(
    const Spec& spec, std::unique_ptr<const PictureList> list);

// Usage Error for an option that is neither one of make_picture_source's, nor split (with all), nor
// one of the room's `own`.
void check_picture_options(const Spec& spec, const std::vector<std::string>& own);

}  // namespace aft
