// SPDX-License-Identifier: Apache-2.0
// Tests with files in their own folder.
#pragma once

#include <creek/core/error.hpp>

#include <bzlib.h>
#include <gtest/gtest.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "support/temporary_folder.hpp"

namespace creek::mapreduce {

class file_case : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }
  std::string write(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  std::string bytes_of(const std::string& name) const {
    std::ifstream from(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(from), {}};
  }
  std::string compress(const std::string& name, std::string_view text) const {
    const gzFile file = gzopen(path(name).c_str(), "ab");  // appends a member
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path(name);
  }
  /// Appends a frame with a checksum.
  std::string compress_zstd(const std::string& name, std::string_view text) const {
    const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> by(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
    ZSTD_CCtx_setParameter(by.get(), ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(by.get(), ZSTD_c_checksumFlag, 1);
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    packed.resize(ZSTD_compress2(by.get(), packed.data(), packed.size(), text.data(), text.size()));
    std::ofstream(path(name), std::ios::binary | std::ios::app) << packed;
    return path(name);
  }
  /// Appends a stream.
  std::string compress_xz(const std::string& name, std::string_view text) const {
    std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
    std::size_t size = 0;
    EXPECT_EQ(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, nullptr,
                                      reinterpret_cast<const std::uint8_t*>(text.data()),
                                      text.size(), reinterpret_cast<std::uint8_t*>(packed.data()),
                                      &size, packed.size()),
              LZMA_OK);
    return append(name, packed.substr(0, size));
  }
  /// Appends a stream of blocks with this much text, whose headers have their sizes.
  std::string compress_xz_blocks(const std::string& name, std::string_view text,
                                 std::size_t block) const {
    lzma_mt chosen{};
    chosen.threads = 1;
    chosen.block_size = block;
    chosen.check = LZMA_CHECK_CRC32;
    lzma_stream stream = LZMA_STREAM_INIT;
    EXPECT_EQ(lzma_stream_encoder_mt(&stream, &chosen), LZMA_OK);
    std::string packed(1000 + 2 * text.size() + 100 * (text.size() / block), '\0');
    stream.next_in = reinterpret_cast<const std::uint8_t*>(text.data());
    stream.avail_in = text.size();
    stream.next_out = reinterpret_cast<std::uint8_t*>(packed.data());
    stream.avail_out = packed.size();
    while (lzma_code(&stream, LZMA_FINISH) == LZMA_OK) {
    }
    packed.resize(packed.size() - stream.avail_out);
    lzma_end(&stream);
    return append(name, packed);
  }
  /// Appends a stream.
  std::string compress_bzip2(const std::string& name, std::string_view text) const {
    auto size = static_cast<unsigned>(text.size() + text.size() / 64 + 700);
    std::string packed(size, '\0');
    EXPECT_EQ(BZ2_bzBuffToBuffCompress(packed.data(), &size, const_cast<char*>(text.data()),
                                       static_cast<unsigned>(text.size()), 1, 0, 0),
              BZ_OK);
    return append(name, packed.substr(0, size));
  }
  /// Appends a frame.
  std::string compress_lz4(const std::string& name, std::string_view text) const {
    LZ4F_preferences_t chosen{};
    chosen.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    std::string packed(LZ4F_compressFrameBound(text.size(), &chosen), '\0');
    packed.resize(
        LZ4F_compressFrame(packed.data(), packed.size(), text.data(), text.size(), &chosen));
    return append(name, packed);
  }
  std::string append(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary | std::ios::app) << bytes;
    return path(name);
  }
  support::temporary_folder folder_;
};

/// Returns the message of the error that `f` throws.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace creek::mapreduce
