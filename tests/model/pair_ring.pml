/* SPDX-License-Identifier: Apache-2.0
 * Messages by one ring per pair of workers (backends/host/src/messages/pair_ring.hpp), and how they wake a receiver.
 *
 * SENDERS workers send MESSAGES messages of one or two lines each to one receiver. Each makes its ring of N lines
 * with its first message. The stores of each worker wait in its store buffer, first in, first out; locked instructions
 * drain it, and so does the receiver's heavy fence.
 *
 *   open:     push the ring on the receiver's list, `newest`, by compare-and-swap
 *   send:     wait until the lines and one more are free, as far as is known from `published`; raise `sent`; write
 *             the lines, each with a word that holds its position, the word of the first line last; light fence; if
 *             `asleep` of the receiver: wake it. Positions count lines from 1 and never repeat; memory begins as zeros
 *   grow:     if there is no room: write a jump into the line left free, go on in a segment of GROWN lines. With
 *             -DRETURNS go back by a jump later: a segment is entered when the receiver has published that it left it
 *   look:     take new rings from the list; take messages from each ring while the word of the next line has its
 *             position: copy the message, raise `taken`, publish the position after QUARTER lines and at the end of
 *             the look. A jump: free the segment (not with -DRETURNS), go on in the next one
 *   sleep:    set `asleep`; heavy fence; look whether the list is longer or a next line has its position; if not,
 *             wait for a call
 *   question: a third thread reads `taken`, then `sent`: a message is under way if they differ (-DQUESTION)
 *
 * Checked: messages arrive once, whole, in order; no line is written whose message was not copied; nobody touches a
 * freed segment; when nothing can move any more, all messages were taken; if the answer to the question is no, there
 * was a moment since it began at which every message that had arrived was taken.
 *
 * Faults, each of which the checker must find:
 *  -DWORD_FIRST      the word of the first line is written before the lines
 *  -DPUBLISH_FIRST   the receiver publishes before it has copied
 *  -DNO_HEAVY_FENCE  the receiver executes an ordinary fence
 *  -DNO_RECHECK      the receiver sleeps without a look after it has set `asleep`
 *  -DLIST_UNSEEN     that look leaves out the list
 *  -DJUMP_UNSEEN     that look does not count a jump
 *  -DASLEEP_FIRST    a sender looks at `asleep` before it writes the message
 *  -DTAKE_NEWEST     the receiver takes only the newest ring of the list
 *  -DNO_SPARE        messages may fill all lines
 *  -DTOUCH_OLD       a sender touches the old segment after the jump
 *  -DRETURN_EARLY    with -DRETURNS: the sender goes back before the receiver has left the first segment
 *  -DWRAP=6          with -DRETURNS and N = 3: words hold positions modulo 6, and a segment is entered again,
 *                    uncleared, after as many lines
 *  -DREGROW_EARLY    with -DRETURNS: the sender enters the second segment again before the receiver has left it
 *  -DUNCLEARED       a new segment holds what was in its memory before
 *  -DSENT_LATE       `sent` is raised after the word
 *  -DSENT_READ_FIRST the question reads `sent` before `taken`
 *  -DUNSTAMPED       the second line has data in place of a word, which may look like one
 *  -DLAP_BIT         with -DKEEP_WORD: words hold only a bit of the lap, which is 1 in the first one, and second lines
 *                    keep the word that was there; each of the two alone is sound
 *  -DFROM_ZERO       positions count from 0: the word of an empty message is that of unwritten memory
 *
 * -DLAZY is sound: the receiver publishes only by quarters, as when a handler waits in the middle of a look. QUARTER
 * may be at most N - 2, so that a message of two lines finds room once all others are taken: with N = 4, 3 is a fault.
 *
 * Rings do not order the messages of different senders. With -DMOVES a caller sends a message by the first sender's
 * ring and then, on another worker, one by the second's: the second may arrive first, which the checker must find.
 *  -DAWAIT_TAKEN     sound: the caller waits first until all messages of the ring that it used before are taken
 *  -DRETIRES         sound: the second message says that it is the last of all; the receiver then makes one more look,
 *                    from the list on, before it believes that
 *  -DRINGS_ONLY      a fault of -DRETIRES: that look leaves out the list */
