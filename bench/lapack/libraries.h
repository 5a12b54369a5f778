// SPDX-License-Identifier: Apache-2.0
// The libraries that this program can be a user of, one per process, as a program finds them: by
// the loader's names, in folders that the user names, or as files that the user names.
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { MAX_LIBRARIES = 32 };

struct library {
  char name[64];         ///< the name of the peer
  const char* how;       ///< how to get it
  const char* names[4];  ///< for the loader
  const char* files[3];  ///< patterns in the folders of CREEK_BENCH_LIBRARY_PATH
  char* file;            ///< named by the user; replaces the search if not NULL
};

/// Returns all libraries in the order of the table: those that this program knows, and those that
/// CREEK_BENCH_LIBRARIES names (NAME=FILE:NAME=FILE). A known name gets the file.
struct library* known_libraries(int* count);

/// The library of this process and how it names its routines.
struct loaded_library {
  void* handle;
  const char* prefix;
  const char* suffix;
  bool wide;  ///< its integers have 64 bits
};

/// Removes the caller's settings of all libraries, gives each the number of threads, and limits the
/// process to as many processors.
void prepare_process(int threads);

/// Loads a library. Returns NULL or the reason why it is missing.
const char* load(const struct library* which, struct loaded_library* to);

typedef void any_function(void);

/// Returns a routine, such as "dgetrf", or NULL.
any_function* find_routine(const struct loaded_library* in, const char* name);

/// Writes the version that the library reports, and the file that it is in.
void describe_version(const struct loaded_library* of, const struct library* which, char* text,
                      size_t size);
