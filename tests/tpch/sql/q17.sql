-- SPDX-License-Identifier: Apache-2.0
-- param BRAND: from part.p_brand
-- param CONTAINER: from part.p_container
select sum(l_extendedprice) / 7.0 as avg_yearly
from lineitem, part, (
  select l_partkey as key, sum(l_quantity) as total, count(*) as lines
  from lineitem group by l_partkey) as quantities
where p_partkey = l_partkey and p_brand = :BRAND and p_container = :CONTAINER
  and key = l_partkey and 5 * lines * l_quantity < total  -- exact: l_quantity < 0.2 * avg
