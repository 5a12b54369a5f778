/* SPDX-License-Identifier: Apache-2.0
 * Waiting at the channels of a network, and the search for deadlocks (streams/src/process.cpp, deadlock.cpp).
 *
 * A writer sends ITEMS items to channel 0 and one to channel 1, both with room for one item, and ends. The reader takes
 * the item of channel 1 first or last (-DREVERSED: first, so that channel 0 has to grow). Positions wait in a store
 * buffer while their writer already looks for those that wait; an exchange empties the buffer.
 *
 *   change:  store the position; look at the entry of the other side; take it off by an exchange, count the
 *            process as active, phase READY, resume it
 *   wait:    phase BLOCKING; no longer active; enter; a heavy fence if the other process runs; look again: ready ->
 *            take the entry off, unless another has. Else BLOCKED, and search if asked or the last active process.
 *            The frame is let go of (`published`) before the process continues.
 *   search:  under a lock look at both phases; BLOCKING -> leave it to that process, unless it is BLOCKED by now;
 *            both BLOCKED, at a second look in the same waits -> the channel grows, its writer is resumed
 *
 *   end:     (-DEARLY_END) another process ends the network: under the lock it says so, then takes all off the entries;
 *            a process leaves before it uses a channel, and where its last look finds that
 *
 * Checked: a channel grows only if both wait and it is full; nobody touches a network that is gone; at the end all
 * processes have ended.
 *
 * Faults, each of which the checker must find:
 *  -DNO_HEAVY_FENCE    the last look is made without the fence
 *  -DNO_RECHECK        there is no last look
 *  -DNO_ASK            a search that meets BLOCKING gives up
 *  -DASK_BLIND         it does not look again after it has asked
 *  -DONE_LOOK          a search acts after one look
 *  -DBLOCKED_EARLY     BLOCKED is set before the last look
 *  -DNO_LET_GO         a process continues without waiting for the end of `publish`
 *  -DEARLY_END -DEND_UNSEEN    the last look does not look for the end of the network
 *  -DEARLY_END -DREVERSED -DEND_UNLOCKED  a network ends without the lock */
#ifndef ITEMS
#define ITEMS 2
#endif

#ifdef EARLY_END
#define KEEPERS 3  /* of the network: the processes, and who ends it */
#define leave_if_it_ends if :: ends -> goto leave :: else fi
#else
#define KEEPERS 2
#define leave_if_it_ends skip
#endif

mtype = { RUNNING, READY, BLOCKING, BLOCKED, ENDED };
#define NONE 2
#define WRITER 0
#define READER 1
#define ITEM_SIDE 0
#define ROOM_SIDE 1
#define entry_of(c, s) entry[(c) * 2 + (s)]
#define other(p) (1 - (p))

byte written[2], taken[2], capacity[2] = 1;  /* in memory */
bool closed;
bool buffered[4];                            /* WRITER: 0, 1; READER: 2, 3: the next position of channel 0, 1 */
byte entry[4] = NONE;
mtype phase[2] = READY;
byte waits[2], alive = KEEPERS, working = 2, at_channel[2], at_side[2];
bool suspended[2], resumed[2], published[2] = true, last[2], asked, locked, gone;
bool ends;                                   /* the network ends early */
#ifdef END_UNSEEN
#define is_over false
#else
#define is_over ends
#endif

#define drain_one(p, c) if :: buffered[(p) * 2 + (c)] -> buffered[(p) * 2 + (c)] = false; \
  if :: (p) == WRITER -> written[c]++ :: else -> taken[c]++ fi :: else fi
inline drain(p) { drain_one(p, 0); drain_one(p, 1) }
/* Positions as their owner sees them. */
#define own_written(c) (written[c] + buffered[c])
#define own_taken(c)   (taken[c] + buffered[2 + (c)])
#define is_ready(c, s) ((s) == ITEM_SIDE && (closed || written[c] != own_taken(c)) || \
                        (s) == ROOM_SIDE && own_written(c) - taken[c] < capacity[c])

/* The caller, p, takes the entry off and resumes that process. */
inline take_off(p, c, s) {
  d_step { drain(p); found = entry_of(c, s); entry_of(c, s) = NONE };
  resume_found()
}

inline resume_found() {
  if
  :: found != NONE ->
     working++;
     d_step { phase[found] = READY; waits[found]++ };
     assert(!resumed[found]);
     resumed[found] = true
  :: else
  fi;
  found = 0
}

inline search(p) {
  atomic { !locked -> locked = true };
  assert(!gone);
  do
  :: ends -> break
  :: !ends ->
     d_step { seen[0] = waits[0]; look = phase[0] };
     if
     :: look == BLOCKED ->
        d_step { seen[1] = waits[1]; look = phase[1] };
        first = 1
     :: else -> first = 0
     fi;
     if
     :: look == BLOCKING ->
#ifdef NO_ASK
        break
#else
        d_step { drain(p); asked = true };
#ifdef ASK_BLIND
        break
#else
        if :: phase[first] == BLOCKED -> skip :: else -> break fi
#endif
#endif
     :: look == BLOCKED ->
#ifndef ONE_LOOK
        if
        :: phase[0] == BLOCKED && seen[0] == waits[0] -> skip
        :: else -> break
        fi;
        if
        :: phase[1] == BLOCKED && seen[1] == waits[1] -> skip
        :: else -> break
        fi;
#endif
        assert(phase[0] == BLOCKED && phase[1] == BLOCKED);
        assert(at_side[WRITER] == ROOM_SIDE && !is_ready(at_channel[WRITER], ROOM_SIDE));
        capacity[at_channel[WRITER]]++;
        take_off(p, at_channel[WRITER], ROOM_SIDE);
        break
     :: else -> break
     fi
  od;
  skip;
  d_step { look = 0; first = 0; seen[0] = 0; seen[1] = 0 };
  locked = false
}

