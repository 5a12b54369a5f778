-- SPDX-License-Identifier: Apache-2.0
-- param COLOR: choice forest|green|almond|antique|blue|chocolate|cream|dark|drab|floral|ghost
-- param DATE: date 1993-01-01 1997-01-01
-- param NATION: from nation.n_name
select s_name, s_address
from supplier, nation
where s_suppkey in (
    select ps_suppkey
    from partsupp
    where ps_partkey in (select p_partkey from part where p_name like :COLOR || '%')
      and 2 * ps_availqty > (
        select sum(l_quantity)
        from lineitem
        where l_partkey = ps_partkey and l_suppkey = ps_suppkey
          and l_shipdate >= :DATE and l_shipdate < :DATE + interval '1' year))
  and s_nationkey = n_nationkey and n_name = :NATION
order by s_name, s_suppkey
