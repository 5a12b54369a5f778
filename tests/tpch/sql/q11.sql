-- SPDX-License-Identifier: Apache-2.0
-- param NATION: from nation.n_name
-- param FRACTION: choice 0.0001|0.001|0.01|0.0001234567|0|1
with stock as (
  select ps_partkey, cast(sum(ps_supplycost * ps_availqty) as decimal(24, 2)) as value
  from partsupp, supplier, nation
  where ps_suppkey = s_suppkey and s_nationkey = n_nationkey and n_name = :NATION
  group by ps_partkey)
select ps_partkey, value
from stock
where value > (
  select cast(sum(value) as decimal(24, 2)) * cast(:FRACTION as decimal(11, 10)) from stock)
order by value desc, ps_partkey
