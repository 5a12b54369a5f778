// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include <algorithm>
#include <fstream>

namespace creek::tpch::testing {
namespace {

constexpr std::size_t suppliers = 100;  // keys from 0

class maker {
 public:
  maker(std::uint64_t seed, const flavour& like) : random_(seed), like_(like) {}

  small_database make(std::size_t order_count) {
    small_database data;
    const std::size_t customers = order_count / 5 + 1;
    for (std::size_t i = 0; i < customers; ++i) {
      data.customers.push_back({key(i + 1), std::string(segments[below(5)])});
    }
    for (std::size_t i = 0; i < order_count; ++i) {
      const std::size_t missing = like_.orphans && below(10) == 0 ? customers : 0;
      // Every third customer has no orders, as in dbgen's tables.
      const std::size_t drawn = below(customers), customer = drawn - (drawn % 3 == 2 ? 1 : 0);
      data.orders.push_back({key(i + 1), key(customer + 1 + missing), day(),
                             std::string(priorities[below(5)]), below(8) == 0 ? 1 : 0});
      const std::size_t gone = like_.orphans && below(10) == 0 ? order_count : 0;
      for (std::size_t line = 0; line < below(7) + 1; ++line) {
        data.lines.push_back(make_line(key(i + 1 + gone), data.orders.back().date));
      }
    }
    if (like_.shuffled) {
      std::shuffle(data.customers.begin(), data.customers.end(), random_);
      std::shuffle(data.orders.begin(), data.orders.end(), random_);
      std::shuffle(data.lines.begin(), data.lines.end(), random_);
    }
    return data;
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::size_t>(high - low + 1)));
  }
  std::int32_t day() { return *parse_date("1992-01-01") + static_cast<std::int32_t>(below(2406)); }
  std::int64_t key(std::size_t i) const {
    const auto plain = static_cast<std::int64_t>(i);
    return like_.sparse ? plain * 1'000'000'007 - 5'000'000'000 : plain;
  }

