// SPDX-License-Identifier: Apache-2.0
// Q16, parts/supplier relationship: how many suppliers offer parts of some sizes, by brand and
// type.
//
//   select p_brand, p_type, p_size, count(distinct ps_suppkey) as supplier_cnt
//   from partsupp, part
//   where p_partkey = ps_partkey and p_brand <> BRAND and p_type not like 'TYPE%'
//     and p_size in (SIZE1, ... SIZE8)
//     and ps_suppkey not in
//       (select s_suppkey from supplier where s_comment like '%Customer%Complaints%')
//   group by p_brand, p_type, p_size
//   order by supplier_cnt desc, p_brand, p_type, p_size
//
// A group is a number made of the two codes and the index of the size; once the pairs are sorted,
// the suppliers of a group are next to each other, and equal suppliers too.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <compare>
#include <creek/tasking/parallel_sort.hpp>

#include "tpch/operators/gather_rows.hpp"
#include "tpch/operators/keyed_rows.hpp"
#include "tpch/operators/text_pattern.hpp"
#include "tpch/query.hpp"

namespace creek::tpch {
namespace {

constexpr std::int64_t q16_size_limit = 1'000'000;

constexpr std::array q16_parameters{
    parameter{"BRAND", kind::text, "Brand#45"},
    parameter{"TYPE", kind::text, "MEDIUM POLISHED"},
    parameter{"SIZE1", kind::integer, "49", 0, q16_size_limit},
    parameter{"SIZE2", kind::integer, "14", 0, q16_size_limit},
    parameter{"SIZE3", kind::integer, "23", 0, q16_size_limit},
    parameter{"SIZE4", kind::integer, "45", 0, q16_size_limit},
    parameter{"SIZE5", kind::integer, "19", 0, q16_size_limit},
    parameter{"SIZE6", kind::integer, "3", 0, q16_size_limit},
    parameter{"SIZE7", kind::integer, "36", 0, q16_size_limit},
    parameter{"SIZE8", kind::integer, "9", 0, q16_size_limit},
};

struct q16_offer {
  std::uint64_t group = 0;
  std::int64_t supplier = 0;

  friend auto operator<=>(const q16_offer&, const q16_offer&) = default;
};

struct q16_row {
  std::uint64_t group = 0;
  std::int64_t suppliers = 0;
};

std::vector<std::int64_t> q16_sizes(const parameter_values& given) {
  std::vector<std::int64_t> sizes;
  for (const parameter& p : q16_parameters) {
    if (p.holds == kind::integer) sizes.push_back(given.number(p.name));
  }
  make_key_set(sizes);
  return sizes;
}

class q16_query final : public query_on_tables {
 public:
  q16_query(database& from, const parameter_values& given)
      : part_(open(from, "part", {"p_partkey", "p_brand", "p_type", "p_size"})),
        partsupp_(open(from, "partsupp", {"ps_partkey", "ps_suppkey"})),
        supplier_(open(from, "supplier", {"s_suppkey", "s_comment"})),
        brand_(part_["p_brand"]),
        type_(part_["p_type"]),
        size_(part_["p_size"].values),
        offer_part_(partsupp_["ps_partkey"].values),
        offer_supplier_(partsupp_["ps_suppkey"].values),
        brands_(codes_where(brand_,
                            [&](std::string_view brand) { return brand != given.text("BRAND"); })),
        types_(codes_like(type_, {.front = given.text("TYPE")}, false)),
        sizes_(q16_sizes(given)),
        size_index_(sizes_) {}

