/* SPDX-License-Identifier: Apache-2.0
 * Turns order the messages of different rings to one reader (backends/host/src/messages/message_box.hpp). The rings
 * are channels here: pair_ring.pml has how they work. A store buffer delays what a sender writes but keeps its order,
 * and each draw of a turn empties it, so the model has none.
 *
 * STRANDS strands run on two workers, strand s first on worker s % 2. Each sends POSTS messages to the reader, and
 * tells others TELLS times what it knows: by an answer, a future, a channel, a join, a task, a call of another object.
 * OUTSIDERS threads that are no workers do the same.
 *
 *   hear:   take what another has told; set `follows`
 *   move:   continue on the other worker; set `follows` (-DMOVES, once)
 *   elsewhere: as in a send to another reader: if `follows`, take it back, news of the worker + 1 (-DELSEWHERE)
 *   send:   if `follows`: take it back, news of the worker + 1. If the ring's turn was drawn before the last news, draw
 *           one from the reader's counter. Put the message into the ring of the worker, with the ring's turn
 *   outside: draw a turn; add the message to the list of those from outside
 *   look:   for each ring: while it has a message: if that is not of the turn of the one before it, take first all that
 *           is earlier; take it. Then likewise all messages from outside
 *   take all before turn T: collect the list, sorted by turns; look at the head of each ring, one after the other; take
 *           the earliest of all these, again and again, until none is earlier than T
 *   own:    a strand of the reader's worker hears something, and sends its own worker a message: it draws a turn, takes
 *           all before it, and keeps the message behind these (-DOWN). The code keeps it with its turn and takes all
 *           before it when it takes it, as a retirement does here
 *   retire: the strand that drops the last handle sends a retirement. When the reader takes it, it draws a turn, takes
 *           all before it, and then frees the object (-DRETIRES)
 *
 * With -DFIBERS=2 each handler may wait in the middle of a look, and another fiber of the reader looks meanwhile.
 *
 * Checked: each message is taken once, after all that its sender knew of when it sent it; none is taken after the
 * object was freed; when nothing can move any more, all were taken.
 *
 * Faults, each of which the checker must find:
 *  -DLOOK_FIRST      heads are not looked at again after the message of turn T was seen
 *  -DNO_TURN         only the first message of a ring draws a turn
 *  -DEARLY_FLAG      `follows` is set when a wait begins, and the strand sends before the wait ends
 *  -DMOVE_UNNOTICED  a strand that continues on the other worker does not set `follows` for that
 *  -DFLAG_ALONE      no count of news: a message to another reader takes `follows` back, too
 *  -DNEWEST_FIRST    the list from outside is taken as it is, the newest first
 *  -DUNCOLLECTED     messages from outside are not looked at before those of rings
 *  -DOWN_AT_ONCE     a message to the own worker is kept without taking others first
 *  -DRETIRE_AT_ONCE  the object is freed when the retirement is taken
 *  -DPARTIAL         what is taken first is one message of each ring and one from outside
 *
 * -DBY_ARRIVAL is what the code does: the list from outside, oldest first, is not sorted. */
#ifndef STRANDS
#define STRANDS 2
#endif
#ifndef OUTSIDERS
#define OUTSIDERS 0
#endif
#ifndef POSTS
#define POSTS 2
#endif
#ifndef TELLS
#define TELLS 1
#endif
#ifndef FIBERS
#define FIBERS 1
#endif
#define WORKERS 2
#define ALL (STRANDS + OUTSIDERS)
#define MESSAGES (ALL * POSTS + 2)
#define NONE 255

/* In memory. */
byte turns = 1;
chan ring[WORKERS] = [MESSAGES] of { byte, byte };   /* turn, message */
chan outside = [MESSAGES] of { byte, byte, byte };   /* place, turn, message */
byte handles = ALL;
chan inbox[ALL + 1] = [1] of { short };              /* the last one is that of the reader's own strand */

/* Of the workers. */
bool busy[WORKERS];
byte news[WORKERS], ring_news[WORKERS] = NONE, ring_turn[WORKERS];

/* Of the reader. */
bool reads;
byte turn_of[WORKERS];
chan came = [MESSAGES] of { byte, byte };            /* turn, message */
bool had[WORKERS];

/* Ghosts. */
byte made;                          /* number of messages */
short known[MESSAGES];              /* to the sender */
short taken;
byte retirement = NONE;
bool retires, retired;

