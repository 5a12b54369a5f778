// SPDX-License-Identifier: Apache-2.0
#include "libraries.h"

#include <dlfcn.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char** environ;

static const struct library known[] = {
    {.name = "creek",
     .how = "build the target creek_lapack, or install the component `libraries`",
     .names = {BENCH_CREEK_LAPACK}},
    {.name = "openblas",
     .how = "install OpenBLAS (Debian: libopenblas0-pthread), or --library-dir DIR",
     .names = {"libopenblas.so.0"},
     .files = {"libopenblas.so.0"}},
    {.name = "numpy-openblas",
     .how = "pip install numpy, and --library-dir with its virtual environment",
     .files = {"numpy.libs/libscipy_openblas*.so", "numpy.libs/libopenblas*.so"}},
    {.name = "scipy-openblas",
     .how = "pip install scipy, and --library-dir with its virtual environment",
     .files = {"scipy.libs/libscipy_openblas*.so", "scipy.libs/libopenblas*.so"}},
    {.name = "mkl",
     .how = "pip install mkl, and --library-dir with its virtual environment",
     .names = {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"},
     .files = {"libmkl_rt.so*"}},
    {.name = "blis",
     .how = "install BLIS (Debian: libblis4-pthread), or --library-dir DIR",
     .names = {"libblis.so.4"},
     .files = {"libblis.so.4"}},
};

/// Returns the next item of a list with colons and moves `list` behind it; NULL at the end.
static char* next_item(char** list) {
  char* item = strsep(list, ":");
  while (item != NULL && *item == '\0') item = strsep(list, ":");
  return item;
}

/// Returns a copy of a variable, empty if it is not set.
static char* variable(const char* name) {
  const char* value = getenv(name);
  return strdup(value != NULL ? value : "");
}

/// Returns the library of that name, a new one if there is none and room is left.
static struct library* named(struct library* all, int* count, const char* name) {
  for (int i = 0; i < *count; ++i) {
    if (strcmp(all[i].name, name) == 0) return &all[i];
  }
  if (*count == MAX_LIBRARIES) return NULL;
  struct library* added = &all[(*count)++];
  snprintf(added->name, sizeof added->name, "%s", name);
  return added;
}

struct library* known_libraries(int* count) {
  static struct library all[MAX_LIBRARIES];
  *count = sizeof known / sizeof *known;
  memcpy(all, known, sizeof known);
  char* rest = variable("CREEK_BENCH_LIBRARIES");  // kept: the files are in it
  for (char* item = next_item(&rest); item != NULL; item = next_item(&rest)) {
    const char* name = strsep(&item, "=");
    struct library* which = item != NULL ? named(all, count, name) : NULL;
    if (which != NULL) which->file = item;
  }
  return all;
}

static bool is_setting(const char* entry) {
  static const char* const prefixes[] = {"OPENBLAS_", "GOTO_", "OMP_",  "GOMP_", "KMP_",
                                         "MKL_",      "BLIS_", "BLAS_", "CREEK_"};
  if (strncmp(entry, "CREEK_BENCH_", strlen("CREEK_BENCH_")) == 0) return false;
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; ++i) {
    if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0) return true;
  }
  return false;
}

static void remove_settings(void) {
  char** entry = environ;
  while (*entry != NULL) {
    if (is_setting(*entry)) {
      char* name = strndup(*entry, strcspn(*entry, "="));
      unsetenv(name);  // moves the entries behind it
      free(name);
    } else {
      ++entry;
    }
  }
}

static void limit_processors(int count) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed) && count-- <= 0) CPU_CLR(cpu, &allowed);
  }
  sched_setaffinity(0, sizeof allowed, &allowed);
}

void prepare_process(int threads) {
  static const char* const names[] = {"CREEK_WORKERS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                                      "OMP_NUM_THREADS", "BLIS_NUM_THREADS"};
  char text[16];
  snprintf(text, sizeof text, "%d", threads);
  remove_settings();
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) setenv(names[i], text, 1);
  setenv("MKL_DYNAMIC", "FALSE", 1);  // else one thread where two processors share a core
  setenv("MKL_INTERFACE_LAYER", "LP64", 1);
  limit_processors(threads);
}

/// Returns the first file that matches, or NULL.
static char* first_match(const char* pattern) {
  glob_t found;
  char* file = NULL;
  if (glob(pattern, 0, NULL, &found) == 0) {
    file = strdup(found.gl_pathv[0]);
    globfree(&found);
  }
  return file;
}

/// Returns a file of the library in the folder, or NULL. The folder may be that of the file, a
/// prefix such as a virtual environment, or the packages of one.
static char* file_in(const char* folder, const struct library* which) {
  static const char* const inside[] = {"", "lib/", "lib/python3*/site-packages/",
                                       "lib/python3*/dist-packages/"};
  for (size_t i = 0; i < sizeof inside / sizeof *inside; ++i) {
    for (const char* const* name = which->files; *name != NULL; ++name) {
      char pattern[PATH_MAX];
      snprintf(pattern, sizeof pattern, "%s/%s%s", folder, inside[i], *name);
      char* file = first_match(pattern);
      if (file != NULL) return file;
    }
  }
  return NULL;
}

