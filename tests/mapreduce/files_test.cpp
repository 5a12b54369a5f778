// SPDX-License-Identifier: Apache-2.0
// Files as input: mapped and streamed, compressed, cut short, linked, missing.
#include <creek/core/error.hpp>
#include <creek/mapreduce.hpp>

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "file_case.hpp"
#include "oracle.hpp"

namespace creek::mapreduce {
namespace {

namespace fs = std::filesystem;

class Files : public file_case {};

oracle::word_map count(const std::vector<std::string>& names, std::size_t split = 1 << 20) {
  text_files files(names, {.split = split});
  return oracle::as_map(run(word_count{}, files));
}

std::string message(const std::vector<std::string>& names) {
  return error_of([&] { (void)count(names); });
}

std::string content_of(const std::string& name) {
  std::string bytes(fs::file_size(name), '\0');
  std::ifstream(name, std::ios::binary)
      .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

TEST_F(Files, MappedAndStreamedGiveTheSame) {
  const std::string text = oracle::random_text(1, 500000, 2000);
  const std::string name = write("text", text);
  const auto expected = oracle::count_by_map(text);
  for (const std::size_t split : {100, 4096, 100000, 1 << 20}) {
    EXPECT_EQ(count({name}, split), expected) << split;
  }
}

TEST_F(Files, ManyFilesAndFolders) {
  std::string all;
  for (int i = 0; i < 40; ++i) {
    const std::string text = oracle::random_text(static_cast<std::uint64_t>(i), 5000, 50);
    write("d/" + std::to_string(i % 7) + "/deep/" + std::to_string(i), text);
    all += text + '\n';
  }
  write("d/empty", "");
  EXPECT_EQ(count({path("d")}, 1000), oracle::count_by_map(all));
  EXPECT_EQ(count({path("d/empty")}), oracle::word_map{});
}

TEST_F(Files, GzipByContentAndInSeveralMembers) {
  const std::string first = oracle::random_text(1, 3000000, 500);
  const std::string second = oracle::random_text(2, 100000, 500);
  compress("no-suffix", first);
  const std::string name = compress("no-suffix", second);
  EXPECT_EQ(count({name}), oracle::count_by_map(first + second));
  EXPECT_EQ(count({name}, 1000), oracle::count_by_map(first + second));
  EXPECT_EQ(count({compress("nothing", "")}), oracle::word_map{});
}

/// Counts words under keys with the word somewhere inside.
template <class Key>
struct counted_by {
  using key_type = Key;
  using value_type = std::uint64_t;
  static constexpr bool may_group = true;
  template <class Emit>
  static void map(std::string_view text, Emit& emit) {
    for_each_word(text, [&](std::string_view word) {
      if constexpr (std::same_as<Key, std::pair<std::string_view, int>>) {
        emit(Key{word, 1}, 1);
      } else {
        emit(Key{1, {word, 2}}, 1);
      }
    });
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
  static std::uint64_t reduce(const Key&, const values<counted_by>& all) {
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
  }
};

TEST_F(Files, ViewsWithinKeysOutliveTextThatDoesNotStay) {
  const std::string text = oracle::random_text(1, 300000, 500);
  const auto expected = oracle::count_by_map(text);
  text_files files({compress("text.gz", text)}, {.split = 10000});
  const auto check = [&](const auto& job, const auto& word_of) {
    for (const strategy how : {strategy::combine_on_emit, strategy::emit_and_group}) {
      oracle::word_map counts;
      for (const auto& [key, count] : run(job, files, {.how = how})) {
        counts.emplace(word_of(key), count);
      }
      EXPECT_EQ(counts, expected);
    }
  };
  check(counted_by<std::pair<std::string_view, int>>{}, [](const auto& key) { return key.first; });
  check(counted_by<std::tuple<int, std::pair<std::string_view, int>>>{},
        [](const auto& key) { return std::get<1>(key).first; });
}

TEST_F(Files, GzipPaddedWithZerosIsWhole) {
  const std::string name = compress("padded", "a b a");
  std::ofstream(name, std::ios::app | std::ios::binary) << std::string(512, '\0');
  EXPECT_EQ(count({name}), (oracle::word_map{{"a", 2}, {"b", 1}}));
}

TEST_F(Files, DamagedAndTruncatedGzipIsNamed) {
  const std::string name = compress("cut.gz", oracle::random_text(1, 100000, 500));
  fs::resize_file(name, fs::file_size(name) / 2);
  EXPECT_THAT(message({name}), testing::HasSubstr("cut.gz: truncated gzip data"));
  const std::string bad = write("bad.gz", std::string("\x1F\x8B\x08") + std::string(100, 'x'));
  EXPECT_THAT(message({bad}), testing::HasSubstr("bad.gz: damaged gzip data"));
}

TEST_F(Files, ZstdByContentAndInSeveralFrames) {
  const std::string first = oracle::random_text(1, 3000000, 500);
  const std::string second = oracle::random_text(2, 100000, 500);
  compress_zstd("no-suffix", first);
  std::ofstream(path("no-suffix"), std::ios::app | std::ios::binary)
      << std::string("\x50\x2A\x4D\x18\x03\0\0\0any", 11);  // a frame to be skipped
  const std::string name = compress_zstd("no-suffix", second);
  EXPECT_EQ(count({name}), oracle::count_by_map(first + second));
  EXPECT_EQ(count({name}, 1000), oracle::count_by_map(first + second));
  EXPECT_EQ(count({compress_zstd("nothing", "")}), oracle::word_map{});
}

TEST_F(Files, DamagedAndTruncatedZstdIsNamed) {
  const std::string whole = compress_zstd("whole", oracle::random_text(1, 300000, 5000));
  const std::string bytes = content_of(whole);
  for (std::size_t n = 4; n < bytes.size(); n += n < 100 ? 1 : bytes.size() / 13) {
    const std::string cut = write("cut.zst", std::string_view(bytes).substr(0, n));
    EXPECT_THAT(message({cut}), testing::HasSubstr("cut.zst: truncated zstd data")) << n;
  }
  compress_zstd("two", "a whole frame");
  std::ofstream(path("two"), std::ios::app | std::ios::binary) << bytes.substr(0, 20);
  EXPECT_THAT(message({path("two")}), testing::HasSubstr("two: truncated zstd data"));
  const std::string bad = write("bad.zst", "\x28\xB5\x2F\xFD" + std::string(100, 'x'));
  EXPECT_THAT(message({bad}), testing::HasSubstr("bad.zst: damaged zstd data ("));
  write("short", std::string("\x28\xB5\x2F\xFD\x20\x43\x01\0\0", 9));  // the header says 67 bytes
  EXPECT_THAT(message({path("short")}), testing::HasSubstr("short: damaged zstd data ("));
  compress_zstd("tail", "a whole frame");
  std::ofstream(path("tail"), std::ios::app | std::ios::binary) << "and more";
  EXPECT_THAT(message({path("tail")}), testing::HasSubstr("tail: damaged zstd data ("));
}

TEST_F(Files, XzByContentInSeveralStreamsAndPadded) {
  const std::string first = oracle::random_text(1, 3000000, 500);
  const std::string second = oracle::random_text(2, 100000, 500);
  compress_xz("no-suffix", first);
  append("no-suffix", std::string(8, '\0'));
  compress_xz("no-suffix", second);
  const std::string name = append("no-suffix", std::string(512, '\0'));
  EXPECT_EQ(count({name}), oracle::count_by_map(first + second));
  EXPECT_EQ(count({name}, 1000), oracle::count_by_map(first + second));
  EXPECT_EQ(count({compress_xz("nothing", "")}), oracle::word_map{});
}

TEST_F(Files, Bzip2ByContentAndInSeveralStreams) {
  const std::string first = oracle::random_text(1, 3000000, 500);
  const std::string second = oracle::random_text(2, 100000, 500);
  compress_bzip2("no-suffix", first);
  compress_bzip2("no-suffix", "");
  const std::string name = compress_bzip2("no-suffix", second);
  EXPECT_EQ(count({name}), oracle::count_by_map(first + second));
  EXPECT_EQ(count({name}, 1000), oracle::count_by_map(first + second));
  EXPECT_EQ(count({compress_bzip2("nothing", "")}), oracle::word_map{});
  EXPECT_EQ(count({write("text", "BZh9 and more")}),
            (oracle::word_map{{"BZh9", 1}, {"and", 1}, {"more", 1}}));
}

TEST_F(Files, DamagedAndTruncatedXzIsNamed) {
  const std::string bytes = content_of(compress_xz("whole", oracle::random_text(1, 300000, 5000)));
  for (std::size_t n = 6; n < bytes.size(); n += n < 100 ? 1 : bytes.size() / 13) {
    const std::string cut = write("cut.xz", std::string_view(bytes).substr(0, n));
    EXPECT_THAT(message({cut}), testing::HasSubstr("cut.xz: truncated xz data")) << n;
  }
  std::string changed = bytes;
  changed[bytes.size() / 2] ^= 1;
  EXPECT_THAT(message({write("bad.xz", changed)}), testing::HasSubstr("bad.xz: damaged xz data"));
  compress_xz("padded", "a whole stream");
  append("padded", std::string(6, '\0'));  // not a multiple of four
  EXPECT_THAT(message({path("padded")}), testing::HasSubstr("padded: damaged xz data"));
  compress_xz("tail", "a whole stream");
  append("tail", "and more than a header has");
  EXPECT_THAT(message({path("tail")}), testing::HasSubstr("tail: damaged xz data"));
}

TEST_F(Files, DamagedAndTruncatedBzip2IsNamed) {
  const std::string bytes =
      content_of(compress_bzip2("whole", oracle::random_text(1, 300000, 5000)));
  for (std::size_t n = 10; n < bytes.size(); n += n < 100 ? 1 : bytes.size() / 13) {
    const std::string cut = write("cut.bz2", std::string_view(bytes).substr(0, n));
    EXPECT_THAT(message({cut}), testing::HasSubstr("cut.bz2: truncated bzip2 data")) << n;
  }
  compress_bzip2("two", "a whole stream");
  append("two", bytes.substr(0, 3));
  EXPECT_THAT(message({path("two")}), testing::HasSubstr("two: truncated bzip2 data"));
  std::string changed = bytes;
  changed[bytes.size() / 2] ^= 1;
  EXPECT_THAT(message({write("bad.bz2", changed)}),
              testing::HasSubstr("bad.bz2: damaged bzip2 data"));
  compress_bzip2("tail", "a whole stream");
  append("tail", "and more");
  EXPECT_THAT(message({path("tail")}), testing::HasSubstr("tail: damaged bzip2 data"));
}

TEST_F(Files, Lz4ByContentAndInSeveralFrames) {
  const std::string first = oracle::random_text(1, 3000000, 500);
  const std::string second = oracle::random_text(2, 100000, 500);
  compress_lz4("no-suffix", first);
  append("no-suffix", std::string("\x50\x2A\x4D\x18\x03\0\0\0any", 11));  // to be skipped
  const std::string name = compress_lz4("no-suffix", second);
  EXPECT_EQ(count({name}), oracle::count_by_map(first + second));
  EXPECT_EQ(count({name}, 1000), oracle::count_by_map(first + second));
  EXPECT_EQ(count({compress_lz4("nothing", "")}), oracle::word_map{});
}

TEST_F(Files, DamagedAndTruncatedLz4IsNamed) {
  const std::string bytes = content_of(compress_lz4("whole", oracle::random_text(1, 300000, 5000)));
  for (std::size_t n = 4; n < bytes.size(); n += n < 100 ? 1 : bytes.size() / 13) {
    const std::string cut = write("cut.lz4", std::string_view(bytes).substr(0, n));
    EXPECT_THAT(message({cut}), testing::HasSubstr("cut.lz4: truncated lz4 data")) << n;
  }
  std::string changed = bytes;
  changed[bytes.size() / 2] ^= 1;
  EXPECT_THAT(message({write("bad.lz4", changed)}),
              testing::HasSubstr("bad.lz4: damaged lz4 data ("));
  compress_lz4("tail", "a whole frame");
  append("tail", "and more");
  EXPECT_THAT(message({path("tail")}), testing::HasSubstr("tail: damaged lz4 data ("));
}

TEST_F(Files, ZstdMayBeginWithAFrameToBeSkipped) {
  append("skipped", std::string("\x5A\x2A\x4D\x18\x03\0\0\0any", 11));
  EXPECT_EQ(count({compress_zstd("skipped", "a b a")}), (oracle::word_map{{"a", 2}, {"b", 1}}));
}

TEST_F(Files, OtherCompressedDataIsRefusedByName) {
  const std::pair<const char*, std::string> formats[] = {
      {"lz4", "\x02\x21\x4C\x18\x64\x40"},
      {"lzip", "LZIP\x01\x0C"},
      {"lzop", std::string("\x89LZO\0\r\n\x1A\n", 9)},
      {"compress", "\x1F\x9D\x90"},
      {"zip", "PK\x03\x04\x14"},
      {"zip", "PK\x05\x06"},
      {"7z", "7z\xBC\xAF\x27\x1C"},
      {"rar", "Rar!\x1A\x07\x01"},
  };
  for (const auto& [format, head] : formats) {
    for (const std::size_t size : {10, 5000}) {
      const std::string name = write("packed", head + std::string(size, 'x'));
      EXPECT_EQ(message({name}), name + ": " + format +
                                     " data, which has to be unpacked first: Operation not "
                                     "supported");
      text_files some({name, write("good", "x")}, {.skip_unreadable = true, .split = 1000});
      EXPECT_EQ(oracle::as_map(run(word_count{}, some)), (oracle::word_map{{"x", 1}}));
      EXPECT_THAT(some.skipped(), testing::ElementsAre(name + ": Operation not supported"));
    }
  }
  EXPECT_EQ(count({write("text", "PK and LZIP and Rar! and 7z")}).size(), 5U);
}

TEST_F(Files, OneWordLargerThanEveryBuffer) {
  const std::string word(5 << 20, 'w');
  const std::string text = "a " + word + " b";
  const oracle::word_map expected{{"a", 1}, {word, 1}, {"b", 1}};
  EXPECT_EQ(count({write("plain", text)}, 4096), expected);
  EXPECT_EQ(count({compress("packed", text)}), expected);
  EXPECT_EQ(count({compress_zstd("packed.zst", text)}), expected);
  EXPECT_EQ(count({compress_xz("packed.xz", text)}), expected);
  EXPECT_EQ(count({compress_bzip2("packed.bz2", text)}), expected);
  EXPECT_EQ(count({compress_lz4("packed.lz4", text)}), expected);
}

TEST_F(Files, MissingFilesAreNamedOrLeftOut) {
  const std::string good = write("good", "x");
  EXPECT_THAT(
      message({path("none"), good, path("too")}),
      testing::AllOf(testing::HasSubstr("none (and 1 more)"), testing::HasSubstr("No such file")));
  text_files some({path("none"), good}, {.skip_unreadable = true});
  EXPECT_EQ(oracle::as_map(run(word_count{}, some)), (oracle::word_map{{"x", 1}}));
  EXPECT_THAT(some.skipped(), testing::ElementsAre(path("none") + ": No such file or directory"));
}

TEST_F(Files, LinksAndSpecialFilesInFoldersAreLeftOut) {
  write("d/real", "real");
  write("elsewhere", "linked");
  fs::create_symlink(folder_ / "elsewhere", folder_ / "d/link");
  fs::create_symlink(folder_ / "nowhere", folder_ / "d/dangling");
  fs::create_directory_symlink(folder_ / "d", folder_ / "d/loop");
  ASSERT_EQ(mkfifo(path("d/pipe").c_str(), 0600), 0);
  EXPECT_EQ(count({path("d")}), (oracle::word_map{{"real", 1}}));
  EXPECT_EQ(count({path("d/link")}), (oracle::word_map{{"linked", 1}}));  // named: followed
  EXPECT_THAT(message({path("d/dangling")}), testing::HasSubstr("No such file"));
}

/// Counts words, but cuts the file short when the first split is mapped.
struct shortening {
  using key_type = std::string_view;
  using value_type = std::uint64_t;
  std::string name;
  std::uintmax_t left;
  template <class Emit>
  void map(std::string_view text, Emit& emit) const {
    fs::resize_file(name, left);
    word_count::map(text, emit);
  }
  static void combine(std::uint64_t& into, std::uint64_t from) { into += from; }
};

TEST_F(Files, ShrinkingFileIsAnErrorAndNoSignal) {
  for (const std::uintmax_t left : {0, 1000, 8192 + 5}) {
    const std::string name = write("shrinking", oracle::random_text(1, 400000, 100));
    text_files files({name}, {.split = 100000});
    try {
      (void)run(shortening{name, left}, files);
      FAIL() << "no error";
    } catch (const error& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("shrinking: became shorter while it was read"));
    }
  }
}

/// Finds words in files, but overwrites the file when a split is mapped.
struct overwriting : inverted_index {
  std::string name;
  std::string bytes;
  template <class Emit>
  void map(const text_split& split, Emit& emit) const {
    inverted_index::map(split, emit);
    std::fstream(name, std::ios::in | std::ios::out | std::ios::binary) << bytes;
    inverted_index::map(split, emit);
  }
};

TEST_F(Files, OverwrittenFileIsAnErrorAndNoSignal) {
  const std::string name = write("changing", oracle::random_text(1, 400000, 100));
  for (unsigned seed = 2; seed < 8; ++seed) {
    fs::last_write_time(name, fs::file_time_type::clock::now() - std::chrono::hours(1));
    text_files files({name}, {.split = 100000});
    const overwriting job{{}, name, oracle::random_text(seed, 400000, 5000).substr(0, 390000)};
    try {
      (void)run(job, files);
      FAIL() << "no error";
    } catch (const error& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("changing: was overwritten while it was read"));
    }
  }
}

TEST_F(Files, FoundOnesThatHaveBecomePipesAreLeftOut) {
  write("d/small", "one two");
  write("d/large", std::string(5000, 'x'));
  text_files files({path("d")}, {.skip_unreadable = true, .split = 4096});
  fs::remove(path("d/small"));
  ASSERT_EQ(mkfifo(path("d/small").c_str(), 0600), 0);
  EXPECT_EQ(oracle::as_map(run(word_count{}, files)),
            (oracle::word_map{{std::string(5000, 'x'), 1}}));
  EXPECT_THAT(files.skipped(), testing::ElementsAre(path("d/small") + ": Operation not supported"));
}

volatile sig_atomic_t foreign_faults = 0;
void* foreign_page = nullptr;

void mend(int, siginfo_t*, void*) {
  foreign_faults = foreign_faults + 1;
  mmap(foreign_page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

TEST_F(Files, OtherBusErrorsGoToTheHandlerBefore) {
  struct sigaction theirs {};
  theirs.sa_sigaction = mend;
  theirs.sa_flags = SA_SIGINFO;
  struct sigaction original {};
  ASSERT_EQ(sigaction(SIGBUS, &theirs, &original), 0);
  const std::string empty = write("empty", "");
  {
    const open_file none(empty);
    foreign_page = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, none.descriptor(), 0);
    const open_file text(write("mapped", std::string(5000, 'x')));
    const mapped_file ours(text, 5000);
    EXPECT_EQ(*static_cast<volatile char*>(foreign_page), 0);
    EXPECT_EQ(foreign_faults, 1);
    EXPECT_FALSE(ours.lost());
  }
  struct sigaction now {};
  sigaction(SIGBUS, nullptr, &now);
  EXPECT_EQ(now.sa_sigaction, mend) << "the last mapping takes its handler away";
  sigaction(SIGBUS, &original, nullptr);
  munmap(foreign_page, 4096);
}

}  // namespace
}  // namespace creek::mapreduce
