// SPDX-License-Identifier: Apache-2.0
// Commands on the ranks of an MPI run.
#include <creek/mpi.hpp>

#include "rank_group.hpp"

namespace creek::tool {
namespace {

class mpi_ranks final : public rank_group {
 public:
  explicit mpi_ranks(mpi_communicator& c) : c_(&c) {}
  [[nodiscard]] int rank() const override { return c_->rank(); }
  [[nodiscard]] int size() const override { return c_->size(); }
  void send_bytes(std::span<const std::byte> data, int to) override { c_->send(data, to); }
  void receive_bytes(std::span<std::byte> data, int from) override { c_->recv(data, from); }
  void doing(const char* stage) override { mpi_communicator::doing(stage); }

 private:
  mpi_communicator* c_;
};

}  // namespace

int on_ranks_of_mpi(function_ref<void(rank_group*)> command) {
  (void)mpi_backend::load();
  return ranks([&](mpi_communicator& c) {
    mpi_ranks all(c);
    command(&all);
  });
}

}  // namespace creek::tool
