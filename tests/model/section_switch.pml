/* SPDX-License-Identifier: Apache-2.0
 * How write sections change their layout while messages are on their way: rendezvous::move_to() between two barriers
 * (core/include/creek/core/messages/rendezvous.hpp, communicator.hpp). Here are one receiver's memory and SENDERS
 * senders, each of which sends MESSAGES chunks. Accesses take effect in their order; that flushes and invalidations see
 * to this is checked by the chip's coherence checker (tests/scc/sections_test.cpp).
 *
 * A section has a cell for the count of chunks sent and one for the chunk. Layout 0: section after section. Layout 1:
 * all counts, then all chunks; so some cells are a count in one layout and another sender's chunk in the other. The
 * count of chunks got is in the sender's memory, in another cell of two in each layout.
 *
 *   send:    if none is in flight: write the chunk, then raise `sent`
 *   ack:     if `ready` has reached the count, the chunk is through
 *   get:     if `sent` is not the number of chunks got: read the chunk, then raise `ready` at the sender
 *   switch:  SWITCHES times, whenever a rank likes: barrier; a sender looks at `ready` once more and takes back a chunk
 *            that was not got; each makes the counts zero that lie in its memory in the new layout; barrier
 *
 * Checked: the chunks of each sender are got once and in order; at the end all were got; nobody waits for ever.
 *
 * Faults, each of which the checker must find:
 *  -DNO_QUIET     ranks change the layout without the first barrier: others still use the old one
 *  -DNO_SECOND    ranks use the new layout without the second barrier
 *  -DNOT_AGAIN    a chunk in flight is not sent again
 *  -DNO_LOOK      the sender takes its chunk back without looking at `ready` once more
 *  -DNOT_CLEARED  the receiver leaves in the new counts what is there
 *  -DKEEP_COUNT   a sender goes on with its count */
#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef MESSAGES
#define MESSAGES 2
#endif
#ifndef SWITCHES
#define SWITCHES 2
#endif
#define RANKS (SENDERS + 1)

#define sent_cell(l, s)  ((l) * (s) + (1 - (l)) * 2 * (s))
#define chunk_cell(l, s) ((l) * (SENDERS + (s)) + (1 - (l)) * (2 * (s) + 1))
#define chunk(s, n)      ((s) * MESSAGES + (n) + 1)

byte memory[2 * SENDERS];   /* the receiver's */
byte ready[2 * SENDERS];    /* by sender and layout */
byte arrived;               /* ranks at barriers so far */

inline barrier() {
  barriers++;
  arrived++;
  (arrived >= RANKS * barriers)
}

proctype sender(byte me) {
  byte layout = 0, count = 0, through = 0, switches = 0, barriers = 0;
  bool in_flight = false;
  do
  :: !in_flight && through < MESSAGES ->
       memory[chunk_cell(layout, me)] = chunk(me, through);
       count++;
       memory[sent_cell(layout, me)] = count;
       in_flight = true
  :: in_flight && ready[2 * me + layout] == count -> in_flight = false; through++
  :: switches < SWITCHES ->
       switches++;
#ifndef NO_QUIET
       barrier();
#endif
       if
#ifndef NO_LOOK
       :: in_flight && ready[2 * me + layout] == count -> through++
#endif
#ifdef NOT_AGAIN
       :: in_flight && ready[2 * me + layout] != count -> through++
#endif
       :: else -> skip
       fi;
       in_flight = false;
       layout = 1 - layout;
       ready[2 * me + layout] = 0;
#ifndef KEEP_COUNT
       count = 0;
#endif
#ifndef NO_SECOND
       barrier()
#endif
  :: through == MESSAGES && switches == SWITCHES -> break
  od
}

inline get() {
  value = memory[chunk_cell(layout, s)];
  assert(total[s] < MESSAGES && value == chunk(s, total[s]));
  total[s]++;
  left--;
  got[s]++;
  ready[2 * s + layout] = got[s]
}

proctype receiver() {
  byte layout = 0, switches = 0, barriers = 0, s, value, left = SENDERS * MESSAGES;
  byte got[SENDERS];    /* chunks in this layout */
  byte total[SENDERS];  /* chunks in all */
  do
  :: switches < SWITCHES ->
       switches++;
#ifndef NO_QUIET
       barrier();
#endif
       layout = 1 - layout;
       s = 0;
       do
       :: s < SENDERS ->
#ifndef NOT_CLEARED
            memory[sent_cell(layout, s)] = 0;
#endif
            got[s] = 0;
            s++
       :: else -> break
       od;
#ifndef NO_SECOND
       barrier()
#endif
  :: memory[sent_cell(layout, 0)] != got[0] -> s = 0; get()
#if SENDERS > 1
  :: memory[sent_cell(layout, 1)] != got[1] -> s = 1; get()
#endif
  :: switches == SWITCHES && left == 0 -> break
  od
}

init {
  byte i = 0;
  atomic {
    run receiver();
    do
    :: i < SENDERS -> run sender(i); i++
    :: else -> break
    od
  }
}
