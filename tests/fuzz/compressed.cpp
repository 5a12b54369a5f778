// SPDX-License-Identifier: Apache-2.0
// Files in gzip, Zstandard, xz, bzip2 and lz4, read as text or as records: the result equals that
// of the libraries on the whole file in memory, or a refusal. Three kinds of input: a file as it
// is; the deflated body of a gzip member, whose checksum is corrected here; text that is compressed
// here, in several members or frames, cut short or with one byte changed.
#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <creek/core/io/data_fault.hpp>
#include <creek/mapreduce.hpp>
#include <creek/tasking/parallel_for.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "harness.hpp"

namespace creek::fuzz {
namespace {

using mapreduce::text_files, mapreduce::text_units;

constexpr std::size_t max_bytes = std::size_t{1} << 21;  // more text is useless and takes long

/// Result of decompressing a file.
struct expansion {
  enum { whole, damaged, too_long } state = whole;
  std::string text;
};

/// Returns the buffer for decompressed files; kept, since clearing it takes long.
std::string& room() {
  static std::string bytes(max_bytes, '\0');
  return bytes;
}

using zlib_stream = std::unique_ptr<z_stream, int (*)(z_stream*)>;

/// Reads one member of `from`; `window` is that of inflateInit2.
expansion inflate_one(std::string_view& from, int window) {
  z_stream stream{};
  if (inflateInit2(&stream, window) != Z_OK) throw std::bad_alloc();
  const zlib_stream closed(&stream, &inflateEnd);
  expansion to;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(room().data());
  stream.avail_out = static_cast<uInt>(max_bytes);
  const int code = inflate(&stream, Z_FINISH);
  if (code != Z_STREAM_END) {
    to.state = stream.avail_out == 0 ? expansion::too_long : expansion::damaged;
  }
  to.text = room().substr(0, max_bytes - stream.avail_out);
  from.remove_prefix(from.size() - stream.avail_in);
  return to;
}

expansion gunzip(std::string_view file) {
  expansion all;
  do {
    expansion one = inflate_one(file, 16 + MAX_WBITS);
    all.text += one.text;
    all.state = all.text.size() > max_bytes ? expansion::too_long : one.state;
  } while (all.state == expansion::whole && file.starts_with("\x1F\x8B"));
  // gunzip ignores garbage, but fails for a single byte.
  if (file.size() == 1 && file.front() != '\0') all.state = expansion::damaged;
  return all;
}

/// Returns whether a frame can be read in small pieces without too much memory.
bool is_stream(std::string_view frame) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                             &ZSTD_freeDStream);
  char some[1024];
  ZSTD_inBuffer ahead{frame.data(), 1, 0};
  for (;;) {
    ZSTD_outBuffer out{some, sizeof some, 0};
    const std::size_t code = ZSTD_decompressStream(stream.get(), &out, &ahead);
    if (ZSTD_isError(code) != 0) {
      return ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge;
    }
    if (code == 0) return true;
    if (out.pos != 0 || ahead.pos < ahead.size) continue;
    if (ahead.size == frame.size()) return false;
    ahead.size = std::min(ahead.size + 7, frame.size());
  }
}

/// The library's two decoders accept different damage: the one for whole frames accepts blocks that
/// are too large, the one for streams a frame of another size than in its header. Neither should.
expansion unzstd(std::string_view file) {
  std::size_t at = 0;
  while (!file.empty()) {
    const std::size_t taken = ZSTD_findFrameCompressedSize(file.data(), file.size());
    if (ZSTD_isError(taken) != 0) return {expansion::damaged, {}};
    const std::size_t made =
        ZSTD_decompress(room().data() + at, max_bytes - at, file.data(), taken);
    if (ZSTD_isError(made) != 0) {
      // Empty blocks marked as compressed, which [RFC 8878] forbids (3.1.1.2.3) and streams accept:
      // a frame that claims to be empty loses nothing.
      const bool empty = ZSTD_getFrameContentSize(file.data(), taken) == 0;
      if (empty && is_stream(file.substr(0, taken))) {
        file.remove_prefix(taken);
        continue;
      }
      const bool full =
          std::string_view(ZSTD_getErrorName(made)).find("too small") != std::string::npos;
      return {full ? expansion::too_long : expansion::damaged, {}};
    }
    if (!is_stream(file.substr(0, taken))) return {expansion::damaged, {}};
    at += made;
    file.remove_prefix(taken);
  }
  return {expansion::whole, room().substr(0, at)};
}

