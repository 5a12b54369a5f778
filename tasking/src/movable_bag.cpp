// SPDX-License-Identifier: Apache-2.0
#include <creek/tasking/detail/movable_bag.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <span>

#include <creek/core/error.hpp>

namespace creek::detail {
namespace {

void drop(movable_task& task) noexcept {
  if (task.type->drop != nullptr) task.type->drop(task.arguments);
}

}  // namespace

void movable_bag::make_room() {
  const std::size_t count = size();
  if (first_ >= capacity_ / 2 && first_ != 0) {
    std::copy(tasks_.get() + first_, tasks_.get() + end_, tasks_.get());
  } else {
    const std::size_t capacity = std::max<std::size_t>(64, 2 * capacity_);
    std::unique_ptr<movable_task[]> larger(new movable_task[capacity]);
    std::copy(tasks_.get() + first_, tasks_.get() + end_, larger.get());
    tasks_ = std::move(larger);
    capacity_ = capacity;
  }
  first_ = 0;
  end_ = count;
}

void movable_bag::forget_oldest(std::size_t count) noexcept {
  first_ += count;
  if (first_ == end_) first_ = end_ = 0;
}

movable_bag movable_bag::split() {
  movable_bag older;
  const std::size_t count = size() / 2;
  if (count == 0) return older;
  older.tasks_.reset(new movable_task[count]);
  older.capacity_ = older.end_ = count;
  std::copy_n(tasks_.get() + first_, count, older.tasks_.get());
  forget_oldest(count);
  return older;
}

std::size_t movable_bag::encode_oldest(std::size_t count, std::size_t max_bytes,
                                       std::vector<std::byte>& to) {
  std::size_t done = 0;
  while (done < count && to.size() < max_bytes) {
    movable_task& task = tasks_[first_ + done];
    wire<std::uint32_t>::put(to, task.type->function->number);
    task.type->encode(task.arguments, to);
    ++done;
  }
  for (std::size_t i = 0; i < done; ++i) drop(tasks_[first_ + i]);
  forget_oldest(done);
  return done;
}

std::size_t movable_bag::decode(object_space& space, std::string_view message) {
  const auto& functions = function_table();
  byte_reader from(std::as_bytes(std::span(message.data(), message.size())));
  call_writer no_result;
  std::size_t count = 0;
  while (from.left() != 0) {
    const auto number = wire<std::uint32_t>::get(from);
    if (number >= functions.size() || functions[number]->object == nullptr ||
        *functions[number]->object != typeid(movable_bag)) {
      throw error(EBADMSG, fmt::format("a task of function {}, which has no tasks", number));
    }
    functions[number]->run(space, this, from, no_result);
    ++count;
  }
  return count;
}

void movable_bag::clear() noexcept {
  for (std::size_t i = first_; i < end_; ++i) drop(tasks_[i]);
  first_ = end_ = 0;
}

}  // namespace creek::detail
