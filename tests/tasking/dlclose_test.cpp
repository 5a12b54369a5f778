// SPDX-License-Identifier: Apache-2.0
// dlclose() of a plug-in that contains creek: handlers and worker threads must not lose their code,
// so the library that contains creek stays in memory.
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/process_facts.hpp"

namespace {

using creek::support::under_sanitizer;

void* open_module() {
  void* module = dlopen(CREEK_TEST_MODULE, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) ADD_FAILURE() << dlerror();
  return module;
}

template <class F>
F* function(void* module, const char* name) {
  return reinterpret_cast<F*>(dlsym(module, name));
}

TEST(dlclose_of_a_plug_in, may_be_followed_by_fork) {
  void* module = open_module();
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(function<int()>(module, "module_sum")(), 42);
  EXPECT_EQ(dlclose(module), 0);
  const pid_t child = fork();
  if (child == 0) _exit(3);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

TEST(dlclose_of_a_plug_in, leaves_a_fault_what_it_was) {
  void* module = open_module();
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(function<int()>(module, "module_sum")(), 42);
  EXPECT_EQ(dlclose(module), 0);
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGSEGV);
    raise(SIGSEGV);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (under_sanitizer) {
    EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  } else {
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
  }
}

TEST(dlclose_of_a_plug_in, leaves_its_workers_their_code) {
  for (int round = 0; round < 3; ++round) {
    void* module = open_module();
    ASSERT_NE(module, nullptr);
    function<void()>(module, "module_keep_a_runtime")();
    EXPECT_EQ(dlclose(module), 0);
  }
  void* module = open_module();
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(function<int()>(module, "module_use_the_kept")(), 7);
}

}  // namespace
