// SPDX-License-Identifier: Apache-2.0
#include <creek/core/objects/function_table.hpp>

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include <creek/core/error.hpp>
#include <creek/core/fnv.hpp>

namespace creek::detail {
namespace {

constinit rank_function* registered = nullptr;

void add_to_hash(fnv1a& hash, std::span<const std::byte> bytes) noexcept {
  for (const std::byte each : bytes) hash.add(static_cast<std::uint64_t>(each));
}

/// Adds the build id among the notes of a loaded file, if it has one.
void add_build_id(std::span<const std::byte> notes, fnv1a& hash) noexcept {
  const auto rounded = [](std::size_t bytes) { return (bytes + 3) / 4 * 4; };
  ElfW(Nhdr) note;
  while (notes.size() >= sizeof note) {
    std::memcpy(&note, notes.data(), sizeof note);
    const std::size_t name = rounded(note.n_namesz), value = rounded(note.n_descsz);
    if (notes.size() - sizeof note < name + value) return;
    if (note.n_type == NT_GNU_BUILD_ID) {
      add_to_hash(hash, notes.subspan(sizeof note + name, note.n_descsz));
    }
    notes = notes.subspan(sizeof note + name + value);
  }
}

/// Looks at the program, which is the first of the loaded files.
int look_at_program(dl_phdr_info* program, std::size_t, void* hash) noexcept {
  for (int i = 0; i < program->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = program->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* const at = reinterpret_cast<const std::byte*>(program->dlpi_addr + segment.p_vaddr);
    add_build_id({at, segment.p_memsz}, *static_cast<fnv1a*>(hash));
  }
  return 1;
}

bool is_before(const rank_function* a, const rank_function* b) noexcept {
  return std::strcmp(a->name, b->name) < 0;
}

std::vector<const rank_function*> make_table() {
  std::vector<rank_function*> all;
  for (rank_function* each = registered; each != nullptr; each = each->next) all.push_back(each);
  std::ranges::sort(all, &is_before);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && !is_before(all[i - 1], all[i])) {
      throw usage_error(fmt::format(
          "two functions that ranks call are named {}: give one another name", all[i]->name));
    }
    all[i]->number = static_cast<std::uint32_t>(i);
  }
  return {all.begin(), all.end()};
}

}  // namespace

rank_function::rank_function(const std::type_info& its_name, const std::type_info* its_object,
                             body its_body, block_form its_block_form,
                             failure_handler on_failure) noexcept
    : name(its_name.name()),
      object(its_object),
      run(its_body),
      in_blocks(its_block_form),
      on_post_failure(on_failure),
      next(registered) {
  registered = this;
}

const std::vector<const rank_function*>& function_table() {
  static const std::vector<const rank_function*> table = make_table();
  return table;
}

std::uint64_t program_fingerprint() {
  fnv1a hash;
  for (const rank_function* each : function_table()) {
    add_to_hash(hash, std::as_bytes(std::span(each->name, std::strlen(each->name) + 1)));
  }
  dl_iterate_phdr(&look_at_program, &hash);
  return hash.value();
}

}  // namespace creek::detail