#define bit(m) (1 << (m))

inline begin_message(m) {
  m = made; made++; known[m] = knows
}
inline draw(turn) {
  turn = turns; turns++
}

/* --- The reader ----------------------------------------------------------------------------------------------- */

inline take(m) {
  atomic {
    assert(!(taken & bit(m)));
    assert((known[m] & ~taken) == 0);
    assert(!retired);
    taken = taken | bit(m);
    if
    :: m == retirement ->
#ifdef RETIRE_AT_ONCE
       retired = true
#else
       retires = true
#endif
    :: else
    fi
#if FIBERS > 1
    ; reads = false
#endif
  }
#if FIBERS > 1
  atomic { !reads -> reads = true }
#endif
}

inline collect() {
  atomic {
    do
    :: nempty(outside) ->
       outside ? _, t, i;
#if defined(BY_ARRIVAL) || defined(NEWEST_FIRST)
       came ! t, i
#else
       came !! t, i
#endif
    :: empty(outside) -> break
    od;
    t = 0; i = 0
  }
}

#ifdef UNCOLLECTED
#define collect_early() skip
#else
#define collect_early() collect()
#endif
#ifdef LOOK_FIRST
#define is_seen(r) had[r]
#else
#define is_seen(r) true
#endif
inline look_at_head(r) {
  d_step {
    if
    :: nempty(ring[r]) && is_seen(r) ->
       ring[r] ? <t, i>;
       if :: t < earliest -> earliest = t; from = r :: else fi
    :: empty(ring[r]) || !is_seen(r)
    fi;
    t = 0; i = 0
  }
}

inline take_before(turn) {
  do
  :: collect_early();
     d_step { earliest = turn; from = NONE };
     look_at_head(0);
     look_at_head(1);
     atomic {
       if :: nempty(came) -> came ? <t, i> :: empty(came) -> t = NONE fi;
       if
       :: t < earliest -> came ? t, i; t = 0; from = NONE; take(i)
       :: t >= earliest && from != NONE -> t = 0; ring[from] ? <t, i>; turn_of[from] = t
       :: t >= earliest && from == NONE -> t = 0; i = 0; break
       fi
     };
     do
     :: from != NONE ->
        atomic {
          if
          :: nempty(ring[from]) -> ring[from] ? <t, i>
          :: empty(ring[from]) -> t = NONE
          fi;
          if
          :: t == turn_of[from] -> ring[from] ? t, i; t = 0; take(i)
          :: t != turn_of[from] -> from = NONE; t = 0; i = 0
          fi
        }
     :: from == NONE -> break
     od
  od;
  earliest = 0; from = 0
}

inline take_from_ring(r, limit) {
  left = limit;
  do
  :: atomic { empty(ring[r]) || left == 0 -> left = 0; break }
  :: atomic { nempty(ring[r]) && left > 0 -> ring[r] ? <t, i> };
     if
     :: t != turn_of[r] ->
        d_step { first = t; t = 0; i = 0 };
        take_before(first);
        atomic {
          t = 0;
          if :: nempty(ring[r]) -> ring[r] ? <t, i> :: empty(ring[r]) fi;
          if :: t != first -> t = 0 :: else fi;
          first = 0
        }
     :: t == turn_of[r]
     fi;
     atomic {
       if
       :: t != 0 -> turn_of[r] = t; ring[r] ? t, i; t = 0; left--; take(i)
       :: t == 0
       fi;
       i = 0
     }
  od
}

inline look(limit) {
#ifdef LOOK_FIRST
  d_step { had[0] = nempty(ring[0]); had[1] = nempty(ring[1]) };
#endif
  take_from_ring(0, limit);
  take_from_ring(1, limit);
  collect();
  left = limit;
  do
  :: atomic { empty(came) || left == 0 -> left = 0; break }
  :: atomic { nempty(came) && left > 0 -> came ? <first, i>; i = 0 };
     take_before(first);
     atomic {
       if
       :: nempty(came) -> came ? <t, i>; if :: t == first -> came ? t, i; left--; t = 0; first = 0; take(i) :: else fi
       :: empty(came)
       fi;
       t = 0; i = 0; first = 0
     }
  od
}

/* Takes all that has arrived. */
inline drain() {
#ifdef PARTIAL
  look(1)
#else
  atomic { draw(first) };
  take_before(first);
  first = 0
#endif
}