expansion unxz(std::string_view file) {
  std::uint64_t memory = std::uint64_t{256} << 20;
  std::size_t taken = 0, made = 0;
  const lzma_ret code = lzma_stream_buffer_decode(
      &memory, LZMA_CONCATENATED, nullptr, reinterpret_cast<const std::uint8_t*>(file.data()),
      &taken, file.size(), reinterpret_cast<std::uint8_t*>(room().data()), &made, max_bytes);
  if (code == LZMA_OK) return {expansion::whole, room().substr(0, made)};
  const bool too_long = code == LZMA_BUF_ERROR || code == LZMA_MEMLIMIT_ERROR;
  return {too_long ? expansion::too_long : expansion::damaged, {}};
}

expansion bunzip2(std::string_view file) {
  std::size_t at = 0;
  while (!file.empty()) {
    bz_stream stream{};
    if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK) throw std::bad_alloc();
    const std::unique_ptr<bz_stream, int (*)(bz_stream*)> closed(&stream, &BZ2_bzDecompressEnd);
    stream.next_in = const_cast<char*>(file.data());
    stream.avail_in = static_cast<unsigned>(file.size());
    stream.next_out = room().data() + at;
    stream.avail_out = static_cast<unsigned>(max_bytes - at);
    const int code = BZ2_bzDecompress(&stream);
    if (code != BZ_STREAM_END) {
      return {stream.avail_out == 0 ? expansion::too_long : expansion::damaged, {}};
    }
    at = max_bytes - stream.avail_out;
    file.remove_prefix(file.size() - stream.avail_in);
  }
  return {expansion::whole, room().substr(0, at)};
}

expansion unlz4(std::string_view file) {
  LZ4F_dctx* context = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0) {
    throw std::bad_alloc();
  }
  const std::unique_ptr<LZ4F_dctx, std::size_t (*)(LZ4F_dctx*)> freed(
      context, &LZ4F_freeDecompressionContext);
  std::size_t at = 0, code = 1;
  while (!file.empty() || code != 0) {
    std::size_t made = max_bytes - at, taken = file.size();
    code = LZ4F_decompress(context, room().data() + at, &made, file.data(), &taken, nullptr);
    if (LZ4F_isError(code) != 0) return {expansion::damaged, {}};
    if (made == 0 && taken == 0) {
      return {at == max_bytes ? expansion::too_long : expansion::damaged, {}};
    }
    at += made;
    file.remove_prefix(taken);
  }
  return {expansion::whole, room().substr(0, at)};
}

/// Returns the expanded file, or nullopt for formats that are not supported.
std::optional<expansion> expand(std::string_view file) {
  if (file.starts_with("\x1F\x8B")) return gunzip(file);
  if (file.starts_with("BZh")) return bunzip2(file);
  if (file.starts_with("\x04\x22\x4D\x18")) return unlz4(file);
  if (file.starts_with("\xFD")) return unxz(file);
  if (file.starts_with("\x28\xB5") || file.substr(1, 3) == "\x2A\x4D\x18") return unzstd(file);
  return std::nullopt;
}

/// Returns a gzip file with this body, or nothing if the body is not deflated text.
std::string with_trailer(std::string_view body) {
  std::string_view left = body;
  const expansion text = inflate_one(left, -MAX_WBITS);
  if (text.state != expansion::whole) return {};
  std::string file("\x1F\x8B\x08\0\0\0\0\0\0\xFF", 10);
  file += body.substr(0, body.size() - left.size());
  const auto append = [&file](std::uint32_t number) {
    for (int i = 0; i < 4; ++i) file += static_cast<char>(number >> 8 * i);
  };
  append(static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(text.text.data()),
                                          static_cast<uInt>(text.text.size()))));
  append(static_cast<std::uint32_t>(text.text.size()));
  return file.append(left);  // another member, padding, garbage
}