  line_row make_line(std::int64_t order, std::int32_t ordered) {
    line_row line;
    line.order = order;
    line.quantity = 100 * between(1, 50);
    line.price = between(90'000, 10'000'000);
    line.discount = between(0, 10);
    line.tax = between(0, 8);
    if (like_.wide) {
      line.quantity = between(-5'000, 5'000);
      line.price = between(-900'000'000'000, 900'000'000'000);
      line.discount = between(-300, 300);
      line.tax = between(-70'000, 70'000);
    }
    line.shipped = ordered + static_cast<std::int32_t>(between(1, 121));
    line.committed = ordered + static_cast<std::int32_t>(between(30, 90));
    line.received = line.shipped + static_cast<std::int32_t>(between(1, 30));
    line.flag = "ANR"[below(3)];
    line.status = "FO"[below(2)];
    line.mode = modes[below(7)];
    return line;
  }

  std::mt19937_64 random_;
  flavour like_;
};

std::uint64_t size_of(std::int64_t key) {
  return static_cast<std::uint64_t>(key < 0 ? -key : key);
}

void write(const std::string& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace

small_database make_rows(std::uint64_t seed, std::size_t order_count, const flavour& like) {
  return maker(seed, like).make(order_count);
}

std::string customer_text(const small_database& data) {
  std::string text;
  for (const customer_row& row : data.customers) {
    text += fmt::format("{}|Customer|street \xc3\xa4 \xff|{}|{}-719-748-3364|{}|{}|a comment|\n",
                        row.key, row.key % 25, size_of(row.key) % 25 + 10,
                        money(row.key * 100 % 1'000'000 - 999), row.segment);
  }
  return text;
}

std::string orders_text(const small_database& data) {
  constexpr std::string_view comments[] = {"", "special packages or requests", "specialrequests",
                                           "requests are special", "pending accounts"};
  std::string text;
  for (const order_row& row : data.orders) {
    text += fmt::format("{}|{}|{}|{}|{}|{}|Clerk#{}|{}|{}|\n", row.key, row.customer,
                        "FOP"[size_of(row.key) % 3], money(row.key % 10'000'000),
                        date_to_string(row.date), row.priority, row.key % 1000, row.ship_priority,
                        comments[size_of(row.key) % std::size(comments)]);
  }
  return text;
}

std::string lineitem_text(const small_database& data) {
  std::string text;
  std::size_t number = 0;
  for (const line_row& row : data.lines) {
    ++number;
    // dbgen writes whole quantities without a point.
    const std::string quantity =
        row.quantity % 100 == 0 ? std::to_string(row.quantity / 100) : money(row.quantity);
    text += fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|\n", row.order,
                        part_of(number), number % suppliers, number % 7 + 1, quantity,
                        money(row.price), money(row.discount), money(row.tax), row.flag, row.status,
                        date_to_string(row.shipped), date_to_string(row.committed),
                        date_to_string(row.received), instruction_of(number), row.mode,
                        std::string(number % 45, 'c'));
  }
  return text;
}

std::string part_text() {
  constexpr std::string_view brands[] = {"Brand#12", "Brand#23", "Brand#34"};
  constexpr std::string_view containers[] = {"SM PACK", "MED BAG", "LG CASE"};
  constexpr std::string_view types[] = {"ECONOMY ANODIZED STEEL", "PROMO PLATED TIN",
                                        "STANDARD BRUSHED BRASS"};
  std::string text;
  for (std::size_t key = 1; key <= parts; ++key) {
    text += fmt::format("{}|green pale|Manufacturer#1|{}|{}|{}|{}|901.00|a comment|\n", key,
                        brands[key % 3], types[key / 3 % 3], key % 20, containers[key % 3]);
  }
  return text;
}

std::string supplier_text() {
  std::string text;
  for (std::size_t key = 0; key < suppliers; ++key) {
    text += fmt::format("{}|Supplier#{}|street|{}|11-719-748-3364|7.50|{}|\n", key, key, key % 5,
                        key % 17 == 3 ? "Customers had Complaints" : "a comment");
  }
  return text;
}

std::string partsupp_text() {
  std::string text;
  for (std::size_t part = 1; part <= parts; ++part) {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t supplier = (part + i * (suppliers / 4 + 1)) % suppliers;
      text += fmt::format("{}|{}|{}|{}|a comment|\n", part, supplier, (part + i) * 37 % 200,
                          money(static_cast<std::int64_t>((part * 7 + i * 31) % 100'000)));
    }
  }
  return text;
}

std::string nation_text() {
  constexpr std::string_view names[] = {"CHINA", "FRANCE", "BRAZIL", "GERMANY", "KENYA"};
  std::string text;
  for (std::size_t key = 0; key < 25; ++key) {
    // The first nation of each region has a name that queries ask for.
    text += key < 5 ? fmt::format("{}|{}|{}|a comment|\n", key, names[key], key)
                    : fmt::format("{}|NATION {}|{}|a comment|\n", key, key, key % 5);
  }
  return text;
}

std::string region_text() {
  return "0|ASIA|c|\n1|EUROPE|c|\n2|AMERICA|c|\n3|MIDDLE EAST|c|\n4|AFRICA|c|\n";
}

void write_tables(const std::string& folder, const small_database& data) {
  write(folder + "/customer.tbl", customer_text(data));
  write(folder + "/orders.tbl", orders_text(data));
  write(folder + "/lineitem.tbl", lineitem_text(data));
}

void write_other_tables(const std::string& folder) {
  write(folder + "/part.tbl", part_text());
  write(folder + "/supplier.tbl", supplier_text());
  write(folder + "/partsupp.tbl", partsupp_text());
  write(folder + "/nation.tbl", nation_text());
  write(folder + "/region.tbl", region_text());
}

}  // namespace creek::tpch::testing
