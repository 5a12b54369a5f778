// SPDX-License-Identifier: Apache-2.0
// A C program that calls LAPACK by its Fortran names, in the library that --peer names: the peers
// of `creek bench lapack`. No code of creek is in it. bench/README.md describes its arguments and
// its output; --warmup has no effect, since the first call of the process is one of its figures.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "checks.h"
#include "libraries.h"
#include "routines.h"

enum {
  WARM_CALLS = 9,
  MIN_WARM_CALLS = 3,     // if they take long
  PAUSE_MS = 20,          // between calls: the program's own work, in which idle threads may sleep
  SMALL_ELEMENTS = 20000  // columns of all calls of one loop together
};
static const double long_ns = 10e9;  // warm calls after the third end after this time

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void fail(const char* peer, const char* workload, const char* why) {
  fprintf(stderr, "%s: %s: %s\n", peer, workload, why);
  exit(1);
}

struct options {
  bool list;
  const char* peer;
  const char* workload;
  int64_t n;
  int workers;
  int runs;
};

/// Times of single calls.
struct figures {
  double first_ns, median_ns, best_ns;
  double residual;  ///< the larger one of the first and the last result
  int64_t info;
};

static double timed_call(const struct workload* w, struct problem* p, struct figures* f) {
  w->reset(p);
  const double start = now_ns();
  const int64_t info = w->call(p);
  const double ns = now_ns() - start;
  if (f->info == 0) f->info = info;
  return ns;
}

/// Returns the mean time of many calls, each on a fresh copy of its operands; the copies are in the
/// time.
static double timed_loop(const struct workload* w, struct problem* p, struct figures* f) {
  const int64_t calls = p->columns < SMALL_ELEMENTS ? SMALL_ELEMENTS / p->columns : 1;
  int64_t info = 0;
  const double start = now_ns();
  for (int64_t i = 0; i < calls; ++i) {
    w->reset(p);
    info |= w->call(p);
  }
  const double ns = now_ns() - start;
  if (f->info == 0) f->info = info;
  return ns / (double)calls;
}

static void pause_between_calls(void) {
  const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
  nanosleep(&pause, NULL);
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void check(const struct workload* w, const struct problem* p, struct figures* f) {
  const double residual = w->residual(p);
  if (!(residual <= f->residual)) f->residual = residual;
}

static struct figures measure(const struct workload* w, struct problem* p) {
  struct figures f = {0};
  double times[WARM_CALLS];
  int count = 0;
  f.first_ns = timed_call(w, p, &f);
  check(w, p, &f);
  if (w->small) timed_loop(w, p, &f);
  const double start = now_ns();
  while (count < WARM_CALLS && (count < MIN_WARM_CALLS || now_ns() - start < long_ns)) {
    if (!w->small) pause_between_calls();
    times[count++] = w->small ? timed_loop(w, p, &f) : timed_call(w, p, &f);
  }
  if (!isnan(f.residual)) check(w, p, &f);
  qsort(times, (size_t)count, sizeof *times, by_value);
  f.best_ns = times[0];
  f.median_ns = (times[(count - 1) / 2] + times[count / 2]) / 2;
  return f;
}

static void print_text(const char* name, const char* text) {
  printf("\"%s\": \"", name);
  for (; *text != '\0'; ++text) {
    if (*text == '"' || *text == '\\') putchar('\\');
    if ((unsigned char)*text >= ' ') putchar(*text);
  }
  printf("\", ");
}

static void print_sizes(const char* name, const int64_t* sizes) {
  printf("\"%s\": [", name);
  for (int i = 0; i < MAX_SIZES && sizes[i] != 0; ++i) {
    printf("%s%lld", i > 0 ? ", " : "", (long long)sizes[i]);
  }
  printf("], ");
}

static void describe(const struct workload* w, const char* peer, const char* version) {
  char options[80];
  snprintf(options, sizeof options, "--peer %s", peer);
  printf("{");
  print_text("workload", w->name);
  print_text("about", w->about);
  print_text("unit", w->small ? "us/call" : "GFLOP/s");
  print_sizes("full", w->full);
  print_sizes("quick", w->quick);
  print_sizes("smoke", w->smoke);
  print_text("groups", "lapack");
  print_text("peer", peer);
  print_text("options", options);
  print_text("version", version);
  printf(
      "\"min_workers\": 1, \"limit\": false, \"warmup\": false, \"calls\": true, "
      "\"rate\": %s, \"scale\": %s}\n",
      w->small ? "false" : "true", w->small ? "1e-3" : "1");
}

static void print_missing(const char* peer, const char* why) {
  printf("{");
  print_text("peer", peer);
  print_text("missing", why);
  printf("\"groups\": \"lapack\"}\n");
}

/// Lists the workloads of a library that this process becomes a user of.
static void list_one(const struct library* which) {
  struct loaded_library library;
  char version[512];
  prepare_process(1);
  const char* why = load(which, &library);
  if (why != NULL) {
    print_missing(which->name, why);
    return;
  }
  describe_version(&library, which, version, sizeof version);
  for (int i = 0; i < workload_count; ++i) {
    if (find_routine(&library, workloads[i].routine) == NULL) continue;
    describe(&workloads[i], which->name, version);
  }
}

/// Lists each library in a process of its own, since they do not all fit into one.
static void list_all(void) {
  int count = 0;
  const struct library* all = known_libraries(&count);
  for (int i = 0; i < count; ++i) {
    int status = 1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      list_one(&all[i]);
      fflush(stdout);
      _exit(0);
    }
    if (child > 0) waitpid(child, &status, 0);
    if (status != 0) print_missing(all[i].name, "its library was found and does not load");
  }
}

