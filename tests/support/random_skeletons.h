// The skeletons of random programs. {a|b|c} stands for one of the three, and alternatives may be nested. @name stands
// for one draw, equal everywhere in a program; each @far is a draw of its own.
#ifndef QUADRILLE_TESTS_SUPPORT_RANDOM_SKELETONS_H_
#define QUADRILLE_TESTS_SUPPORT_RANDOM_SKELETONS_H_

namespace quadrille {

inline constexpr const char* kRandomDraws[][2] = {
    {"@claims",
     "{|||port one+one per rank\n|port one+one per rank\n|port exchange per rank\n|port exchange "
     "per "
     "node\n}{||in_place\n}"},
    {"@after", "{|| after -1| after -1| after @key - 1| after @key - 2| after @far}"},
    {"@key", "{round|round|round|2*round|round + 7|round + @far|@far - ranks + round|3*round - 1}"},
    {"@via", "{temp[d]|temp[d]|temp[d]|temp[0]|recv[d]}"},
    {"@sized", "{|||sized }"},
    {"@parts", "{1|1|2|3|ranks|a}"},
    {"@order", "{d|d|d|ranks - d|(a*d) mod ranks|d xor 1|t[d]|wrap(d + a, ranks)}"},
    {"@table", "{i|i|ranks - 1 - i|(i*a + 1) mod ranks|(i + a) mod ranks|i*i}"},
};

inline constexpr const char* kRandomSkeletons[] = {
    // Each rank sends to each rank, ordered by their distance.
    R"(
algorithm rotated for alltoall
@claimsparameter a
{table t[i in 0 .. ranks] = @table|table u[i in 0 .. ranks] = @table
table t = greatest(u)|table t = 0, {1|2}, 2, 3, 4}
for d in 0 .. ranks
  let round = {d|d|d|@far - @far + d}
  let by = @order
  let right = {wrap(rank + by, ranks)|(rank + by) mod ranks}
  let left = {wrap(rank - by, ranks)|(rank + ranks - by) mod ranks}
  if right != rank
    step @key@after
      {send @sizedsend[right] to right
      receive @sizedrecv[left] from left|receive @sizedrecv[left] from left
      send @sizedsend[right] to right}
  else
    {copy send[rank] to recv[rank]|step @key@after
      copy send[rank] to recv[rank]}
)",
    // Ranks exchange in pairs.
    R"(
algorithm pairs for alltoall
@claimsparameter a
table t[i in 0 .. ranks] = @table
for round in {0|0|a|min(0, a)} .. {ranks|ranks|8}
  let peer = {wrap(round - rank, ranks)|wrap(t[round] - rank, ranks)|round xor rank}
  if peer != rank and peer < ranks
    step @key@after
      send @sizedsend[peer] to peer
      receive @sizedrecv[peer] from peer
{copy send[rank] to recv[rank]|if a < 3
  copy send[rank] to recv[rank]}
)",
    // Exchanges run one after another, or all at once.
    R"(
algorithm one-by-one for alltoall
@claimstable size = nodes
table base = prefix(size)
for n in 0 .. length(size)
  for l in 0 .. size[n]
    let s = base[n] + l
    for d in 0 .. ranks
      let round = s*ranks + d
      if s = rank and d != rank
        step @key@after
          send @sizedsend[d] to d
      if d = rank and s != rank
        step @key@after
          receive @sizedrecv[s] from s
copy send[rank] to recv[rank]
)",
    R"(
algorithm at-once for alltoall
@claimslet round = 0
step {0|@far}@after
  for i in 0 .. ranks
    let x = {i|wrap(rank + i, ranks)}
    if x != rank
      send @sizedsend[{x|x|0}] to x
      receive @sizedrecv[x] from x
  copy send[{rank|rank|0}] to recv[rank]
)",
    R"(
algorithm gathered-at-once for allgather
@claimslet round = 0
step {0|@far}@after
  for i in 0 .. ranks
    let x = {i|wrap(rank + i, ranks)}
    if x != rank
      send send[{0|0|0|x}] to x
      receive recv[x] from x
  copy send[{0|0|rank}] to recv[rank]
)",
    // Blocks take two hops, through the temporary or the receive buffer.
    R"(
algorithm relayed for alltoall
@claimsparameter a
temporary {ranks|ranks|ranks + 3|@far} blocks
copy send[rank] to recv[rank]
for d in 1 .. ranks
  let h = {d div 2|d - 1|1|min(a, d)|0}
  let round = {2*d|d*@parts}
  if h != 0 and h != d
    step @key@after
      send @sizedsend[wrap(rank + d, ranks)] to wrap(rank + h, ranks)
      receive @sized@via from wrap(rank - h, ranks)
    step @key + 1{|| after @key}
      send @sized@via to wrap(rank + d - h, ranks)
      receive @sizedrecv[wrap(rank - d, ranks)] from wrap(rank + h - d, ranks)
  else
    step @key@after
      send @sizedsend[wrap(rank + d, ranks)] to wrap(rank + d, ranks)
      receive @sizedrecv[wrap(rank - d, ranks)] from wrap(rank - d, ranks)
)",
    // Each rank sends to each rank, in parts.
    R"(
