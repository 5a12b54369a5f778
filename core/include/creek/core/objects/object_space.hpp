// SPDX-License-Identifier: Apache-2.0
// Objects that live on one rank and are called from all others: what remote<T> is for the workers
// of a process, for processes on several machines. Source: TACO [Rotta 2012].
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <creek/core/messages/rank_messages.hpp>
#include <creek/core/messages/wire.hpp>
#include <creek/core/objects/call_error.hpp>
#include <creek/core/objects/call_signature.hpp>
#include <creek/core/objects/deferred_call.hpp>
#include <creek/core/objects/function_table.hpp>
#include <creek/core/objects/pending_reply.hpp>

namespace creek {

template <class T>
class global_ref;
template <class T>
class global_group;
template <class R>
class async_result;

/// The objects of all ranks of a communicator. Making one is collective, and so is its end, which
/// serves calls like barrier() and then destroys this rank's objects. The thread that makes it uses
/// it, runs the calls of other ranks, and may have one object space at a time; the communicator
/// must outlive it.
///
/// A rank serves calls while it waits for a result of its own, in barrier(), in poll(), and at the
/// end. So a call may run while another one, also of the same object, waits for a result. Calls
/// from one rank to another begin in the order in which they were made.
///
/// With workers (creek/tasking/worker_objects.hpp) objects may live on one of them: it runs their
/// calls, one at a time per object, in the order of each caller, while the thread of the object
/// space serves others. Such calls cannot call other ranks.
///
/// Functions are template arguments: a member of T, a function that takes T& first, or a function
/// object without state. Arguments and results are copied as bytes (messages/wire.hpp). All ranks
/// have to run the same program; the constructor throws usage_error if they do not.
class object_space {
 public:
  template <class Communicator>
  explicit object_space(Communicator& ranks) : object_space(make_rank_messages(ranks)) {
    const std::uint64_t own = detail::program_fingerprint();
    const std::uint64_t first = ranks.allreduce(own, [](auto a, auto) { return a; });
    const int other = own == first ? ranks.size() : ranks.rank();
    require_one_program(ranks.allreduce(other, [](int a, int b) { return a < b ? a : b; }));
  }
  object_space(const object_space&) = delete;
  object_space& operator=(const object_space&) = delete;
  /// Throws what barrier() throws. Does not wait for other ranks if an exception caused it.
  ~object_space() noexcept(false);

  /// Returns whether the calling thread has one.
  [[nodiscard]] static bool exists() noexcept;
  /// Returns the object space of the calling thread. Throws usage_error if it has none.
  [[nodiscard]] static object_space& current();
  [[nodiscard]] int rank() const noexcept;
  [[nodiscard]] int size() const noexcept;

  /// Makes a T(arguments...) on a rank and waits until it is there. It lives until destroy() or the
  /// end of the object space.
  template <class T, class... A>
  [[nodiscard]] global_ref<T> make_on(int rank, A&&... arguments);
  /// Makes a T(arguments...) on each rank.
  template <class T, class... A>
  [[nodiscard]] global_group<T> make_on_all(const A&... arguments);

  /// The same on a worker of a rank. Throws usage_error if there is no such worker.
  template <class T, class... A>
  [[nodiscard]] global_ref<T> make_on(worker_address at, A&&... arguments);
  /// Makes one on each worker of each rank, in the order of the ranks and then of the workers.
  /// Throws usage_error if no rank has workers.
  template <class T, class... A>
  [[nodiscard]] global_group<T> make_on_all_workers(const A&... arguments);

  /// Lets objects live on workers of this rank, until the end of the object space. Called once,
  /// before this rank serves calls; use_workers() of creek/tasking/worker_objects.hpp calls it.
  void set_workers(std::unique_ptr<rank_workers> workers);
  /// Asks a rank how many workers it has for objects; 0 if none were set.
  [[nodiscard]] int worker_count(int rank);

  /// Calls the function F on a rank and waits for its result.
  template <auto F, class... A>
  auto call_on(int rank, A&&... arguments) {
    return call<void, F>(rank, 0, std::forward<A>(arguments)...);
  }
  template <auto F, class... A>
  [[nodiscard]] auto async_on(int rank, A&&... arguments) {
    return async<void, F>(rank, 0, std::forward<A>(arguments)...);
  }
  template <auto F, class... A>
  void post_on(int rank, A&&... arguments) {
    post<void, F>(rank, 0, std::forward<A>(arguments)...);
  }