inline wait(p, c, s) {
  d_step { at_channel[p] = c; at_side[p] = s; published[p] = false; drain(p); phase[p] = BLOCKING };
  d_step { last[p] = (working == 1); working--; suspended[p] = true };
  resumed[p];
  resumed[p] = false;
#ifndef NO_LET_GO
  published[p];
#endif
  d_step { drain(p); phase[p] = RUNNING; waits[p]++ }
}

/* Runs where the process p did, off its stack. */
active [2] proctype publish() {
  byte found, first, seen[2];
  mtype look;
  bool mine, ask, searches;
  byte p = _pid;
end_publish:
  do
  :: atomic { suspended[p] -> suspended[p] = false };
     d_step { assert(!gone); searches = last[p]; drain(p); entry_of(at_channel[p], at_side[p]) = p };
#ifndef NO_HEAVY_FENCE
     atomic { if :: phase[other(p)] == RUNNING -> drain(other(p)) :: else fi };
#endif
#ifdef BLOCKED_EARLY
     d_step { if :: phase[p] == BLOCKING -> phase[p] = BLOCKED :: else fi };
#endif
     if
#ifndef NO_RECHECK
     :: is_ready(at_channel[p], at_side[p]) || is_over ->
        d_step {
          mine = (entry_of(at_channel[p], at_side[p]) == p);
          if :: mine -> entry_of(at_channel[p], at_side[p]) = NONE :: else fi
        };
        if :: mine -> working++; resumed[p] = true :: else fi
     :: else ->
#else
     :: true ->
#endif
        d_step { assert(!gone); if :: phase[p] == BLOCKING -> phase[p] = BLOCKED :: else fi };
        d_step { ask = asked; asked = false };
        if :: ask || searches -> search(p) :: else fi
     fi;
     d_step { assert(!gone); published[p] = true; mine = false; ask = false; searches = false }
  od
}

inline end(p) {
  d_step { drain(p); phase[p] = ENDED };
  d_step { last[p] = (working == 1); working-- };
  if :: last[p] -> search(p) :: else fi;
  d_step { alive--; if :: alive == 0 -> gone = true :: else fi }
}

inline write(c) {
  do
  :: leave_if_it_ends;
     if
     :: atomic { own_written(c) - taken[c] < capacity[c] -> drain_one(WRITER, c); buffered[c] = true };
        if :: entry_of(c, ITEM_SIDE) != NONE -> take_off(WRITER, c, ITEM_SIDE) :: else fi;
        break
     :: else -> wait(WRITER, c, ROOM_SIDE)
     fi
  od;
  skip
}

inline read(c) {
  do
  :: leave_if_it_ends;
     if
     :: atomic { written[c] != own_taken(c) -> drain_one(READER, c); buffered[2 + (c)] = true };
        if :: entry_of(c, ROOM_SIDE) != NONE -> take_off(READER, c, ROOM_SIDE) :: else fi;
        break
     :: else -> wait(READER, c, ITEM_SIDE)
     fi
  od;
  skip
}

active proctype writer() {
  byte found, first, i, seen[2];
  mtype look;
  d_step { drain(WRITER); phase[WRITER] = RUNNING };
  do :: i < ITEMS -> write(0); i++ :: else -> break od;
  skip;
  write(1);
#ifdef EARLY_END
leave: skip;
#endif
  d_step { drain(WRITER); closed = true };
  if :: entry_of(0, ITEM_SIDE) != NONE -> take_off(WRITER, 0, ITEM_SIDE) :: else fi;
  if :: entry_of(1, ITEM_SIDE) != NONE -> take_off(WRITER, 1, ITEM_SIDE) :: else fi;
  end(WRITER)
}

active proctype reader() {
  byte found, first, i, seen[2];
  mtype look;
  d_step { drain(READER); phase[READER] = RUNNING };
#ifdef REVERSED
  read(1);
#endif
  do :: i < ITEMS -> read(0); i++ :: else -> break od;
  skip;
#ifndef REVERSED
  read(1);
#endif
#ifdef EARLY_END
leave: skip;
#endif
  end(READER)
}

#ifdef EARLY_END
/* A stop request, which keeps the network alive meanwhile. */
active proctype ender() {
  byte found;
#ifndef END_UNLOCKED
  atomic { !locked -> locked = true };
#endif
  ends = true;
  d_step { found = entry_of(0, ITEM_SIDE); entry_of(0, ITEM_SIDE) = NONE };
  resume_found();
  d_step { found = entry_of(0, ROOM_SIDE); entry_of(0, ROOM_SIDE) = NONE };
  resume_found();
  d_step { found = entry_of(1, ITEM_SIDE); entry_of(1, ITEM_SIDE) = NONE };
  resume_found();
  d_step { found = entry_of(1, ROOM_SIDE); entry_of(1, ROOM_SIDE) = NONE };
  resume_found();
#ifndef END_UNLOCKED
  locked = false;
#endif
  d_step { alive--; if :: alive == 0 -> gone = true :: else fi }
}
#endif

/* Stores reach memory at any time. */
active proctype memory() {
end_memory:
  do
  :: atomic { buffered[0] -> drain_one(WRITER, 0) }
  :: atomic { buffered[1] -> drain_one(WRITER, 1) }
  :: atomic { buffered[2] -> drain_one(READER, 0) }
  :: atomic { buffered[3] -> drain_one(READER, 1) }
  od
}
