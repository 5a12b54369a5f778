// SPDX-License-Identifier: Apache-2.0
// Files as input: mapped and streamed, compressed, cut short, linked, missing.
#include <creek/core/error.hpp>
#include <creek/mapreduce.hpp>

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
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
  std::string bytes(fs::file_size(whole), '\0');
  std::ifstream(whole, std::ios::binary)
      .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  for (std::size_t n = 4; n < bytes.size(); n += n < 100 ? 1 : bytes.size() / 13) {
    const std::string cut = write("cut.zst", std::string_view(bytes).substr(0, n));
    EXPECT_THAT(message({cut}), testing::HasSubstr("cut.zst: truncated zstd data")) << n;
  }
  compress_zstd("two", "a whole frame");
  std::ofstream(path("two"), std::ios::app | std::ios::binary) << bytes.substr(0, 20);
  EXPECT_THAT(message({path("two")}), testing::HasSubstr("two: truncated zstd data"));
  const std::string bad = write("bad.zst", "\x28\xB5\x2F\xFD" + std::string(100, 'x'));
  EXPECT_THAT(message({bad}), testing::HasSubstr("bad.zst: damaged zstd data ("));
  write("short", std::string("\x28\xB5\x2F\xFD\x20\x43\x01\0\0", 9));  // 67 bytes, it says
  EXPECT_THAT(message({path("short")}), testing::HasSubstr("short: damaged zstd data ("));
  compress_zstd("tail", "a whole frame");
  std::ofstream(path("tail"), std::ios::app | std::ios::binary) << "and more";
  EXPECT_THAT(message({path("tail")}), testing::HasSubstr("tail: damaged zstd data ("));
}

TEST_F(Files, OneWordLargerThanEveryBuffer) {
  const std::string word(5 << 20, 'w');
  const std::string text = "a " + word + " b";
  const oracle::word_map expected{{"a", 1}, {word, 1}, {"b", 1}};
  EXPECT_EQ(count({write("plain", text)}, 4096), expected);
  EXPECT_EQ(count({compress("packed", text)}), expected);
  EXPECT_EQ(count({compress_zstd("packed.zst", text)}), expected);
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