  /// The same on a worker of a rank, where functions may run by turns if they wait. Throws
  /// usage_error if there is no such worker.
  template <auto F, class... A>
  auto call_on(worker_address at, A&&... arguments) {
    return call<void, F>(at.rank, number_of(at), std::forward<A>(arguments)...);
  }
  template <auto F, class... A>
  [[nodiscard]] auto async_on(worker_address at, A&&... arguments) {
    return async<void, F>(at.rank, number_of(at), std::forward<A>(arguments)...);
  }
  template <auto F, class... A>
  void post_on(worker_address at, A&&... arguments) {
    post<void, F>(at.rank, number_of(at), std::forward<A>(arguments)...);
  }

  /// Returns the root's value at all ranks, which all call this: such as handles of objects. Serves
  /// calls until it has arrived, which a broadcast of the communicator does not.
  template <class T>
  [[nodiscard]] T bcast(T value, int root);

  /// Serves the calls that have arrived; returns their number.
  std::size_t poll();
  /// Serves calls until all ranks have called this and no call or result is under way, also none
  /// that calls have made. Throws usage_error in a call.
  void barrier();

 private:
  template <class T>
  friend class global_ref;
  template <class R>
  friend class async_result;

  explicit object_space(std::unique_ptr<rank_messages> messages);
  void require_one_program(int first_that_differs) const;

  /// The function that makes an object.
  template <class T, class... A>
  struct construction {
    using shape = detail::call_shape<std::uint64_t, A...>;
    using points = detail::entry_points<construction>;
    /// `on_worker`: where a worker leaves the object, or null in the thread of the object space.
    static std::uint64_t invoke(object_space& space, void* on_worker, A&&... arguments) {
      std::unique_ptr<T> made;
      if constexpr (std::is_constructible_v<T, A...>) {
        made = std::make_unique<T>(std::move(arguments)...);
      } else {
        made.reset(new T{std::move(arguments)...});
      }
      const detail::new_object ready{made.release(), &typeid(T),
                                     [](void* object) noexcept { delete static_cast<T*>(object); }};
      if (on_worker == nullptr) return space.adopt(ready);
      *static_cast<detail::new_object*>(on_worker) = ready;
      return 0;
    }
    static inline detail::rank_function entry{typeid(construction), nullptr, &points::run,
                                              points::in_blocks()};
  };
  template <class T, class... A>
  global_group<T> make_on_each(const std::vector<worker_address>& places, const A&... arguments);
  [[nodiscard]] std::vector<worker_address> all_workers();
  /// A text is sent for an array or address of characters.
  template <class A>
  using sent_argument =
      std::conditional_t<std::is_convertible_v<A, const char*>, std::string, std::decay_t<A>>;

  template <class T, auto F, class... A>
  auto call(int rank, std::uint64_t object, A&&... arguments) {
    using function = detail::function_on_object<T, F>;
    detail::reply_of<typename function::shape::result> reply;
    send<function>(rank, object, &reply, detail::call_writer::block_use::borrow,
                   std::forward<A>(arguments)...);
    wait(reply);
    return reply.take();
  }
  template <class T, auto F, class... A>
  auto async(int rank, std::uint64_t object, A&&... arguments) {
    using function = detail::function_on_object<T, F>;
    return async_call<function>(rank, object, std::forward<A>(arguments)...);
  }
  template <class T, auto F, class... A>
  void post(int rank, std::uint64_t object, A&&... arguments) {
    using function = detail::function_on_object<T, F>;
    send<function>(rank, object, nullptr, detail::call_writer::block_use::own,
                   std::forward<A>(arguments)...);
  }
  template <class Function, class... A>
  auto async_call(int rank, std::uint64_t object, A&&... arguments) {
    using result = typename Function::shape::result;
    async_result<result> made(std::make_unique<detail::reply_of<result>>());
    send<Function>(rank, object, made.reply_.get(), detail::call_writer::block_use::own,
                   std::forward<A>(arguments)...);
    return made;
  }
  template <class Function, class... A>
  void send(int rank, std::uint64_t object, detail::pending_reply* reply,
            detail::call_writer::block_use blocks, A&&... arguments) {
    detail::call_writer to = begin_call(Function::entry, rank, object, reply != nullptr, blocks);
    Function::shape::put(to, std::forward<A>(arguments)...);
    end_call(std::move(to.message), rank, reply);
  }

