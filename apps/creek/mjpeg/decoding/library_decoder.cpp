// SPDX-License-Identifier: Apache-2.0
// The decoder over libjpeg-turbo. A build without it decodes by decode_here().
#include "decoder.hpp"
#include "faults.hpp"

#ifdef CREEK_HAS_JPEG
#include <csetjmp>
#include <cstdio>
#include <string>

#include <jpeglib.h>  // after <cstdio>, which it needs

#include <jerror.h>
#endif

namespace creek::mjpeg {

#if defined(CREEK_HAS_JPEG) && defined(LIBJPEG_TURBO_VERSION)
namespace {

/// The library's error handler, which leaves by a jump.
struct error_handler {
  jpeg_error_mgr base;  // first, so that the library's pointer to it is one to this
  std::jmp_buf leave;
  char text[JMSG_LENGTH_MAX];
  bool in_data = false;  // warnings before it are about things that read_header() has checked
};

[[noreturn]] void leave(j_common_ptr info) {
  auto* const handler = reinterpret_cast<error_handler*>(info->err);
  handler->base.format_message(info, handler->text);
  std::longjmp(handler->leave, 1);
}
void warn(j_common_ptr info, int level) {
  if (level < 0 && reinterpret_cast<error_handler*>(info->err)->in_data) leave(info);
}

/// The library asks for bytes after the last one: an end of the image, as if it were there. Data
/// that are missing are a warning.
boolean end_image(j_decompress_ptr info) {
  static constexpr JOCTET end[] = {0xFF, JPEG_EOI};
  info->src->next_input_byte = end;
  info->src->bytes_in_buffer = sizeof end;
  return TRUE;
}
void skip(j_decompress_ptr info, long bytes) {
  if (bytes <= 0) return;
  const auto count = static_cast<std::size_t>(bytes);
  if (count > info->src->bytes_in_buffer) {
    end_image(info);
  } else {
    info->src->next_input_byte += count;
    info->src->bytes_in_buffer -= count;
  }
}

class library_decoder {
 public:
  explicit library_decoder(std::string_view jpeg) {
    info_.err = jpeg_std_error(&handler_.base);
    handler_.base.error_exit = leave;
    handler_.base.emit_message = warn;
    guarded([this] { jpeg_create_decompress(&info_); });
    source_.init_source = [](j_decompress_ptr) {};
    source_.fill_input_buffer = end_image;
    source_.skip_input_data = skip;
    source_.resync_to_restart = jpeg_resync_to_restart;
    source_.term_source = [](j_decompress_ptr) {};
    source_.next_input_byte = reinterpret_cast<const JOCTET*>(jpeg.data());
    source_.bytes_in_buffer = jpeg.size();
    info_.src = &source_;
  }
  library_decoder(const library_decoder&) = delete;
  library_decoder& operator=(const library_decoder&) = delete;
  ~library_decoder() { jpeg_destroy_decompress(&info_); }

  void decode(const row_sink& sink) {
    guarded([this] { begin(); });
    const std::size_t row_bytes = std::size_t{3} * info_.output_width;
    std::string strip(rows_at_once * row_bytes, '\0');
    while (info_.output_scanline < info_.output_height) {
      const unsigned first = info_.output_scanline;
      guarded([&] { read_strip(strip.data(), row_bytes); });
      sink(std::string_view(strip.data(), (info_.output_scanline - first) * row_bytes));
    }
  }

 private:
  /// Calls f, which has nothing to destroy: the library leaves it by a jump.
  template <class F>
  void guarded(F f) {
    if (setjmp(handler_.leave) != 0) throw damaged_frame(handler_.text);
    f();
  }
  void begin() {
    jpeg_read_header(&info_, TRUE);
    handler_.in_data = true;
    info_.out_color_space = JCS_RGB;
    info_.dct_method = JDCT_ISLOW;
    info_.do_fancy_upsampling = TRUE;
    jpeg_start_decompress(&info_);
  }
  void read_strip(char* strip, std::size_t row_bytes) {
    JSAMPROW rows[rows_at_once];
    for (std::size_t i = 0; i < rows_at_once; ++i)
      rows[i] = reinterpret_cast<JSAMPROW>(strip + i * row_bytes);
    unsigned done = 0;
    while (done < rows_at_once && info_.output_scanline < info_.output_height)
      done +=
          jpeg_read_scanlines(&info_, rows + done, static_cast<JDIMENSION>(rows_at_once) - done);
  }

  static constexpr std::size_t rows_at_once = 16;

  jpeg_decompress_struct info_{};
  error_handler handler_{};
  jpeg_source_mgr source_{};
};

}  // namespace

bool has_library() noexcept {
  return true;
}

void decode_by_library(std::string_view jpeg, const jpeg_header&, const row_sink& rows) {
  library_decoder(jpeg).decode(rows);
}
#else
bool has_library() noexcept {
  return false;
}

void decode_by_library(std::string_view jpeg, const jpeg_header& header, const row_sink& rows) {
  decode_here(jpeg, header, rows);
}
#endif

}  // namespace creek::mjpeg
