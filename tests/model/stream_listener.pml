/* SPDX-License-Identifier: Apache-2.0
 * Channels between two cores that share no memory (streams/src/item_route.cpp), and the search for deadlocks there.
 *
 * A writer sends ITEMS items to channel 0 and then one to channel 1, and ends; the reader takes the item of channel 1
 * last, first (-DREVERSED: channel 0 has to grow) or second (-DMIXED: it must not, if ITEMS is 3). Each core runs its process, and
 * takes in what has arrived before the process goes on. The order of steps of a wait is that of stream_wait.pml, here one step.
 *
 *   write:   a place fewer; a message to the reader's core, which shows the item there
 *   read:    takes an item; returns room by quarters (QUARTER places)
 *   wait:    for room: asks for it by a message; the reader's core returns what room there is, and remembers that it was
 *            asked. For an item: returns all room of both channels, if asked
 *   search:  both BLOCKED; at a second look no message of their channels is under way, and they are in the same waits:
 *            channel 0 grows. By the last one active (messages count), and by others at any time
 *
 * Checked: what arrives has room; a channel grows only if it is full, both wait and nothing is under way; no message
 * arrives at a network that is gone; at the end all has ended.
 *
 * Faults, each of which the checker must find:
 *  -DNO_REQUEST        a writer that waits for room does not ask
 *  -DFORGETS           a request that comes before there is room is forgotten
 *  -DEARLY_ROOM        the writer counts a place as free while the reader has published it to nobody
 *  -DNOT_ACTIVE        a message does not count as active: nobody searches when it was the last one
 *  -DUNDER_WAY_UNSEEN  a search does not look for messages under way
 *  -DLOOKS_TOO_SOON    it looks for them before it has seen that both wait
 *  -DNOT_ALIVE         a message does not keep the network alive */
#ifndef ITEMS
#define ITEMS 4
#endif
#ifndef QUARTER
#define QUARTER 2
#endif

mtype = { RUNNING, BLOCKED, ENDED, ITEM, REQUEST, END, ROOM };
#define WRITER 0
#define READER 1
#define ITEM_SIDE 0
#define ROOM_SIDE 1

chan to_reader = [10] of { mtype, byte, byte };
chan to_writer = [10] of { mtype, byte, byte };

byte capacity[2] = 2;
byte room[2] = 2;                      /* the writer's */
byte sent[2], shown[2];
byte taken[2], published[2], returned[2];  /* the reader's */
bool wanted[2], closed[2];
byte under_way[2];
mtype phase[2] = RUNNING;
byte waits[2], at_channel[2], at_side[2];
byte working = 2, alive = 2;
bool gone, locked;

inline one_more(c) {
  under_way[c]++;
#ifndef NOT_ACTIVE
  working++;
#endif
#ifndef NOT_ALIVE
  alive++;
#endif
}

inline wake(p, c, s) {
  if
  :: phase[p] == BLOCKED && at_channel[p] == c && at_side[p] == s ->
     working++; waits[p]++; phase[p] = RUNNING
  :: else
  fi
}

/* By the caller alone: the lock of the network. */
inline search() {
  atomic { !locked -> locked = true };
  d_step { look[0] = phase[0]; seen[0] = waits[0] };
#ifdef LOOKS_TOO_SOON
  d_step { busy = (under_way[at_channel[0]] != 0) };
#endif
  d_step { look[1] = phase[1]; seen[1] = waits[1] };
#ifdef LOOKS_TOO_SOON
  d_step { busy = busy || (under_way[at_channel[1]] != 0) };
#endif
  if
  :: look[0] == BLOCKED && look[1] == BLOCKED ->
#if defined(UNDER_WAY_UNSEEN)
     busy = false;
#elif !defined(LOOKS_TOO_SOON)
     d_step { busy = (under_way[at_channel[0]] != 0) };
#endif
     d_step { busy = busy || phase[0] != BLOCKED || waits[0] != seen[0] };
#if !defined(UNDER_WAY_UNSEEN) && !defined(LOOKS_TOO_SOON)
     d_step { busy = busy || under_way[at_channel[1]] != 0 };
#endif
     d_step { busy = busy || phase[1] != BLOCKED || waits[1] != seen[1] };
     if
     :: !busy ->
        d_step {
          c0 = at_channel[WRITER];
          assert(!gone && phase[0] == BLOCKED && phase[1] == BLOCKED);
          assert(at_side[WRITER] == ROOM_SIDE && at_side[READER] == ITEM_SIDE);
          assert(under_way[c0] == 0 && under_way[at_channel[READER]] == 0);
          assert(room[c0] == 0 && shown[c0] - taken[c0] == capacity[c0]);
          capacity[c0]++;
          room[c0]++;
          returned[c0] = taken[c0];
          published[c0] = taken[c0];
          wake(WRITER, c0, ROOM_SIDE)
        }
     :: else
     fi
  :: else
  fi;
  d_step { look[0] = 0; look[1] = 0; seen[0] = 0; seen[1] = 0; busy = false; c0 = 0; locked = false }
}