#ifndef SENDERS
#define SENDERS 1
#endif
#ifndef MESSAGES
#define MESSAGES 3
#endif
#ifndef N
#define N 4
#endif
#ifndef GROWN
#define GROWN N
#endif
#ifndef QUARTER
#define QUARTER 1
#endif
#if defined(FROM_ZERO) || defined(LAP_BIT)
#define START 0
#else
#define START 1
#endif
#ifdef NO_SPARE
#define SPARE 0
#else
#define SPARE 1
#endif

#define JUMP 3                      /* in place of the number of lines */
#define JUMP_PAYLOAD 100
#define LINES (N + GROWN)           /* of both segments of a ring */
#define at(r, s, p) ((r) * LINES + (s) * N + (p) % ((s) * GROWN + (1 - (s)) * N))
#define segment_of(l) (2 * ((l) / LINES) + ((l) % LINES >= N))
#ifdef LAP_BIT
#define stamp(p)    (1 - ((p) / N) % 2)
#elif defined(WRAP)
#define stamp(p)    ((p) % WRAP)
#else
#define stamp(p)    (p)
#endif
#define word_of(p, lines) (stamp(p) * 4 + (lines))
#define is_there(w, p)    ((w) / 4 == stamp(p))

/* In memory. */
byte word[SENDERS * LINES], payload[SENDERS * LINES];
byte published[SENDERS] = START;
byte newest, older[SENDERS];        /* number of a ring plus 1 */
bool asleep;
byte calls;                         /* the futex on which the receiver sleeps */
#if defined(QUESTION) || defined(AWAIT_TAKEN)
#define COUNTS
byte sent[SENDERS], taken[SENDERS];
#endif

/* Ghosts. */
bool unread[SENDERS * LINES], freed[2 * SENDERS];
byte handled[SENDERS];
#ifdef QUESTION
byte arrived[SENDERS];
bool was_quiet;
#endif
#ifdef MOVES
bool moved, retired;
#endif

mtype = { WRITE_LINES, WRITE_WORD, WRITE_SENT, WRITE_PUBLISHED, WRITE_TAKEN, WRITE_ASLEEP };
/* Store buffers. Of a sender: two lines, what is written into them, a word; of the receiver: a ring, a value. */
chan buffer[SENDERS] = [5] of { mtype, byte, byte, byte, byte };
chan own = [3] of { mtype, byte, byte };

inline apply(r) {
  if
  :: op == WRITE_LINES ->
     assert(!freed[segment_of(l)]);
     payload[l] = v; payload[k] = v;
     if
     :: k != l ->
#ifdef KEEP_WORD
        skip
#else
        word[k] = w
#endif
     :: else
     fi
#if defined(COUNTS) && !defined(SENT_LATE)
     ; if :: v < JUMP_PAYLOAD -> sent[r]++ :: else fi
#endif
  :: op == WRITE_WORD ->
     assert(!freed[segment_of(l)]);
     word[l] = w
#ifdef QUESTION
     ; if :: w % 4 != JUMP -> arrived[r]++ :: else fi
#endif
#ifdef SENT_LATE
  :: op == WRITE_SENT -> sent[r]++
#endif
  fi
}
inline apply_own() {
  if
  :: op == WRITE_PUBLISHED -> published[l] = v
#ifdef COUNTS
  :: op == WRITE_TAKEN -> taken[l]++
#endif
  :: op == WRITE_ASLEEP -> asleep = v
  fi
}
#define FORGET op = 0; l = 0; k = 0; v = 0; w = 0

/* Store buffers drain at any time. */
active proctype buffers() {
  mtype op; byte l, k, v, w;
end:
  do
  :: atomic { buffer[0] ? op, l, k, v, w -> apply(0); FORGET }
#if SENDERS > 1
  :: atomic { buffer[1] ? op, l, k, v, w -> apply(1); FORGET }
#endif
  :: atomic { own ? op, l, v -> apply_own(); FORGET }
  od
}

inline drain_all(r) {
  atomic {
    do
    :: nempty(buffer[r]) -> buffer[r] ? op, l, k, v, w; apply(r)
    :: empty(buffer[r]) -> break
    od;
    FORGET
  }
}

inline heavy_fence() {
  empty(own);
#ifndef NO_HEAVY_FENCE
  drain_all(0);
#if SENDERS > 1
  drain_all(1)
#endif
#else
  skip
#endif
}

/* Sets `w` to the word of the next line. */
inline read_word(r) {
  d_step { assert(!freed[2 * r + segment[r]]); w = word[at(r, segment[r], next[r])] }
}

