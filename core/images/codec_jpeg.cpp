#include <csetjmp>
#include <cstdio>
// jpeglib.h needs size_t and FILE first.
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>

#include "core/check.h"
#include "core/images/codecs.h"

namespace aft {
namespace {

// libjpeg reports errors by a call that must not return; it is left by longjmp, so nothing with a
// destructor may live in the functions between (everything is a member of JpegDecoder, made
// outside).
struct JpegDecoder {
    jpeg_decompress_struct info{};
    jpeg_error_mgr errors{};
    jpeg_progress_mgr progress{};
    std::jmp_buf leave{};
    char message[JMSG_LENGTH_MAX] = "";
    Image* image = nullptr;
    std::vector<uint8_t>* row = nullptr;
    bool started = false;

    JpegDecoder() = default;
    JpegDecoder(const JpegDecoder&) = delete;
    JpegDecoder& operator=(const JpegDecoder&) = delete;
    ~JpegDecoder() {
        if (started) jpeg_destroy_decompress(&info);
    }
};

void leave_with_message(j_common_ptr info) {
    auto* decoder = static_cast<JpegDecoder*>(info->client_data);
    info->err->format_message(info, decoder->message);
    std::longjmp(decoder->leave, 1);
}

// Warnings that mean lost pixels are errors here: half a picture must not pass for a whole one.
void on_warning(j_common_ptr info, int level) {
    const int code = info->err->msg_code;
    if (level < 0 &&
        (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE))
        leave_with_message(info);
}

// A small file may hold thousands of scans that take minutes.
void on_progress(j_common_ptr info) {
    auto* decompress = reinterpret_cast<j_decompress_ptr>(info);
    if (decompress->input_scan_number <= 200) return;
    auto* decoder = static_cast<JpegDecoder*>(info->client_data);
    std::snprintf(decoder->message, sizeof decoder->message, "more than 200 scans");
    std::longjmp(decoder->leave, 1);
}

void start(JpegDecoder& d) {
    d.info.err = jpeg_std_error(&d.errors);
    d.errors.error_exit = leave_with_message;
    d.errors.emit_message = on_warning;
    d.errors.output_message = [](j_common_ptr) {};
    d.info.client_data = &d;
    jpeg_create_decompress(&d.info);
    d.started = true;
    d.progress.progress_monitor = on_progress;
    d.info.progress = &d.progress;
}

bool read_header(JpegDecoder& d, std::string_view bytes) {
    if (setjmp(d.leave)) return false;
    start(d);
    jpeg_mem_src(&d.info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&d.info, TRUE);
    if (d.info.num_components == 1) d.info.out_color_space = JCS_GRAYSCALE;
    if (d.info.num_components == 3) d.info.out_color_space = JCS_RGB;
    if (d.info.num_components == 4) d.info.out_color_space = JCS_CMYK;
    return true;
}

bool read_rows(JpegDecoder& d) {
    if (setjmp(d.leave)) return false;
    jpeg_start_decompress(&d.info);
    const bool inverted = d.info.saw_Adobe_marker != 0;
    while (d.info.output_scanline < d.info.output_height) {
        const size_t y = d.info.output_scanline;
        JSAMPROW row = d.row->data();
        jpeg_read_scanlines(&d.info, &row, 1);
        uint8_t* out = d.image->pixels.data() + y * static_cast<size_t>(d.image->width) *
                                                    static_cast<size_t>(d.image->channels);
        if (d.info.num_components != 4) {
            std::copy(row, row + d.image->width * d.image->channels, out);
            continue;
        }
        for (int64_t x = 0; x < d.image->width; ++x)
            for (int c = 0; c < 3; ++c) {
                const int ink = inverted ? row[4 * x + c] : 255 - row[4 * x + c];
                const int black = inverted ? row[4 * x + 3] : 255 - row[4 * x + 3];
                out[3 * x + c] = static_cast<uint8_t>(ink * black / 255);
            }
    }
    jpeg_finish_decompress(&d.info);
    return true;
}

}  // namespace

Image decode_jpeg(std::string_view bytes) {
    Image image;
    std::vector<uint8_t> row;
    JpegDecoder decoder;
    AFT_CHECK(read_header(decoder, bytes), "broken JPEG: {}", decoder.message);
    image.width = decoder.info.image_width;
    image.height = decoder.info.image_height;
    check_image_size(image.width, image.height);
    image.channels = decoder.info.num_components == 1 ? 1 : 3;
    image.pixels.resize(static_cast<size_t>(image.width * image.height * image.channels));
    row.resize(static_cast<size_t>(image.width) * 4);
    decoder.image = &image;
    decoder.row = &row;
    AFT_CHECK(read_rows(decoder), "broken JPEG: {}", decoder.message);
    return image;
}

}  // namespace aft