algorithm parted for allgather
@claimsparameter a
table m = counts
table t[i in 0 .. ranks] = @table
copy send[0] to recv[rank]
for d in 1 .. ranks
  let by = @order
  let right = wrap(rank + by, ranks)
  let left = wrap(rank - by, ranks)
  for part in 0 .. @parts
    let round = d*ranks + part
    let low = m[rank]*part div @parts
    let high = {m[rank]*(part + 1) div @parts|m[rank]*part div @parts + (m[rank]*(part + 1) div @parts - low)}
    let start = m[left]*part div @parts
    let end = m[left]*(part + 1) div @parts
    step @key@after
      if low < high
        send {send[0]|recv[rank]}@low..high to right
      if start < end
        receive recv[left]@start..end from left
)",
    // Contributions go round a ring in parts.
    R"(
algorithm ring for allgather
@claimsparameter a
table m = counts
{copy send[0] to recv[rank]|step {0|-1|@far}
  copy send[0] to recv[rank]}
let right = wrap(rank + 1, ranks)
let left = wrap(rank - 1, ranks)
for k in 0 .. ranks - 1
  let x = wrap(rank - k, ranks)
  let y = wrap(left - k, ranks)
  for part in 0 .. @parts
    let round = k*@parts + part
    step @key{|| after @key - 1| after @key - @parts}
      if 0 < m[x] and part < m[x]
        send recv[x]@m[x]*part div @parts .. m[x]*(part + 1) div @parts to right
      if 0 < m[y] and part < m[y]
        receive recv[y]@m[y]*part div @parts .. m[y]*(part + 1) div @parts from left
)",
    // Contributions go round a ring through temporary blocks.
    R"(
algorithm carried for allgather
@claimstable m = counts
temporary {ranks|ranks|ranks + 1} blocks
copy send[0] to temp[0]
copy send[0] to recv[rank]
for round in 0 .. ranks - 1
  let x = wrap(rank - round, ranks)
  let y = wrap(rank - 1 - round, ranks)
  step @key@after
    if 0 < m[x]
      send temp[round]@0..m[x] to wrap(rank + 1, ranks)
    if 0 < m[y]
      receive temp[round + 1]@0..m[y] from wrap(rank - 1, ranks)
for i in 1 .. ranks
  let z = wrap(rank - i, ranks)
  if 0 < m[z]
    {copy temp[i]@0..m[z] to recv[z]|step @far + i
      copy temp[i]@0..m[z] to recv[z]}
)",
    // Messages have several blocks.
    R"(
algorithm doubled for allgather
@claimsparameter a
table pow = powers({2|2|max(2, a)|a}, ranks)
copy send[0] to recv[rank]
for round in 0 .. length(pow) - 1
  let hop = pow[round]
  step @key{||@after}
    send to wrap(rank - hop, ranks)
      for i in 0 .. min(hop, ranks - hop)
        recv[wrap(rank + i, ranks)]
    receive from wrap(rank + hop, ranks)
      for i in 0 .. min(hop, ranks - hop)
        recv[wrap(rank + hop + i, ranks)]
)",
    // Tokens travel over growing distances.
    R"(
algorithm told for barrier
@claimstable pow = powers({2|2|3}, ranks)
for x in 0 .. length(pow) - {1|1|2}
  let round = x
  step @key@after
    send nothing to wrap(rank + pow[x], ranks)
    receive nothing from wrap(rank - pow[x], ranks)
)",
    // All ranks send to one rank, which sends everything back.
    R"(
algorithm star for allgather
@claimslet round = 0
copy send[0] to recv[rank]
let hub = {0|ranks - 1|@far mod ranks}
if rank = hub
  step @key{|| after -1}
    for i in 0 .. ranks
      if i != hub
        receive recv[i] from i
  step @key + 1{||@after}
    for i in 0 .. ranks
      if i != hub
        send to i
          for j in 0 .. ranks
            if j != i
              recv[j]
else
  step @key{|| after -1}
    send {send[0]|recv[rank]} to hub
  step @key + 1{||@after}
    receive from hub
      for j in 0 .. ranks
        if j != rank
          recv[j]
)",
};

}  // namespace quadrille

#endif  // QUADRILLE_TESTS_SUPPORT_RANDOM_SKELETONS_H_