static const struct workload* find_workload(const char* name) {
  for (int i = 0; i < workload_count; ++i) {
    if (strcmp(workloads[i].name, name) == 0) return &workloads[i];
  }
  return NULL;
}

static const struct library* find_library(const char* name) {
  int count = 0;
  const struct library* all = known_libraries(&count);
  for (int i = 0; i < count; ++i) {
    if (strcmp(all[i].name, name) == 0) return &all[i];
  }
  return NULL;
}

static void print_figures(const struct options* o, const struct workload* w, int64_t m,
                          const struct figures* f) {
  const double work = w->small ? 1 : w->operations(m, o->n);
  printf("{");
  print_text("workload", w->name);
  print_text("peer", o->peer);
  printf(
      "\"workers\": %d, \"n\": %lld, \"work\": %.17g, \"total_ns\": %.17g, \"best_ns\": %.17g, "
      "\"first_ns\": %.17g, \"ns_per_task\": %.17g, \"residual\": %.3g, \"answer\": \"%lld\"}\n",
      o->workers, (long long)o->n, work, f->median_ns, f->best_ns, f->first_ns, f->median_ns / work,
      f->residual, (long long)o->n);
  fflush(stdout);
}

static void run(const struct options* o, const struct workload* w, const struct library* which) {
  struct loaded_library library;
  char text[96];
  prepare_process(o->workers);
  const char* why = load(which, &library);
  if (why != NULL) fail(o->peer, o->workload, why);
  struct problem p = {.routine = find_routine(&library, w->routine),
                      .wide = library.wide,
                      .rows = w->rows != 0 ? w->rows : o->n,
                      .columns = o->n};
  if (p.routine == NULL) fail(o->peer, o->workload, "the library does not have this routine");
  w->make(&p);
  for (int i = 0; i < o->runs; ++i) {
    const struct figures f = measure(w, &p);
    snprintf(text, sizeof text, "info is %d", (int)f.info);
    if (f.info != 0) fail(o->peer, o->workload, text);
    snprintf(text, sizeof text, "the scaled residual is %g, not below %d", f.residual,
             MAX_RESIDUAL);
    if (!(f.residual < MAX_RESIDUAL)) fail(o->peer, o->workload, text);
    print_figures(o, w, p.rows, &f);
  }
}

static void usage(const char* why, const char* what) {
  fprintf(stderr, "lapack: %s '%s'; --list, or --peer NAME --workload W --n N --workers P\n", why,
          what);
  exit(2);
}

static int64_t number(const char* option, const char* value, int64_t min, int64_t max) {
  char* end = NULL;
  const long long got = strtoll(value, &end, 10);
  if (*value == '\0' || *end != '\0' || got < min || got > max) usage(option, value);
  return got;
}

static struct options parse(int argc, char** argv) {
  struct options o = {.peer = "", .workload = "", .workers = 1, .runs = 1};
  for (int i = 1; i < argc; ++i) {
    const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(name, "--list") == 0) {
      o.list = true;
      continue;
    }
    ++i;
    if (strcmp(name, "--peer") == 0) {
      o.peer = value;
    } else if (strcmp(name, "--workload") == 0) {
      o.workload = value;
    } else if (strcmp(name, "--n") == 0) {
      o.n = number(name, value, 1, 100000);
    } else if (strcmp(name, "--workers") == 0) {
      o.workers = (int)number(name, value, 1, 4096);
    } else if (strcmp(name, "--runs") == 0) {
      o.runs = (int)number(name, value, 1, 1000000);
    } else if (strcmp(name, "--warmup") != 0 && strcmp(name, "--grain") != 0) {
      usage("unknown option", name);
    }
  }
  return o;
}

int main(int argc, char** argv) {
  struct options o = parse(argc, argv);
  if (o.list) {
    list_all();
    return 0;
  }
  const struct workload* w = find_workload(o.workload);
  if (w == NULL) usage("unknown workload", o.workload);
  const struct library* which = find_library(o.peer);
  if (which == NULL) usage("unknown peer", o.peer);
  if (o.n == 0) o.n = w->full[0];
  if (w->rows != 0 && o.n > w->rows) usage("more columns than rows in", o.workload);
  run(&o, w, which);
  return 0;
}