  [[nodiscard]] query_run run() const override {
    const keyed_rows parts(part_["p_partkey"],
                           select_rows(part_.rows(), [&](const row_block& block, row_mask& mask) {
                             keep_members(size_, block, size_index_, mask);
                             keep_members(brand_.values, block, brands_, mask);
                             keep_members(type_.values, block, types_, mask);
                           }));
    const key_index bad = suppliers_complained_of();
    const std::vector<std::uint64_t> groups = groups_of(parts);
    auto offers = gather_rows<q16_offer>(
        partsupp_.rows(), [&](const row_block& block, std::vector<q16_offer>& to) {
          row_mask mask(block);
          for_each_match(offer_part_, block, parts, mask, [&](std::size_t row, std::size_t part) {
            const std::int64_t supplier = offer_supplier_.value(row);
            if (bad.find(supplier) == key_index::absent) to.push_back({groups[part], supplier});
          });
        });
    parallel_sort(offers);

    query_run done{.result = answer_of(rows_of(offers)), .rows = rows_of_tables()};
    done.bytes = size_.bytes() + brand_.values.bytes() + type_.values.bytes() +
                 parts.size() * part_["p_partkey"].values.width +
                 supplier_["s_comment"].scan_bytes() + offer_part_.bytes() +
                 offers.size() * offer_supplier_.width;
    done.steps = {
        fmt::format("scan part, {} rows, select p_size, p_brand, p_type: {} left", part_.rows(),
                    parts.size()),
        fmt::format("scan supplier, {} rows, select s_comment: {} left out", supplier_.rows(),
                    bad.size()),
        fmt::format("scan partsupp, {} rows, join on {}: {} left", partsupp_.rows(),
                    parts.describe(), offers.size()),
        fmt::format("sort by brand, type, size and supplier, count different ones: {} groups",
                    done.result.rows.size())};
    return done;
  }

 private:
  [[nodiscard]] key_index suppliers_complained_of() const {
    const text_pattern complaints{.inner = {"Customer", "Complaints"}};
    const packed& key = supplier_["s_suppkey"].values;
    auto keys = gather_rows<std::int64_t>(
        supplier_.rows(), [&](const row_block& block, std::vector<std::int64_t>& to) {
          row_mask mask(block);
          keep_like(supplier_["s_comment"], block, complaints, true, mask);
          for_each_row(block, mask, [&](std::size_t row) { to.push_back(key.value(row)); });
        });
    make_key_set(keys);
    return key_index(keys);
  }

  /// Returns the group of each part, by the part's index.
  [[nodiscard]] std::vector<std::uint64_t> groups_of(const keyed_rows& parts) const {
    std::vector<std::uint64_t> groups(parts.size());
    for (std::size_t place = 0; place < groups.size(); ++place) {
      const std::size_t row = parts.row(place);
      const std::size_t size = size_index_.find(size_.value(row));
      groups[place] =
          (brand_.values.code(row) * type_.words() + type_.values.code(row)) * sizes_.size() +
          (size == key_index::absent ? 0 : size);  // absent: the file has changed
    }
    return groups;
  }

  /// Returns the number of different suppliers of each group.
  [[nodiscard]] static std::vector<q16_row> rows_of(const std::vector<q16_offer>& offers) {
    std::vector<q16_row> rows;
    for (std::size_t i = 0; i < offers.size(); ++i) {
      if (i > 0 && offers[i] == offers[i - 1]) continue;
      if (rows.empty() || rows.back().group != offers[i].group) rows.push_back({offers[i].group});
      ++rows.back().suppliers;
    }
    return rows;
  }

  [[nodiscard]] answer answer_of(std::vector<q16_row> rows) const {
    // Groups are in the order of brand, type and size.
    parallel_sort(rows, [](const q16_row& a, const q16_row& b) {
      return a.suppliers != b.suppliers ? a.suppliers > b.suppliers : a.group < b.group;
    });
    answer result{{"p_brand", "p_type", "p_size", "supplier_cnt"}, {}};
    result.rows.reserve(rows.size());
    for (const q16_row& row : rows) {
      const std::size_t kinds = row.group / sizes_.size();
      result.rows.push_back({std::string(brand_.word(kinds / type_.words())),
                             std::string(type_.word(kinds % type_.words())),
                             sizes_[row.group % sizes_.size()], row.suppliers});
    }
    return result;
  }

  const table &part_, &partsupp_, &supplier_;
  const column& brand_;
  const column& type_;
  const packed& size_;
  const packed& offer_part_;
  const packed& offer_supplier_;
  key_index brands_, types_;
  std::vector<std::int64_t> sizes_;
  key_index size_index_;
};

}  // namespace

const query q16 = make_query<q16_query>("q16", "Parts/supplier relationship", q16_parameters);

}  // namespace creek::tpch
