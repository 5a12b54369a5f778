// SPDX-License-Identifier: Apache-2.0
#include "task_kinds.hpp"

#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include <creek/tasking/waiting.hpp>

namespace creek::host_backend {

namespace {

constexpr std::size_t first_capacity = 32;

/// Returns "NAME" and, behind its null byte, "NAME, resumed"; null if there is no memory.
char* copies_of(const std::string& name) noexcept {
  const std::size_t bytes = 2 * name.size() + sizeof(", resumed") + 1;
  char* const both = new (std::nothrow) char[bytes];
  if (both != nullptr) std::snprintf(both, bytes, "%s%c%s, resumed", name.c_str(), 0, name.c_str());
  return both;
}

}  // namespace

task_kinds::task_kinds() noexcept {
  unnamed_.name = "task";
  unnamed_.name_resumed = "resumed";
}

task_kinds::~task_kinds() {
  for (const task_kind& each : entries()) delete[] each.name;
}

task_kind& task_kinds::of(const char* key) noexcept {
  if (key == nullptr) return unnamed_;
  if (capacity_ != 0) {
    if (task_kind& found = place_of(key); found.key != nullptr) return found;
  }
  if (2 * used_ >= capacity_ && !grow()) return unnamed_;
  task_kind& fresh = place_of(key);
  try {
    const std::string name = ext::readable_name(key);
    fresh.name = copies_of(name);
    if (fresh.name == nullptr) return unnamed_;
    fresh.name_resumed = fresh.name + name.size() + 1;
    fresh.key = key;
    ++used_;
  } catch (const std::bad_alloc&) {
    return unnamed_;
  }
  return fresh;
}

/// Returns the entry of `key`, or the unused one where it belongs.
task_kind& task_kinds::place_of(const char* key) const noexcept {
  std::size_t at = reinterpret_cast<std::uintptr_t>(key) * 0x9E3779B97F4A7C15 >> 32;  // Fibonacci
  for (;; ++at) {
    task_kind& entry = table_[at & (capacity_ - 1)];
    if (entry.key == key || entry.key == nullptr) return entry;
  }
}

bool task_kinds::grow() noexcept {
  const std::size_t larger = capacity_ == 0 ? first_capacity : 2 * capacity_;
  std::unique_ptr<task_kind[]> old(new (std::nothrow) task_kind[larger]);
  if (!old) return false;
  old.swap(table_);
  const std::size_t entries = std::exchange(capacity_, larger);
  for (std::size_t i = 0; i < entries; ++i) {
    if (old[i].key != nullptr) place_of(old[i].key) = old[i];
  }
  return true;
}

}  // namespace creek::host_backend