static char* file_in_folders(const struct library* which) {
  char *const folders = variable("CREEK_BENCH_LIBRARY_PATH"), *rest = folders, *file = NULL;
  for (char* folder = next_item(&rest); folder != NULL && file == NULL; folder = next_item(&rest)) {
    file = file_in(folder, which);
  }
  free(folders);
  return file;
}

/// Global, so that a library's parts find each other, as in a program that is linked to it.
static void* open_library(const char* file) {
  return dlopen(file, RTLD_NOW | RTLD_GLOBAL);
}

/// Loads the OpenMP runtime that MKL is to use: that of its own folder or of the loader, else
/// GCC's.
static void prepare_mkl(const char* file) {
  char beside[PATH_MAX];
  const char* slash = strrchr(file, '/');
  snprintf(beside, sizeof beside, "%.*slibiomp5.so", slash != NULL ? (int)(slash - file + 1) : 0,
           file);
  const bool intel = open_library(beside) != NULL || open_library("libiomp5.so") != NULL;
  if (!intel) open_library("libgomp.so.1");
  setenv("MKL_THREADING_LAYER", intel ? "INTEL" : "GNU", 1);
}

/// Returns NULL if the file could be loaded with double precision products, which every BLAS has,
/// else the reason.
static const char* load_file(const char* file, struct loaded_library* to) {
  static const struct {
    const char *prefix, *suffix;
  } forms[] = {{"", "_"}, {"scipy_", "_"}, {"scipy_", "_64_"}, {"", "_64_"}};
  if (strstr(file, "libmkl_rt.so") != NULL) prepare_mkl(file);
  to->handle = open_library(file);
  if (to->handle == NULL) return dlerror();
  for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i) {
    to->prefix = forms[i].prefix;
    to->suffix = forms[i].suffix;
    to->wide = strcmp(to->suffix, "_64_") == 0;
    if (find_routine(to, "dgemm") != NULL) return NULL;
  }
  return "the library has none of the names dgemm_, dgemm_64_, scipy_dgemm_ and scipy_dgemm_64_";
}

const char* load(const struct library* which, struct loaded_library* to) {
  if (which->file != NULL) return load_file(which->file, to);
  const char* file = file_in_folders(which);
  if (file != NULL) return load_file(file, to);
  for (const char* const* name = which->names; *name != NULL; ++name) {
    if (load_file(*name, to) == NULL) return NULL;
  }
  return which->how;
}

static void* symbol(const struct loaded_library* in, const char* prefix, const char* name,
                    const char* suffix) {
  char full[128];
  snprintf(full, sizeof full, "%s%s%s", prefix, name, suffix);
  return dlsym(in->handle, full);
}

any_function* find_routine(const struct loaded_library* in, const char* name) {
  void* const found = symbol(in, in->prefix, name, in->suffix);
  any_function* routine;
  memcpy(&routine, &found, sizeof routine);
  return routine;
}

/// Copies the address of a function that is not a LAPACK routine. Returns whether it exists.
static bool find_own(const struct loaded_library* in, const char* name, void* to) {
  void* const found = symbol(in, in->prefix, name, in->wide ? "64_" : "");
  memcpy(to, &found, sizeof found);
  return found != NULL;
}

static void describe_openblas(const struct loaded_library* of, char* text, size_t size) {
  const char* (*config)(void);
  const char* (*core)(void);
  if (!find_own(of, "openblas_get_config", &config)) return;
  const char* said = config();
  const size_t name = strcspn(said, " ");
  const size_t length = name + (said[name] == ' ' ? 1 + strcspn(said + name + 1, " ") : 0);
  const bool has_core = find_own(of, "openblas_get_corename", &core);
  snprintf(text, size, "%.*s, kernel %s", (int)length, said, has_core ? core() : "unknown");
}

static void describe_mkl(const struct loaded_library* of, char* text, size_t size) {
  struct {  // MKLVersion of mkl_types.h
    int major, minor, update;
    const char *status, *build, *processor, *platform;
  } version = {0};
  void (*get)(void*);
  if (!find_own(of, "MKL_Get_Version", &get)) return;
  get(&version);
  snprintf(text, size, "MKL %d.%d.%d", version.major, version.minor, version.update);
}

static void describe_blis(const struct loaded_library* of, char* text, size_t size) {
  const char* (*get)(void);
  if (find_own(of, "bli_info_get_version_str", &get)) snprintf(text, size, "BLIS %s", get());
}

static void add_file(const struct loaded_library* of, char* text, size_t size) {
  struct link_map* map = NULL;
  char file[PATH_MAX];
  if (dlinfo(of->handle, RTLD_DI_LINKMAP, &map) != 0 || realpath(map->l_name, file) == NULL) return;
  const size_t length = strlen(text);
  snprintf(text + length, size - length, "%s%s", length > 0 ? ", " : "", file);
}

void describe_version(const struct loaded_library* of, const struct library* which, char* text,
                      size_t size) {
  *text = '\0';
  if (strcmp(which->name, "creek") == 0) {
    snprintf(text, size, "creek %s", BENCH_CREEK_VERSION);
  } else {
    describe_blis(of, text, size);
    describe_mkl(of, text, size);
    describe_openblas(of, text, size);
  }
  add_file(of, text, size);
}