std::string gzip(std::string_view text, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, 16 + MAX_WBITS, 1, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  const zlib_stream closed(&stream, &deflateEnd);
  std::string to(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(to.data());
  stream.avail_out = static_cast<uInt>(to.size());
  expect(deflate(&stream, Z_FINISH) == Z_STREAM_END, "deflate");
  to.resize(static_cast<std::size_t>(stream.total_out));
  return to;
}

std::string zstd(std::string_view text, int level) {
  std::string to(ZSTD_compressBound(text.size()), '\0');
  to.resize(ZSTD_compress(to.data(), to.size(), text.data(), text.size(), level));
  return to;
}

std::string xz(std::string_view text, int level) {
  std::string to(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  expect(lzma_easy_buffer_encode(static_cast<std::uint32_t>(level), LZMA_CHECK_CRC32, nullptr,
                                 reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                 reinterpret_cast<std::uint8_t*>(to.data()), &size,
                                 to.size()) == LZMA_OK,
         "xz");
  to.resize(size);
  return to;
}

std::string bzip2(std::string_view text, int level) {
  auto size = static_cast<unsigned>(text.size() + text.size() / 64 + 700);
  std::string to(size, '\0');
  expect(BZ2_bzBuffToBuffCompress(to.data(), &size, const_cast<char*>(text.data()),
                                  static_cast<unsigned>(text.size()), 1 + level, 0, 0) == BZ_OK,
         "bzip2");
  to.resize(size);
  return to;
}

std::string lz4(std::string_view text, int level) {
  LZ4F_preferences_t chosen{};
  chosen.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  chosen.frameInfo.blockMode = level == 0 ? LZ4F_blockLinked : LZ4F_blockIndependent;
  std::string to(LZ4F_compressFrameBound(text.size(), &chosen), '\0');
  to.resize(LZ4F_compressFrame(to.data(), to.size(), text.data(), text.size(), &chosen));
  return to;
}

/// Text compressed as the next bytes say; a text of many copies exceeds the readers' buffers.
std::string compressed(input& from) {
  constexpr std::string (*by[])(std::string_view, int) = {&gzip, &zstd, &xz, &bzip2, &lz4};
  const auto compress = by[from.below(5)];
  const int level = static_cast<int>(from.below(2));
  const std::size_t scale = from.below(4);
  const std::size_t copies = 1 + scale * from.byte();
  const std::size_t members = 1 + from.below(3);
  const std::size_t damage = from.below(4);
  const std::size_t place = from.below_wide(1 << 16), byte = from.byte();
  std::string text;
  while (text.size() < std::min(copies * from.rest().size(), max_bytes / 2)) text += from.rest();
  std::string file;
  for (std::size_t i = 0; i < members; ++i) {
    const std::size_t first = i * text.size() / members, last = (i + 1) * text.size() / members;
    const std::string_view part = std::string_view(text).substr(first, last - first);
    file += compress(part, level);
  }
  const std::size_t at = 4 + place * (file.size() - 4) / (1 << 16);
  if (damage == 1) file.resize(at);
  if (damage == 2) file[at] = static_cast<char>(file[at] ^ byte);
  if (damage == 3) file += std::string(byte, '\0');
  return file;
}

std::string file_from(input& from) {
  switch (from.below(3)) {
    case 0:
      return std::string(from.rest());
    case 1:
      return with_trailer(from.rest());
    default:
      return compressed(from);
  }
}

/// Returns all visited text.
std::string content_of(const std::string& name, text_files::settings chosen, bool several) {
  text_files files({name}, std::move(chosen));
  std::mutex mutex;
  std::map<std::uint64_t, std::string> pieces;
  workers(several).run([&] {
    parallel_for(std::size_t{0}, files.splits(),
                 [&](std::size_t i) {
                   files.visit(i, [&](const mapreduce::text_split& split) {
                     const std::lock_guard lock(mutex);
                     expect(pieces.emplace(split.from.offset, split.text).second, "read twice");
                   });
                 },
                 {.grain = 1});
  });
  std::string content;
  for (const auto& [offset, text] : pieces) {
    expect(offset == content.size(), "not where it says");
    content += text;
  }
  return content;
}

text_files::settings settings_from(input& from, std::size_t& stride) {
  text_files::settings chosen;
  chosen.split = 1 + from.byte();
  const unsigned units = from.below(3);
  chosen.units = units == 0 ? text_units::words : text_units::lines;
  stride = units == 2 ? 1 + from.byte() : 1;
  if (units == 2) {
    chosen.layout = [stride](const std::string&, std::string_view) {
      return mapreduce::record_layout{.stride = stride, .used = stride};
    };
  }
  return chosen;
}

}  // namespace
}  // namespace creek::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace creek::fuzz;
  input from(data, size);
  const bool several = from.below(2) != 0;
  std::size_t stride = 1;
  const auto chosen = settings_from(from, stride);
  const std::string bytes = file_from(from);
  if (!looks_compressed(bytes)) return -1;
  const auto expanded = expand(bytes);
  const expansion expected = expanded.value_or(expansion{});
  if (expected.state == expansion::too_long) return -1;
  const memory_file file(bytes);
  std::string content;
  const auto refused =
      refusal_of(file.name(), [&] { content = content_of(file.name(), chosen, several); });
  if (!expanded) {
    expect(refused && refused->code.value() == ENOTSUP, "not refused as of an unknown format");
  } else if (expected.state == expansion::damaged) {
    expect(refused && refused->code.value() == EIO, "not refused as damaged");
  } else if (expected.text.size() % stride != 0) {
    expect(refused && refused->code == creek::data_fault::truncated, "not refused as cut short");
  } else {
    // Windows over 128 MiB are refused, as by the zstd tool.
    const bool large = refused && refused->why.find("too much memory") != std::string::npos;
    expect(!refused || large, "refused: " + (refused ? refused->why : ""));
    expect(large || content == expected.text, "other text");
  }
  return 0;
}