  static void store_broadcast(int root, std::vector<std::byte> value);
  [[nodiscard]] std::vector<std::byte> take_broadcast(int root);
  detail::call_writer begin_call(const detail::rank_function& function, int rank,
                                 std::uint64_t object, bool is_answered,
                                 detail::call_writer::block_use blocks);
  void end_call(outgoing_message&& message, int rank, detail::pending_reply* reply);
  void destroy(int rank, std::uint64_t object);
  void wait(detail::pending_reply& reply);
  std::uint64_t adopt(const detail::new_object& made);
  [[nodiscard]] static int own_worker_count();
  /// Returns what a call without an object has in place of its number, to run on a worker. Throws
  /// usage_error for a negative worker.
  [[nodiscard]] static std::uint64_t number_of(const worker_address& at);

  std::unique_ptr<detail::call_service> service_;
  std::vector<std::deque<std::vector<std::byte>>> broadcasts_;  ///< that have arrived, by root
  int exceptions_;                                              ///< under way when this was made
};

/// The result of a call that was begun. Used by the thread of its object space; if it is dropped,
/// so is the result.
template <class R>
class async_result {
 public:
  async_result() = default;
  [[nodiscard]] bool valid() const noexcept { return reply_ != nullptr; }
  /// Returns whether the result has arrived; serves calls that have.
  [[nodiscard]] bool is_ready() {
    if (!reply_->is_done()) object_space::current().poll();
    return reply_->is_done();
  }
  /// Serves calls until the result has arrived.
  void wait() {
    if (!reply_->is_done()) object_space::current().wait(*reply_);
  }
  /// Waits, then returns the result or rethrows the exception; leaves this without a result.
  R get() {
    wait();
    const auto reply = std::move(reply_);
    return reply->take();
  }

 private:
  friend class object_space;
  explicit async_result(std::unique_ptr<detail::reply_of<R>> reply) : reply_(std::move(reply)) {}
  std::unique_ptr<detail::reply_of<R>> reply_;
};

/// Address of an object: equal for equal objects, on all ranks.
struct global_address {
  int rank = -1;
  int worker = -1;           ///< that the object lives on; -1: the thread of the object space
  std::uint64_t object = 0;  ///< its number on that rank, never used again
  friend auto operator<=>(const global_address&, const global_address&) = default;
};

/// A handle of an object on some rank: an address, which can be copied, compared and sent. Its
/// calls are made by the thread of an object space. They throw usage_error if the object was
/// destroyed. What a call throws is thrown again as usage_error or creek::error, if it is one, or
/// as call_error with its text.
template <class T>
class global_ref {
 public:
  global_ref() = default;
  [[nodiscard]] global_address address() const noexcept { return address_; }
  [[nodiscard]] int rank() const noexcept { return address_.rank; }
  /// Returns the worker that the object lives on, or -1 for the thread of the object space.
  [[nodiscard]] int worker() const noexcept { return address_.worker; }
  explicit operator bool() const noexcept { return address_.object != 0; }
  friend auto operator<=>(const global_ref&, const global_ref&) = default;

  /// Calls F(object, arguments...) and returns its result.
  template <auto F, class... A>
  auto call(A&&... arguments) const {
    return space().template call<T, F>(rank(), address_.object, std::forward<A>(arguments)...);
  }
  /// Begins the call; returns the async_result.
  template <auto F, class... A>
  [[nodiscard]] auto async(A&&... arguments) const {
    return space().template async<T, F>(rank(), address_.object, std::forward<A>(arguments)...);
  }
  /// Calls without an answer; may wait while the receiver has much to do. The call is dropped if
  /// the object was destroyed. An exception is given to on_post_failure(std::exception_ptr), if T
  /// has such a member; else the receiver's own next wait outside of a call rethrows it.
  template <auto F, class... A>
  void post(A&&... arguments) const {
    space().template post<T, F>(rank(), address_.object, std::forward<A>(arguments)...);
  }
  /// Destroys the object and waits until that is done. If calls of it wait for something, it is
  /// destroyed after the last one.
  void destroy() const { space().destroy(rank(), address_.object); }