inline adopt_rings() {
  atomic {
    if
    :: newest != known ->
       l = newest; k = known; known = newest;
       do
       :: l != k -> has[l - 1] = true;
#ifdef TAKE_NEWEST
          break
#else
          l = older[l - 1]
#endif
       :: else -> break
       od;
       l = 0; k = 0
    :: else
    fi
  }
}

inline check_line(r, p) {
  d_step { assert(!freed[2 * r + segment[r]]); l = at(r, segment[r], p); assert(payload[l] == handled[r] + 1); l = 0 }
}

/* Takes all messages of a ring. */
inline take_messages(r) {
  do
  :: read_word(r);
     if
     :: !is_there(w, next[r]) -> w = 0; break
     :: is_there(w, next[r]) && w % 4 == JUMP ->
        d_step {
          assert(payload[at(r, segment[r], next[r])] == JUMP_PAYLOAD);
          unread[at(r, segment[r], next[r])] = false;
#ifndef RETURNS
          freed[2 * r] = true;
#endif
          segment[r] = 1 - segment[r]; next[r]++; w = 0
        }
     :: else ->
        d_step { w = w % 4; assert(handled[r] < MESSAGES) };
#ifdef PUBLISH_FIRST
        own ! WRITE_PUBLISHED, r, next[r] + w;
#endif
        check_line(r, next[r]);
        if :: w == 2 -> check_line(r, next[r] + 1) :: else fi;
        d_step {
          unread[at(r, segment[r], next[r])] = false;
          if :: w == 2 -> unread[at(r, segment[r], next[r] + 1)] = false :: else fi;
          next[r] = next[r] + w; handled[r]++;
#ifdef QUESTION
          if :: handled[r] == arrived[r] -> was_quiet = true :: else fi;
#endif
#ifdef MOVES
#ifdef RETIRES
          assert(!retired);
          if :: r == 1 -> is_last = true :: else fi;
#else
          assert(r == 0 || handled[0] == MESSAGES);
#endif
#endif
          found = true; w = 0
        };
#ifdef COUNTS
        own ! WRITE_TAKEN, r, 0;
#endif
#ifndef PUBLISH_FIRST
        if
        :: next[r] - told[r] >= QUARTER -> atomic { own ! WRITE_PUBLISHED, r, next[r]; told[r] = next[r] }
        :: else
        fi
#endif
     fi
  od;
#if !defined(LAZY) && !defined(PUBLISH_FIRST)
  if
  :: next[r] != told[r] -> atomic { own ! WRITE_PUBLISHED, r, next[r]; told[r] = next[r] }
  :: else
  fi
#endif
}

inline see_message(r) {
  if
  :: has[r] ->
     read_word(r);
     d_step {
       if
#ifdef JUMP_UNSEEN
       :: is_there(w, next[r]) && w % 4 != JUMP
#else
       :: is_there(w, next[r])
#endif
          -> found = true
       :: else
       fi;
       w = 0
     }
  :: else
  fi
}

active proctype receiver() {
  mtype op; byte l, k, v, w;
  byte known, key;
  bool has[SENDERS], segment[SENDERS];
  byte next[SENDERS] = START, told[SENDERS] = START;
  bool found;
#ifdef RETIRES
  bool is_last, looks_last;
#endif
look:
  adopt_rings();
rings:
  if :: has[0] -> take_messages(0) :: else fi;
#if SENDERS > 1
  if :: has[1] -> take_messages(1) :: else fi;
#endif
#ifdef RETIRES
  atomic {
    if
    :: is_last && !looks_last -> looks_last = true;
#ifdef RINGS_ONLY
       goto rings
#else
       goto look
#endif
    :: looks_last -> retired = true; is_last = false; looks_last = false
    :: else
    fi
  };
#endif
  if :: found -> found = false; goto look :: else fi;

  own ! WRITE_ASLEEP, 0, true;
  heavy_fence();
again:
  key = calls;
#ifndef NO_RECHECK
#ifndef LIST_UNSEEN
  if :: newest != known -> found = true :: else fi;
#endif
  see_message(0);
#if SENDERS > 1
  see_message(1);
#endif
#endif
  if
  :: found -> found = false
  :: else ->
end_asleep:
     atomic { calls != key -> key = 0; goto again }
  fi;
  key = 0;
  own ! WRITE_ASLEEP, 0, false;
  goto look
}

