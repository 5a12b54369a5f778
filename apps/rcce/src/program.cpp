// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <creek/core/error.hpp>

namespace creek::rcce {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw usage_error(fmt::format("rccerun: {}: {}", path, why));
}

std::vector<char> read_whole(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) refuse(path, std::strerror(errno));
  if (!S_ISREG(about.st_mode)) refuse(path, "is not a regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, std::strerror(errno));
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Raises the limit of open files. Every copy stays open under a unique name: the loader takes
/// files of one name for one object, and debuggers open the object by that name.
void allow_open_files(int more) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = static_cast<rlim_t>(more) + 64;
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(limit.rlim_max, wanted);
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

std::string copy_to_memory(const std::string& path, const std::vector<char>& contents) {
  const int fd = memfd_create("rcce-program", MFD_CLOEXEC);
  if (fd < 0) throw error(errno, "rccerun: memory for a copy of " + path);
  std::size_t written = 0;
  while (written < contents.size()) {
    const ssize_t n = write(fd, contents.data() + written, contents.size() - written);
    if (n < 0) throw error(errno, "rccerun: memory for a copy of " + path);
    written += static_cast<std::size_t>(n);
  }
  return fmt::format("/proc/self/fd/{}", fd);
}

template <class T>
T* symbol(void* object, const char* name) {
  return reinterpret_cast<T*>(dlsym(object, name));
}

void require_shared_object(const std::string& path, const std::vector<char>& contents) {
  Elf64_Ehdr header{};
  const bool long_enough = contents.size() >= sizeof header;
  if (long_enough) std::memcpy(&header, contents.data(), sizeof header);
  if (!long_enough || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN) {
    refuse(path, "is not a shared object; build the program with creek-rcce-cc");
  }
}

program_copy load(const std::string& path, const std::vector<char>& contents) {
  const std::string name = copy_to_memory(path, contents);
  void* object = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) {
    std::string why = dlerror();
    if (why.starts_with(name + ": ")) why.erase(0, name.size() + 2);
    refuse(path, why + " (build it with creek-rcce-cc)");
  }
  program_copy made;
  made.main = symbol<int(int, char**)>(object, "RCCE_APP");
  if (made.main == nullptr) made.main = symbol<int(int, char**)>(object, "main");
  if (made.main == nullptr) refuse(path, "has neither RCCE_APP nor main");
  made.world = symbol<RCCE_COMM>(object, "RCCE_COMM_WORLD");
  made.power_domain = symbol<RCCE_COMM>(object, "RCCE_P_COMM");
  made.style.gory = symbol<int>(object, "creek_rcce_gory") != nullptr;
  made.style.single_bit_flags = symbol<int>(object, "creek_rcce_single_bit_flags") != nullptr;
  return made;
}

}  // namespace

std::vector<program_copy> load_copies(const std::string& path, int count) {
  const std::vector<char> contents = read_whole(path);
  require_shared_object(path, contents);
  allow_open_files(count);
  std::vector<program_copy> copies;
  for (int i = 0; i < count; ++i) copies.push_back(load(path, contents));
  return copies;
}

}  // namespace creek::rcce
