-- SPDX-License-Identifier: Apache-2.0
-- param SEGMENT: choice AUTOMOBILE|BUILDING|FURNITURE|HOUSEHOLD|MACHINERY|NOBODY'S
-- param DATE: date 1992-06-01 1998-08-01
select count(*) as lines, coalesce(sum(l_extendedprice * (1 - l_discount)), 0) as revenue
from customer, orders, lineitem
where c_mktsegment = :SEGMENT and c_custkey = o_custkey and l_orderkey = o_orderkey
  and o_orderdate < :DATE and l_shipdate > :DATE