inline write_lines(text, lines) {
  atomic {
    nfull(buffer[me]);
    d_step {
      l = at(me, segment, head); k = at(me, segment, head + lines - 1);
      assert(!unread[l] && !unread[k]);
      unread[l] = true; unread[k] = true;
#ifdef UNSTAMPED
      w = word_of(head + lines - 1 + N, 1)
#else
      w = word_of(head + lines - 1, 0)
#endif
    };
    buffer[me] ! WRITE_LINES, l, k, text, w;
    d_step { l = 0; k = 0; w = 0 }
  }
}
inline write_word(bytes) {
  atomic { nfull(buffer[me]); l = at(me, segment, head); buffer[me] ! WRITE_WORD, l, 0, 0, word_of(head, bytes); l = 0 }
}

#ifdef RETURNS
#define leave(s)     left[s] = head
#ifdef RETURN_EARLY
#define may_enter(s) (published[me] >= left[s] || s == 0)
#elif defined(REGROW_EARLY)
#define may_enter(s) (published[me] >= left[s] || s == 1)
#else
#define may_enter(s) (published[me] >= left[s])
#endif
#else
#define leave(s)     skip
#define may_enter(s) true
#endif
/* Goes on in the other segment, which is empty. */
inline jump() {
  write_lines(JUMP_PAYLOAD, 1);
  write_word(JUMP);
  atomic { head++; floor = head; leave(segment); segment = 1 - segment }
}

inline wake() {
  atomic { empty(buffer[me]) -> calls++ }
}

proctype sender(byte me) {
  byte l, k, w;
  byte seen, head = START, floor = START, lines, m;
#ifdef RETURNS
  byte left[2];                     /* number of the line behind the jump out of a segment */
#endif
  bool segment, is_open, saw;
  do
  :: seen = newest;
     atomic {
       if
       :: empty(buffer[me]) && newest == seen -> older[me] = seen; newest = me + 1; is_open = true
       :: newest != seen
       fi;
       seen = 0
     };
     if :: is_open -> break :: else fi
  od;
#ifdef MOVES
  if :: me == 1 -> moved :: else fi;
#ifdef AWAIT_TAKEN
  if :: me == 1 -> taken[0] == sent[0] :: else fi;
#endif
#endif
  do
  :: m < MESSAGES ->
     d_step { m++ };
     if :: lines = 1 :: lines = 2 fi;
     do
     :: head + lines - floor <= (segment -> GROWN : N) - SPARE -> break
     :: else ->
        if
        :: atomic { published[me] > floor -> floor = published[me] }
#ifdef GROWS
        :: !segment && may_enter(1) ->
           jump();
#ifdef UNCLEARED
           word[at(me, 1, head)] = word_of(head, 1);
#endif
#ifdef TOUCH_OLD
           assert(!freed[2 * me])
#endif
#endif
        fi
     od;
#ifdef RETURNS
     if
     :: segment && may_enter(0) -> jump()
     :: true
     fi;
#endif
#ifdef ASLEEP_FIRST
     saw = asleep;
#endif
#ifdef WORD_FIRST
     write_word(lines);
     write_lines(m, lines);
#else
     write_lines(m, lines);
     write_word(lines);
#endif
#ifdef SENT_LATE
     buffer[me] ! WRITE_SENT, 0, 0, 0, 0;
#endif
     d_step { head = head + lines; lines = 0 };
#ifndef ASLEEP_FIRST
     saw = asleep;
#endif
     if :: saw -> saw = false; wake() :: else fi
  :: else -> break
  od;
#ifdef MOVES
  if :: me == 0 -> atomic { empty(buffer[0]) -> moved = true } :: else fi
#endif
}

#ifdef QUESTION
/* Asks for each ring apart. */
active proctype asker() {
  byte r, was_taken, was_sent;
  if :: r = 0
#if SENDERS > 1
     :: r = 1
#endif
  fi;
#ifdef SENT_READ_FIRST
  d_step { was_quiet = (arrived[r] == handled[r]); was_sent = sent[r] };
  was_taken = taken[r];
#else
  d_step { was_quiet = (arrived[r] == handled[r]); was_taken = taken[r] };
  was_sent = sent[r];
#endif
  assert(was_taken != was_sent || was_quiet)
}
#endif

init {
  byte r;
  atomic { for (r : 0 .. SENDERS - 1) { run sender(r) } };
end:
  timeout;
  for (r : 0 .. SENDERS - 1) {
    assert(handled[r] == MESSAGES);
#ifdef COUNTS
    assert(taken[r] == MESSAGES && sent[r] == MESSAGES)
#endif
  }
}
