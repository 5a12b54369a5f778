// SPDX-License-Identifier: Apache-2.0
// RCCE_COMM: splitting, barriers, broadcasts and reductions.
#include <algorithm>

#include "call.hpp"
#include "messages.hpp"

namespace creek::rcce {

namespace {

constexpr std::size_t words_a_line = line_bytes / sizeof(word);

/// Frees the communicator's line, at once. The next communicator in it clears it and meets the
/// others first, so that it takes none of this one's signals for its own.
void release(ue& self, RCCE_COMM& comm) {
  self.communicators[static_cast<std::size_t>(comm.gather.location)] = {};
  comm.initialized = RCCE_COMM_NOT_INITIALIZED;
}

template <class T>
void reduce_as(group& ranks, const char* in, char* out, int num, int op, int root) {
  const auto n = static_cast<std::size_t>(num);
  std::vector<T> data(n);
  // Both pointers may be null if there are no elements.
  std::copy_n(in, n * sizeof(T), reinterpret_cast<char*>(data.data()));
  const auto with = [&](auto combine) {
    if (root < 0) {
      ranks.allreduce(std::span<T>{data}, combine);
    } else {
      ranks.reduce(std::span<T>{data}, combine, root);
    }
  };
  switch (op) {
    case RCCE_SUM:
      with([](T a, T b) { return a + b; });
      break;
    case RCCE_MIN:
      with([](T a, T b) { return std::min(a, b); });
      break;
    case RCCE_MAX:
      with([](T a, T b) { return std::max(a, b); });
      break;
    default:
      with([](T a, T b) { return a * b; });
  }
  if (root < 0 || ranks.rank() == root) {
    std::copy_n(reinterpret_cast<const char*>(data.data()), n * sizeof(T), out);
  }
}

/// Reduces to the rank `root`, or to all ranks if `root` is below 0.
int reduce(ue& self, const char* in, char* out, int num, int type, int op, int root,
           const RCCE_COMM& comm) {
  if (!is_communicator(self, comm)) return RCCE_ERROR_COMM_UNDEFINED;
  if (op < RCCE_SUM || op > RCCE_PROD) return RCCE_ERROR_ILLEGAL_OP;
  if (type < RCCE_INT || type > RCCE_DOUBLE) return RCCE_ERROR_ILLEGAL_TYPE;
  if (num < 0) return RCCE_ERROR_MESSAGE_LENGTH;
  group ranks(self, comm);
  switch (type) {
    case RCCE_INT:
      reduce_as<int>(ranks, in, out, num, op, root);
      break;
    case RCCE_LONG:
      reduce_as<long>(ranks, in, out, num, op, root);
      break;
    case RCCE_FLOAT:
      reduce_as<float>(ranks, in, out, num, op, root);
      break;
    default:
      reduce_as<double>(ranks, in, out, num, op, root);
  }
  return RCCE_SUCCESS;
}

}  // namespace

bool is_communicator(const ue& self, const RCCE_COMM& comm) noexcept {
  const auto index = static_cast<std::size_t>(comm.gather.location);
  return comm.initialized == RCCE_COMM_INITIALIZED && comm.gather.location >= 0 &&
         index < self.communicators.size() && self.communicators[index].barrier != nullptr;
}

void barrier(ue& self, const RCCE_COMM& comm) {
  self.communicators[static_cast<std::size_t>(comm.gather.location)].barrier->wait();
}

int make_communicator(ue& self, const std::function<int(int)>& color, RCCE_COMM& comm) {
  auto words = self.allocator.allocate(line_bytes);
  if (!words) return RCCE_ERROR_MALLOC;
  self.mark_used(*words);
  const int mine = color(self.rank);
  RCCE_COMM made{};
  std::vector<int> members;
  for (int other = 0; other < self.count; ++other) {
    if (color(other) != mine) continue;
    if (other == self.rank) made.my_rank = static_cast<int>(members.size());
    made.member[members.size()] = other;
    members.push_back(other);
  }
  made.size = static_cast<int>(members.size());
  made.initialized = RCCE_COMM_INITIALIZED;
  made.gather.location = static_cast<int>(self.communicators.size());
  made.gather.line_address = reinterpret_cast<t_vcharp>(self.mpb() + words->offset());
  made.release = made.gather;
  // The line may have had another use before. No UE signals in it until it is zero: the first
  // communicator is made in fresh memory, later ones meet at the barrier of the first.
  if (!self.communicators.empty()) {
    for (std::size_t i = 0; i < words_a_line; ++i) {
      self.signal(self.rank, words->offset() + i * sizeof(word), 0);
    }
    self.communicators.front().barrier->wait();
  }
  const std::size_t offset = words->offset();
  self.communicators.push_back({std::move(*words), self.make_barrier(members, offset)});
  comm = made;
  return RCCE_SUCCESS;
}

}  // namespace creek::rcce