 private:
  friend class object_space;
  global_ref(worker_address at, std::uint64_t object) noexcept
      : address_{at.rank, at.worker, object} {}
  [[nodiscard]] object_space& space() const { return object_space::current(); }

  global_address address_;
};

/// An object on each rank, or on each worker of each rank; can be sent.
template <class T>
class global_group {
 public:
  global_group() = default;
  [[nodiscard]] int size() const noexcept { return static_cast<int>(members_.size()); }
  [[nodiscard]] const global_ref<T>& operator[](int member) const {
    return members_[static_cast<std::size_t>(member)];
  }

  /// Calls F on all members at once, and returns the results in the order of the members, if there
  /// are any. Rethrows the first exception in that order when all calls have ended.
  template <auto F, class... A>
  auto call_all(const A&... arguments) const {
    using result = typename detail::function_on_object<T, F>::shape::result;
    std::vector<async_result<result>> begun;
    for (const global_ref<T>& each : members_)
      begun.push_back(each.template async<F>(arguments...));
    for (auto& each : begun) each.wait();
    if constexpr (std::is_void_v<result>) {
      for (auto& each : begun) each.get();
    } else {
      std::vector<result> all;
      for (auto& each : begun) all.push_back(each.get());
      return all;
    }
  }
  /// Calls F on all members and combines the results by `op`, in the order of the members.
  template <auto F, class Op, class... A>
  [[nodiscard]] auto reduce(Op op, const A&... arguments) const {
    auto all = call_all<F>(arguments...);
    auto total = std::move(all.at(0));
    for (std::size_t i = 1; i < all.size(); ++i) total = op(std::move(total), std::move(all[i]));
    return total;
  }
  template <auto F, class... A>
  void post_all(const A&... arguments) const {
    for (const global_ref<T>& each : members_) each.template post<F>(arguments...);
  }
  void destroy() const {
    for (const global_ref<T>& each : members_) each.destroy();
  }

  template <class Archive>
  friend void serialize(Archive& archive, global_group& group) {
    archive(group.members_);
  }

 private:
  friend class object_space;
  std::vector<global_ref<T>> members_;
};

template <class T>
T object_space::bcast(T value, int root) {
  if (rank() != root) {
    const std::vector<std::byte> bytes = take_broadcast(root);
    byte_reader from(bytes);
    return wire<T>::get(from);
  }
  std::vector<std::byte> bytes;
  wire<T>::put(bytes, value);
  for (int to = 0; to < size(); ++to) {
    if (to != root) post_on<&object_space::store_broadcast>(to, root, bytes);
  }
  return value;
}

template <class T, class... A>
global_ref<T> object_space::make_on(int rank, A&&... arguments) {
  using function = construction<T, sent_argument<A>...>;
  return {{rank, -1}, async_call<function>(rank, 0, std::forward<A>(arguments)...).get()};
}

template <class T, class... A>
global_ref<T> object_space::make_on(worker_address at, A&&... arguments) {
  using function = construction<T, sent_argument<A>...>;
  return {at, async_call<function>(at.rank, number_of(at), std::forward<A>(arguments)...).get()};
}

template <class T, class... A>
global_group<T> object_space::make_on_each(const std::vector<worker_address>& places,
                                           const A&... arguments) {
  using function = construction<T, sent_argument<const A&>...>;
  std::vector<async_result<std::uint64_t>> begun;
  for (const worker_address& at : places) {
    const std::uint64_t number = at.worker < 0 ? 0 : number_of(at);
    begun.push_back(async_call<function>(at.rank, number, arguments...));
  }
  global_group<T> made;
  for (std::size_t i = 0; i < places.size(); ++i) {
    made.members_.push_back(global_ref<T>(places[i], begun[i].get()));
  }
  return made;
}

template <class T, class... A>
global_group<T> object_space::make_on_all(const A&... arguments) {
  std::vector<worker_address> places;
  for (int rank = 0; rank < size(); ++rank) places.push_back({rank, -1});
  return make_on_each<T>(places, arguments...);
}

template <class T, class... A>
global_group<T> object_space::make_on_all_workers(const A&... arguments) {
  return make_on_each<T>(all_workers(), arguments...);
}

}  // namespace creek