proctype fiber() {
  byte t, i, first, earliest, from, left;
end:
  do
  :: atomic {
       !reads && (nempty(ring[0]) || nempty(ring[1]) || nempty(outside) || nempty(came)) -> reads = true
     };
     look(100);
     reads = false
  od
}

#ifdef OWN
/* Sends the reader's worker a message of its own. */
active proctype own() {
  byte t, i, first, earliest, from, left, m;
  short knows;
end:
  inbox[ALL] ? knows;
  atomic { !reads -> reads = true; begin_message(m) };
#ifndef OWN_AT_ONCE
  drain();
#endif
  take(m);
  reads = false
}
#endif

#ifdef RETIRES
active proctype retirer() {
  byte t, i, first, earliest, from, left;
end:
  atomic { retires && !reads -> reads = true };
#ifndef RETIRE_AT_ONCE
  drain();
  retired = true;
#endif
  reads = false
}
#endif

/* --- The senders ---------------------------------------------------------------------------------------------- */

/* Whether `here` is a worker; others are outside. */
#define is_worker (here < WORKERS)

inline send() {
  if
  :: is_worker ->
     atomic {
       !busy[here] -> busy[here] = true;
       begin_message(m);
#ifdef FLAG_ALONE
       if :: follows || ring_turn[here] == 0 -> follows = false; draw(ring_turn[here]) :: else fi
#else
       if :: follows -> follows = false; news[here]++ :: else fi;
       if
#ifdef NO_TURN
       :: ring_turn[here] == 0 ->
#else
       :: ring_news[here] != news[here] ->
#endif
          ring_news[here] = news[here]; draw(ring_turn[here])
       :: else
       fi
#endif
     };
     atomic { ring[here] ! ring_turn[here], m; busy[here] = false }
  :: !is_worker ->
     atomic { begin_message(m); draw(turn) };
     atomic {
#ifdef NEWEST_FIRST
       outside !! MESSAGES - m, turn, m;
#else
       outside ! 0, turn, m;
#endif
       turn = 0
     }
  fi
}

/* A move without news: its first task is left to another worker. */
inline move() {
  here = 1 - here;
#ifndef MOVE_UNNOTICED
  follows = true
#endif
}

proctype sender(byte me, here) {
  bool follows = true, waits, has_moved;
  short knows, told;
  byte posts, tells, m, turn, to;
  do
  :: posts < POSTS -> send(); atomic { knows = knows | bit(m); m = 0; posts++ }
  :: atomic {
       tells < TELLS && knows != 0 ->
       if
       :: to = 0 :: to = 1
#if ALL > 2
       :: to = 2
#endif
#ifdef OWN
       :: to = ALL
#endif
       fi;
       if
       :: to != me && nfull(inbox[to]) -> inbox[to] ! knows; tells++
       :: to == me || full(inbox[to])
       fi;
       to = 0
     }
#ifdef EARLY_FLAG
  :: atomic { !waits && is_worker -> waits = true; follows = true }
  :: atomic { waits && inbox[me] ? [told] -> inbox[me] ? told; knows = knows | told; told = 0; waits = false }
#else
  :: atomic { inbox[me] ? told -> knows = knows | told; told = 0; follows = true }
#endif
#ifdef MOVES
  :: atomic { is_worker && !has_moved -> has_moved = true; move() }
#endif
#ifdef ELSEWHERE
  :: atomic {
       is_worker && follows && !busy[here] -> follows = false;
#ifndef FLAG_ALONE
       news[here]++
#endif
     }
#endif
  :: posts == POSTS -> break
  od;
#ifdef RETIRES
  atomic {
    handles--; waits = (handles == 0)
  };
  if
  :: waits -> knows = 0; atomic { retirement = made }; send()
  :: else
  fi
#endif
}

init {
  byte s;
  atomic {
    for (s : 0 .. FIBERS - 1) { run fiber() };
    for (s : 0 .. STRANDS - 1) { run sender(s, s % WORKERS) };
#if OUTSIDERS > 0
    for (s : STRANDS .. ALL - 1) { run sender(s, WORKERS) };
#endif
    s = 0
  };
end:
  timeout;
  assert(taken == bit(made) - 1);
#ifdef RETIRES
  assert(retired)
#endif
}