using namespace creek::rcce;

extern "C" {

int RCCE_comm_split(int (*color)(int, void*), void* aux, RCCE_COMM* comm) {
  return call_checked("RCCE_comm_split", RCCE_DEBUG_SYNCH, {}, [&](ue& self) {
    if (comm == nullptr || color == nullptr) return RCCE_ERROR_COMM_UNDEFINED;
    // RCCE lets programs overwrite a communicator; copies of that of all UEs stay valid.
    if (is_communicator(self, comm) && comm->gather.location != 0) release(self, *comm);
    return make_communicator(
        self, [&](int member) { return color(member, aux); }, *comm);
  });
}

int RCCE_comm_free(RCCE_COMM* comm) {
  return call_checked("RCCE_comm_free", RCCE_DEBUG_SYNCH, {}, [&](ue& self) {
    if (!is_communicator(self, comm) || comm->gather.location == 0) {
      return RCCE_ERROR_COMM_UNDEFINED;
    }
    release(self, *comm);
    return RCCE_SUCCESS;
  });
}

int RCCE_comm_size(RCCE_COMM comm, int* size) {
  return call_checked("RCCE_comm_size", RCCE_DEBUG_SYNCH, {}, [&](ue& self) {
    if (size == nullptr) return RCCE_ERROR_VAL_UNDEFINED;
    *size = comm.size;
    return is_communicator(self, comm) ? RCCE_SUCCESS : RCCE_ERROR_COMM_UNDEFINED;
  });
}

int RCCE_comm_rank(RCCE_COMM comm, int* rank) {
  return call_checked("RCCE_comm_rank", RCCE_DEBUG_SYNCH, {}, [&](ue& self) {
    if (rank == nullptr) return RCCE_ERROR_VAL_UNDEFINED;
    *rank = comm.my_rank;
    return is_communicator(self, comm) ? RCCE_SUCCESS : RCCE_ERROR_COMM_UNDEFINED;
  });
}

int RCCE_barrier(RCCE_COMM* comm) {
  return call_checked("RCCE_barrier", RCCE_DEBUG_SYNCH, {}, [&](ue& self) {
    if (!is_communicator(self, comm)) return RCCE_ERROR_COMM_UNDEFINED;
    barrier(self, *comm);
    return RCCE_SUCCESS;
  });
}

int RCCE_bcast(char* data, size_t size, int root, RCCE_COMM comm) {
  return call_checked("RCCE_bcast", RCCE_DEBUG_COMM, {"root", root}, [&](ue& self) {
    if (!is_communicator(self, comm)) return RCCE_ERROR_COMM_UNDEFINED;
    if (root < 0 || root >= comm.size) return RCCE_ERROR_ID;
    group(self, comm).bcast(std::span<char>{data, size}, root, self.chosen.broadcast);
    return RCCE_SUCCESS;
  });
}

int RCCE_reduce(char* in, char* out, int num, int type, int op, int root, RCCE_COMM comm) {
  return call_checked("RCCE_reduce", RCCE_DEBUG_COMM, {"root", root}, [&](ue& self) {
    if (!is_communicator(self, comm)) return RCCE_ERROR_COMM_UNDEFINED;
    if (root < 0 || root >= comm.size) return RCCE_ERROR_ID;
    return reduce(self, in, out, num, type, op, root, comm);
  });
}

int RCCE_allreduce(char* in, char* out, int num, int type, int op, RCCE_COMM comm) {
  return call_checked("RCCE_allreduce", RCCE_DEBUG_COMM, {},
                      [&](ue& self) { return reduce(self, in, out, num, type, op, -1, comm); });
}

}  // extern "C"
