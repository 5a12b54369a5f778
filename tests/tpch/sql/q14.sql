-- SPDX-License-Identifier: Apache-2.0
-- param DATE: date 1993-01-01 1998-12-31
select 100.00 * sum(case when p_type like 'PROMO%' then l_extendedprice * (1 - l_discount)
    else 0 end) / sum(l_extendedprice * (1 - l_discount)) as promo_revenue
from lineitem, part
where l_partkey = p_partkey and l_shipdate >= :DATE and l_shipdate < :DATE + interval '1' month
