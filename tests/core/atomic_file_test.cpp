// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>

#include <creek/core/error.hpp>
#include <creek/core/io/atomic_file.hpp>

#include "support/temporary_folder.hpp"

namespace creek {
namespace {

namespace fs = std::filesystem;

class atomic_files : public testing::Test {
 protected:
  static std::string content_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator{});
  }

  support::temporary_folder folder_;
};

TEST_F(atomic_files, appears_at_commit) {
  const fs::path target = folder_ / "out.txt";
  const std::string large(300'000, 'x');  // larger than any buffer
  {
    atomic_file out(target);
    out.write("one ");
    out.write(large);
    out.write(" two");
    EXPECT_FALSE(fs::exists(target));
    out.commit();
  }
  EXPECT_EQ(content_of(target), "one " + large + " two");
  EXPECT_EQ(files(), 1);
}

TEST_F(atomic_files, leaves_nothing_without_commit) {
  {
    atomic_file out(folder_ / "out.txt");
    out.write("lost");
  }
  EXPECT_EQ(files(), 0);
}

TEST_F(atomic_files, appears_at_commit_though_prepared) {
  const fs::path target = folder_ / "out.txt";
  std::ofstream(target) << "old";
  {
    atomic_file abandoned(target);
    abandoned.write("lost");
    abandoned.prepare();
    EXPECT_EQ(content_of(target), "old");
  }
  EXPECT_EQ(content_of(target), "old");
  EXPECT_EQ(files(), 1);
  atomic_file out(target);
  out.write("new");
  out.prepare();
  EXPECT_EQ(content_of(target), "old");
  out.commit();
  EXPECT_EQ(content_of(target), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(atomic_files, of_which_one_cannot_be_prepared_do_not_appear) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  {
    atomic_file first(folder_ / "out.txt"), second("/dev/full");
    first.write("one");
    second.write("two");
    first.prepare();
    EXPECT_THROW(second.prepare(), error);
  }
  EXPECT_EQ(files(), 0);
}

TEST_F(atomic_files, of_one_target_do_not_meet_and_the_last_commit_wins) {
  const fs::path target = folder_ / "out.txt";
  {
    atomic_file first(target), second(target);
    first.write("one");
    second.write("two");
    first.prepare();
    second.prepare();
    first.commit();
    EXPECT_EQ(content_of(target), "one");
    second.commit();
  }
  EXPECT_EQ(content_of(target), "two");
  EXPECT_EQ(files(), 1);
}

TEST_F(atomic_files, replaces_the_old_file_and_keeps_its_permissions) {
  const fs::path target = folder_ / "out.txt";
  std::ofstream(target) << "old";
  fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
  {
    atomic_file abandoned(target);
    abandoned.write("half");
  }
  EXPECT_EQ(content_of(target), "old");
  atomic_file out(target);
  out.write("new");
  out.commit();
  EXPECT_EQ(content_of(target), "new");
  EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(files(), 1);
}

TEST_F(atomic_files, replaces_what_a_link_points_to) {
  std::ofstream(folder_ / "real") << "old";
  fs::create_symlink("real", folder_ / "link");
  atomic_file out(folder_ / "link");
  out.write("new");
  out.commit();
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(content_of(folder_ / "real"), "new");
}

TEST_F(atomic_files, replaces_only_regular_files_where_asked_to) {
  using enum atomic_file::targets;
  std::ofstream(folder_ / "real") << "old";
  fs::create_symlink("real", folder_ / "link");
  fs::create_symlink("nowhere", folder_ / "dangling");
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  const auto refusal = [&](const char* name) -> std::string {
    try {
      atomic_file out(folder_ / name, regular);
    } catch (const error& why) {
      return why.what();
    }
    return "none";
  };
  const std::string before = "cannot write " + folder_.path().string() + "/";
  for (const std::string link : {"link", "dangling"}) {
    EXPECT_EQ(refusal(link.c_str()),
              before + link + ": a symbolic link, not followed: Operation not supported");
  }
  EXPECT_EQ(refusal("pipe"), before + "pipe: not a regular file: Operation not supported");
  EXPECT_EQ(content_of(folder_ / "real"), "old");
  atomic_file out(folder_ / "real", regular);
  fs::remove(folder_ / "real");
  fs::create_symlink("link", folder_ / "real");  // appears later; it is replaced, not followed
  out.write("new");
  out.commit();
  EXPECT_FALSE(fs::is_symlink(folder_ / "real"));
  EXPECT_EQ(content_of(folder_ / "real"), "new");
}

TEST_F(atomic_files, writes_devices_and_pipes_directly) {
  atomic_file out("/dev/null");
  out.write("gone");
  out.commit();
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(atomic_files, reports_a_full_device) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  atomic_file out("/dev/full");
  out.write("too much");
  try {
    out.commit();
    FAIL() << "commit must report the failed write";
  } catch (const error& why) {
    EXPECT_EQ(why.code().value(), ENOSPC);
    EXPECT_NE(std::string(why.what()).find("/dev/full"), std::string::npos);
  }
}

TEST_F(atomic_files, names_the_target_it_cannot_create) {
  const fs::path target = folder_ / "missing" / "out.txt";
  try {
    atomic_file out(target);
    FAIL() << "the folder does not exist";
  } catch (const error& why) {
    EXPECT_EQ(why.code().value(), ENOENT);
    EXPECT_NE(std::string(why.what()).find(target.string()), std::string::npos);
  }
  EXPECT_THROW(atomic_file{folder_.path()}, error);  // a folder is not a file
}

}  // namespace
}  // namespace creek