/* A process or a message that ends. */
inline one_ends(is_counted) {
  d_step { last = (working == 1 && is_counted); working = working - is_counted };
  if :: last -> search() :: else fi;
  d_step { last = false }
}

inline block(p, c, s) {
  d_step { at_channel[p] = c; at_side[p] = s; phase[p] = BLOCKED };
  one_ends(1)
}

#ifdef NOT_ACTIVE
#define COUNTED 0
#else
#define COUNTED 1
#endif

inline message_ends(c) {
  d_step { assert(under_way[c] > 0); under_way[c]-- };
  one_ends(COUNTED);
#ifndef NOT_ALIVE
  d_step { alive--; if :: alive == 0 -> gone = true :: else fi }
#endif
}

/* --- The writer's core ------------------------------------------------------------------------ */
active proctype writers_core() {
  byte i, c, n, seen[2], c0;
  mtype look[2];
  bool busy, last, asked;
end_writer:
  do
  :: phase[WRITER] == RUNNING && i <= ITEMS ->
     c = (i == ITEMS -> 1 : 0);
     if
     :: room[c] > 0 ->
        atomic { room[c]--; sent[c]++; one_more(c); to_reader!ITEM, c, 1 };
        i++;
        asked = false
#ifndef NO_REQUEST
     :: room[c] == 0 && !asked -> atomic { one_more(c); to_reader!REQUEST, c, 0 }; asked = true
     :: room[c] == 0 && asked -> asked = false; block(WRITER, c, ROOM_SIDE)
#else
     :: room[c] == 0 -> block(WRITER, c, ROOM_SIDE)
#endif
     fi
  :: phase[WRITER] == RUNNING && i == ITEMS + 1 ->
     atomic { one_more(0); to_reader!END, 0, 0 };
     phase[WRITER] = ENDED;
     one_ends(1);
     d_step { alive--; if :: alive == 0 -> gone = true :: else fi }
  :: nempty(to_writer) ->
     to_writer?ROOM, c, n;
     assert(!gone);
     d_step { room[c] = room[c] + n; wake(WRITER, c, ROOM_SIDE) };
     message_ends(c)
  od
}

/* --- The reader's core ------------------------------------------------------------------------ */
inline return_room(c) {
  if
  :: published[c] != returned[c] ->
     atomic {
       wanted[c] = false;
       one_more(c);
       to_writer!ROOM, c, (published[c] - returned[c]);
       returned[c] = published[c]
     }
  :: else
  fi
}
inline return_if_wanted(c) {
  if
  :: wanted[c] -> published[c] = taken[c]; return_room(c)
  :: else
  fi
}

active proctype readers_core() {
  byte i, c, n, seen[2], c0;
  mtype look[2], what;
  bool busy, last;
end_reader:
  do
  :: phase[READER] == RUNNING && i <= ITEMS ->
#ifdef REVERSED
     c = (i == 0 -> 1 : 0);
#elif defined(MIXED)
     c = (i == 1 -> 1 : 0);
#else
     c = (i == ITEMS -> 1 : 0);
#endif
     if
     :: shown[c] != taken[c] ->
        taken[c]++;
        i++;
#ifdef EARLY_ROOM
        if :: taken[c] - returned[c] == 1 -> room[c]++ :: else fi;
#endif
        if :: taken[c] - published[c] >= QUARTER -> published[c] = taken[c] :: else fi;
        return_room(c)
     :: else ->
        return_if_wanted(0);
        return_if_wanted(1);
        block(READER, c, ITEM_SIDE)
     fi
  :: phase[READER] == RUNNING && i == ITEMS + 1 && closed[0] ->
     phase[READER] = ENDED;
     one_ends(1);
     d_step { alive--; if :: alive == 0 -> gone = true :: else fi }
  :: phase[READER] == RUNNING && i == ITEMS + 1 && !closed[0] ->
     return_if_wanted(0);
     return_if_wanted(1);
     block(READER, 0, ITEM_SIDE)
  :: nempty(to_reader) ->
     to_reader?what, c, n;
     assert(!gone);
     if
     :: what == ITEM ->
        d_step {
          shown[c]++;
          assert(shown[c] - taken[c] <= capacity[c]);
          wake(READER, c, ITEM_SIDE)
        }
     :: what == REQUEST ->
#ifdef FORGETS
        if :: taken[c] != returned[c] -> wanted[c] = true; return_if_wanted(c) :: else fi
#else
        wanted[c] = true;
        return_if_wanted(c)
#endif
     :: what == END -> d_step { closed[c] = true; wake(READER, c, ITEM_SIDE) }
     fi;
     message_ends(c)
  od
}

/* Searches at any time: once for many waits. */
active proctype others() {
  byte seen[2], c0, n;
  mtype look[2];
  bool busy;
end_others:
  do
  :: n < 2 && !gone -> search(); n++
  :: n == 2 || gone -> break
  od
}

/* All has ended. */
active proctype end() {
  gone;
  assert(phase[WRITER] == ENDED && phase[READER] == ENDED);
  assert(taken[0] == ITEMS && taken[1] == 1)
}
