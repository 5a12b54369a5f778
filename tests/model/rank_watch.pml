/* SPDX-License-Identifier: Apache-2.0
 * The watch between the ranks of an MPI run (backends/mpi/src/watch): three ranks that have joined, each with a
 * watcher. That of rank 0 is the server, the others are followers; rank 1 is the deputy.
 *
 *   rank:     enters the barrier; passes it when all have entered; says `bye`; waits until its watcher is gone. It asks
 *             if it has an error, of its own (FAILS in all) or of MPI, if another rank has ended; of MPI it may also
 *             abort. Its lifeline closes at its end, after others may have had the error of MPI. With -DEXECS one rank
 *             becomes another program
 *   user:     kills KILLS ranks; with -DLOSS also rank 0, or rank 2 if it does not ask, with its watcher, before its
 *             `bye`
 *   launcher: after a rank that ended without `bye`, ends all others by a signal that they note, or none
 *   follower: forwards what its rank says, ends after `bye`; after `end` kills its rank; says `gone` after the end of
 *             its rank; writes the line of its rank once that is granted; if the server is lost, kills its rank, and
 *             writes a line if it is the deputy
 *   server:   handles what has become ready in this order. Suspects a rank whose lifeline or watcher's connection is
 *             closed, or whose watcher says `gone`; `bye` clears it. Reports the first suspect when its watcher has
 *             confirmed its end; if that one has aborted, a later one that ended without a word, or after a limit
 *             itself. Without suspects grants the first error of a rank's own, or, after a limit, of MPI.
 *             Ends when rank 0 has said `bye` and all followers are gone
 *
 * Messages of followers take any time to arrive; `bye` may arrive after the lifeline is closed. A handler is one step.
 * The limits of the server (300 ms, 1 s, 1.5 s) expire when the watch has nothing else to do, whatever ranks, user and
 * launcher do; with -DFREE at any time. A rank killed after its `bye` ends in order and disturbs no other.
 *
 * Checked: at most one line is written; exactly one if a rank was killed before its `bye`, or failed; none otherwise.
 * It names a rank that was killed or failed by itself, of those that were killed the first (without FREE).
 * No rank and no watcher waits for ever, hence every question is answered, or its rank ended. If the server is lost,
 * the line may be missing if the deputy's rank has said `bye`.
 *
 * Faults, each of which the checker must find:
 *  -DDISMISS         rank 0's `bye` dismisses all watchers at once
 *  -DFRONT_GRANTED   the first error is granted, be it of MPI, when a rank has one of its own
 *  -DCLEARED_GRANTS  when `bye` has cleared the last suspect, an error of MPI is granted before its limit
 *  -DRANK_WRITES     a rank writes its line itself, and may be killed before
 *  -DKEEP_DEPUTY     (LOSS) after a grant there still is a deputy
 *  -DENDED_DEPUTY    (LOSS) the deputy writes nothing after the end of its own rank
 *  -DDEPUTY_TOO      (LOSS) the deputy writes a line at `end`, too
 *  -DEXIT_UNSETTLED  (LOSS) the server ends when all followers are gone, with a suspect not yet reported
 *  -DGRANT_ALL       all that ask may write
 *  -DNO_CLEAR        `bye` does not clear a suspect
 *  -DUNCONFIRMED     a suspect is reported at once
 *  -DNO_WAIT         an error of MPI is granted at once
 *  -DUNORDERED       the server handles what is ready in any order
 *  -DEND_UNTOLD      the server tells nobody `end`
 *  -DASKER_KEPT      a follower does not end a rank that waits for an answer
 *  -DNO_LAST_LIMIT   what remains after a grant is not ended
 *  -DNO_LIMIT        (EXECS) an unconfirmed suspect stays one
 *  -DABORT_NAMED     the first suspect is named though it has aborted
 *  -DABORT_AT_ONCE   without a later one yet, the first suspect is named though it has aborted
 *  -DNOTED_CAUSE     a later one that the launcher has ended counts as the cause */
#ifndef KILLS
#define KILLS 1
#endif
#ifndef FAILS
#define FAILS 1
#endif
#ifdef EXECS
#define EXECUTIONS 1
#else
#define EXECUTIONS 0
#endif

mtype = { RUNS, IN_BARRIER, LEAVES, ASKS, DENIED, ABORTS, EXECUTES, DIES, ENDED, LEFT,       /* states of a rank */
          bye, failed, failed_by_mpi, gone, closed, grant, deny, end_run, no_deputy, dismiss, /* messages */
          WATCHING, REPORTED, ENDING };                                                   /* states of the server */

mtype rank_state[3] = RUNS;
bool is_gone[3];                         /* watchers that have ended */
chan control[3] = [1] of { mtype };      /* rank to its watcher */
chan answers[3] = [1] of { mtype };
chan up[3] = [6] of { mtype };           /* follower to server */
chan down[3] = [6] of { mtype };
bool end_seen[3];                        /* a follower knows that its rank has ended */
bool is_deputy[3];
byte entered;
byte kills = KILLS, fails = FAILS, executions = EXECUTIONS;

/* Of the server: ranks whose lifelines were closed; that of rank 0 is the connection with it, with messages. */
chan ready = [3] of { byte };
bool is_listed[3];
mtype phase = WATCHING;
bool is_open[3], has_left[3], has_ended[3], has_asked[3];
byte suspects[3], suspected;
byte front = 3;                          /* the rank whose error is granted */
bool is_own;                             /* the error is not of MPI */

/* Ghosts. */
bool aborted[3], ended_by_launcher[3];  /* as noted for the watcher */
bool said_bye[3], culprit[3], is_broken, is_wordless, is_lost, is_ended;
byte lines, first = 3;

#define is_unnoted(r) (!aborted[r] && !ended_by_launcher[r])
#define lives(r)   (rank_state[r] != DIES && rank_state[r] != ENDED && rank_state[r] != LEFT)
#define stays(r)   (rank_state[r] != DIES && rank_state[r] != ABORTS && empty(answers[r]) && \
                    (rank_state[r] != LEAVES || !is_gone[r]))
#define idle(r)    (is_gone[r] || (empty(down[r]) && empty(control[r]) && (rank_state[r] != ENDED || end_seen[r])))
#ifdef FREE
#define EXPIRES true
#else
#define EXPIRES (empty(ready) && empty(up[1]) && empty(up[2]) && idle(1) && idle(2) && \
                 stays(0) && stays(1) && stays(2))
#endif

inline list(s) {
  if
  :: !is_listed[s] && !is_gone[0] && phase != ENDING -> is_listed[s] = true; ready ! s
  :: else
  fi
}

inline write_line(r) {
  assert(lines == 0 && !said_bye[r]);
#ifndef FREE
  assert(culprit[r]);
#endif
  lines++
}

/* The rank has ended, or executes another program. */
inline close_lifeline(r) {
  if
  :: !said_bye[r] && rank_state[r] != EXECUTES ->
     is_ended = true;
     if
     :: first == 3 && is_unnoted(r) -> first = r
     :: else
     fi
  :: else
  fi;
  list(r)
}

inline end_rank(r) {
  if
  :: rank_state[r] != ENDED && rank_state[r] != LEFT ->
     if
     :: rank_state[r] == EXECUTES -> rank_state[r] = ENDED
     :: else -> rank_state[r] = ENDED; close_lifeline(r)
     fi;
     do
     :: answers[r] ? _
     :: empty(answers[r]) -> break
     od
  :: else
  fi
}

inline say(r, k) {
  control[r] ! k;
  if :: r == 0 -> list(0) :: else fi
}

inline ask(r, k) {
  if :: !said_bye[r] -> is_wordless = true :: else fi;
  rank_state[r] = ASKS;
  if
  :: is_gone[r] -> rank_state[r] = ABORTS; write_line(r)   /* nobody to ask */
  :: else -> say(r, k)
  fi
}

proctype rank(byte r) {
  bool is_deaf;   /* gets no error of MPI, waits for ever */
  mtype k;
  do
  :: atomic { rank_state[r] == RUNS -> rank_state[r] = IN_BARRIER; entered++ }
  :: atomic { rank_state[r] == RUNS && fails > 0 -> fails--; culprit[r] = true; ask(r, failed) }
  :: atomic { r != 0 && rank_state[r] == RUNS && executions > 0 ->
       executions--; rank_state[r] = EXECUTES; close_lifeline(r) }
  :: atomic { rank_state[r] == EXECUTES && !(has_asked[0] || has_asked[1] || has_asked[2]) ->
       rank_state[r] = ENDED; culprit[r] = true; is_wordless = true; is_broken = true }
  :: atomic { (rank_state[r] == RUNS || rank_state[r] == IN_BARRIER) && is_broken && !is_deaf ->
       if
       :: is_deaf = true
       :: ask(r, failed_by_mpi)
       :: aborted[r] = true; rank_state[r] = DIES
       fi }
  :: atomic { rank_state[r] == IN_BARRIER && entered == 3 && !is_deaf ->
       rank_state[r] = LEAVES; said_bye[r] = true; say(r, bye) }
  :: atomic { rank_state[r] == LEAVES && is_gone[r] -> rank_state[r] = LEFT; close_lifeline(r) }
  :: atomic { rank_state[r] == ASKS && nempty(answers[r]) ->
       answers[r] ? k;
       if
#ifdef RANK_WRITES
       :: k == grant -> rank_state[r] = ABORTS
#else
       :: k == grant -> rank_state[r] = DIES; is_broken = true
#endif
       :: else -> rank_state[r] = DENIED
       fi; k = 0 }
  :: atomic { rank_state[r] == ABORTS -> write_line(r); rank_state[r] = DIES; is_broken = true }
  :: atomic { rank_state[r] == DIES -> end_rank(r) }
  :: atomic { rank_state[r] == ENDED || rank_state[r] == LEFT -> is_deaf = 0; break }
  od
}

inline kill_rank(r) {
  kills--;
  if
  :: !said_bye[r] -> culprit[r] = true; is_wordless = true; is_broken = true
  :: else
  fi;
  if
  :: rank_state[r] == EXECUTES -> rank_state[r] = ENDED
  :: else -> rank_state[r] = DIES
  fi;
  do
  :: answers[r] ? _
  :: empty(answers[r]) -> break
  od
}

inline hang_up(r) {
  if :: !is_gone[r] -> down[r] ! closed :: else fi
}

inline leave_server() {
  is_gone[0] = true;
  hang_up(1);
  hang_up(2);
  do
  :: ready ? _
  :: empty(ready) -> break
  od;
  do
  :: up[1] ? _
  :: up[2] ? _
  :: empty(up[1]) && empty(up[2]) -> break
  od;
  do
  :: control[0] ? _
  :: empty(control[0]) -> break
  od;
  is_listed[0] = 0; is_listed[1] = 0; is_listed[2] = 0;
  has_left[0] = 0; has_left[1] = 0; has_left[2] = 0; has_ended[1] = 0; has_ended[2] = 0;
  has_asked[0] = 0; has_asked[1] = 0; has_asked[2] = 0; front = 3; is_own = 0;
  suspects[0] = 0; suspects[1] = 0; suspects[2] = 0; suspected = 0;
  is_open[1] = 0; is_open[2] = 0; phase = ENDING
}

inline leave_follower(r) {
  is_gone[r] = true;
  if :: !is_gone[0] -> up[r] ! closed :: else fi;
  do
  :: down[r] ? _
  :: control[r] ? _
  :: empty(down[r]) && empty(control[r]) -> break
  od;
  end_seen[r] = 0; is_deputy[r] = 0
}

active proctype user() {
  do
  :: atomic { kills > 0 && lives(0) -> kill_rank(0) }
  :: atomic { kills > 0 && lives(1) -> kill_rank(1) }
  :: atomic { kills > 0 && lives(2) -> kill_rank(2) }
  :: atomic { kills == 0 -> break }
  :: atomic { kills > 0 -> kills-- }
  od;
#ifdef LOSS
  if
  :: skip
  :: atomic { lives(0) && !said_bye[0] && !is_gone[0] ->
       culprit[0] = true; is_wordless = true; is_broken = true; is_lost = true;
       end_rank(0);
       leave_server() }
  :: atomic { lives(2) && rank_state[2] != ASKS && !said_bye[2] && !is_gone[2] ->
       culprit[2] = true; is_wordless = true; is_broken = true;
       end_rank(2);
       leave_follower(2) }
  fi
#endif
}

active proctype launcher() {
end:
  is_ended;
  if
  :: skip
  :: atomic {
       if :: lives(0) -> ended_by_launcher[0] = true; end_rank(0) :: else fi;
       if :: lives(1) -> ended_by_launcher[1] = true; end_rank(1) :: else fi;
       if :: lives(2) -> ended_by_launcher[2] = true; end_rank(2) :: else fi
     }
  fi
}

#ifdef ENDED_DEPUTY
#define stands_in(r) (!end_seen[r])
#else
#define stands_in(r) true
#endif

inline reply(r, k) {
#ifndef RANK_WRITES
  if :: k == grant -> write_line(r) :: else fi;
#endif
  if
  :: rank_state[r] == ASKS -> answers[r] ! k
  :: else
  fi
}

proctype follower(byte r) {
  mtype k;
  do
  :: atomic { nempty(down[r]) ->
       down[r] ? k;
       if
       :: k == end_run ->
#ifdef DEPUTY_TOO
          if :: is_deputy[r] -> write_line(0) :: else fi;
#endif
#ifdef ASKER_KEPT
          if :: rank_state[r] != ASKS -> end_rank(r) :: else fi;
#else
          end_rank(r);
#endif
          leave_follower(r); break
       :: k == closed ->
          if
          :: is_deputy[r] && stands_in(r) -> write_line(0)
          :: else
          fi;
          end_rank(r); leave_follower(r); break
       :: k == grant || k == deny -> reply(r, k)
       :: k == no_deputy -> is_deputy[r] = false
       :: k == dismiss -> leave_follower(r); break
       fi; k = 0 }
  :: atomic { nempty(control[r]) && !end_seen[r] ->
       control[r] ? k;
       if :: !is_gone[0] -> up[r] ! k :: else fi;
       if
       :: k == bye -> leave_follower(r); break
       :: else
       fi; k = 0 }
  :: atomic { rank_state[r] == ENDED && empty(control[r]) && !end_seen[r] && !is_gone[r] ->
       if :: !is_gone[0] -> up[r] ! gone :: else fi;
       end_seen[r] = true }
  :: atomic { is_gone[r] -> break }
  od
}

inline tell(r, k) {
  if
  :: is_open[r] && !is_gone[r] -> down[r] ! k
  :: else
  fi
}

inline tell_rank(r, k) {
  if
  :: r == 0 -> reply(0, k)
  :: else -> tell(r, k)
  fi
}

inline end_all() {
  phase = ENDING;
  do
  :: ready ? _
  :: empty(ready) -> break
  od;
#ifndef END_UNTOLD
  tell(1, end_run);
  tell(2, end_run);
#endif
  end_rank(0)
}

inline answer_asker(r) {
  if
  :: has_asked[r] ->
     if
     :: r == front -> tell_rank(r, grant)
#ifdef GRANT_ALL
     :: r != front -> tell_rank(r, grant)
#else
     :: r != front -> tell_rank(r, deny)
#endif
     fi;
     has_asked[r] = false
  :: else
  fi
}

inline answer_all() {
  answer_asker(0);
  answer_asker(1);
  answer_asker(2);
  front = 3
}

inline grant_first() {
#ifndef KEEP_DEPUTY
  tell(1, no_deputy);
#endif
  phase = REPORTED;
  answer_all()
}

#ifdef EXIT_UNSETTLED
#define is_settled true
#else
#define is_settled (phase == REPORTED || (suspected == 0 && front == 3))
#endif

inline exit_if_all_ended() {
  if
  :: !is_open[1] && !is_open[2] &&
     ((has_left[0] && is_settled) || (phase == REPORTED && rank_state[0] == ENDED)) ->
     leave_server()
  :: else
  fi
}

inline suspect(r) {
  if
  :: phase == REPORTED -> exit_if_all_ended()
  :: phase == WATCHING && !has_left[r] &&
     !(suspected > 0 && suspects[0] == r) && !(suspected > 1 && suspects[1] == r) &&
     !(suspected > 2 && suspects[2] == r) ->
     suspects[suspected] = r;
     suspected++
  :: else
  fi
}

inline weigh_error(r, own) {
  if
  :: phase == REPORTED -> tell_rank(r, deny)
  :: else ->
     has_asked[r] = true;
     if
#ifdef FRONT_GRANTED
     :: front == 3 -> front = r
#else
     :: front == 3 || (own && !is_own) -> front = r
#endif
     :: else
     fi;
     is_own = is_own || own;
     if
#ifdef NO_WAIT
     :: suspected == 0 -> grant_first()
#else
     :: suspected == 0 && own -> grant_first()
#endif
     :: else
     fi
  fi
}

inline forget_first() {
  suspects[0] = suspects[1]; suspects[1] = suspects[2]; suspects[2] = 0;
  suspected--;
  if
#ifdef CLEARED_GRANTS
  :: suspected == 0 && front != 3 -> grant_first()
#else
  :: suspected == 0 && is_own -> grant_first()
#endif
  :: else
  fi;
  exit_if_all_ended()
}

inline report(suspect_number) {
#ifndef FREE
#ifndef EXECS
  assert(suspects[suspect_number] == first);
#endif
#endif
  write_line(suspects[suspect_number]);
  front = 3;
  answer_all();
  suspects[0] = 0; suspects[1] = 0; suspects[2] = 0; suspected = 0;
  end_all()
}

#define ended(r) ((r == 0 && rank_state[0] == ENDED) || (r != 0 && (has_ended[r] || !is_open[r])))
#ifdef ABORT_NAMED
#define has_aborted(r) false
#else
#define has_aborted(r) (aborted[r] && (r == 0 || has_ended[r]))
#endif
#ifdef NOTED_CAUSE
#define may_be_cause(r) true
#else
#define may_be_cause(r) is_unnoted(r)
#endif
#define is_named(i)   (suspected > i && !has_left[suspects[i]] && ended(suspects[i]))
#define is_cause(i)   (is_named(i) && may_be_cause(suspects[i]))
#define is_no_cause(i) (suspected <= i || has_left[suspects[i]] || \
                        (ended(suspects[i]) && !may_be_cause(suspects[i])) || (!ended(suspects[i]) && EXPIRES))
#ifdef ABORT_AT_ONCE
#define IS_LATE true
#else
#define IS_LATE EXPIRES
#endif

/* Rank 0 says something, or a lifeline is closed. */
inline handle_ready() {
  is_listed[r] = false;
  if
  :: r == 0 && nempty(control[0]) ->
     control[0] ? k;
     if
     :: k == bye ->
        has_left[0] = true;
#ifdef DISMISS
        tell(1, dismiss);
        tell(2, dismiss);
        leave_server()
#else
        exit_if_all_ended()
#endif
     :: else -> weigh_error(0, k == failed)
     fi;
     if
     :: !is_gone[0] && (rank_state[0] == ENDED || rank_state[0] == LEFT) -> list(0)
     :: else
     fi
  :: r != 0 || empty(control[0]) -> suspect(r)
  fi;
  r = 0; k = 0
}

inline handle_message(r) {
  up[r] ? k;
  if
  :: k == bye ->
#ifndef NO_CLEAR
     has_left[r] = true
#endif
  :: k == gone ->
     has_ended[r] = true;
     if
     :: phase == REPORTED -> tell(r, end_run)
     :: else -> suspect(r)
     fi
  :: k == closed ->
     is_open[r] = false;
     suspect(r);
     if :: !is_gone[0] -> exit_if_all_ended() :: else fi
  :: k == failed || k == failed_by_mpi -> weigh_error(r, k == failed)
  fi;
  k = 0
}

#ifdef UNORDERED
#define IN_ORDER true
#else
#define IN_ORDER empty(ready)
#endif

proctype server() {
  byte r;
  mtype k;
  do
#ifdef UNORDERED
  :: atomic { phase != ENDING && ready ?? [0] -> ready ?? 0; r = 0; handle_ready() }
  :: atomic { phase != ENDING && ready ?? [1] -> ready ?? 1; r = 1; handle_ready() }
  :: atomic { phase != ENDING && ready ?? [2] -> ready ?? 2; r = 2; handle_ready() }
#else
  :: atomic { phase != ENDING && nempty(ready) -> ready ? r; handle_ready() }
#endif
  :: atomic { phase != ENDING && nempty(up[1]) && IN_ORDER -> handle_message(1) }
  :: atomic { phase != ENDING && nempty(up[2]) && IN_ORDER -> handle_message(2) }
  :: atomic { phase == WATCHING && suspected > 0 && has_left[suspects[0]] -> forget_first() }
#ifdef UNCONFIRMED
  :: atomic { phase == WATCHING && suspected > 0 && !has_left[suspects[0]] -> report(0) }
#else
  :: atomic { phase == WATCHING && is_named(0) && !has_aborted(suspects[0]) -> report(0) }
  :: atomic { phase == WATCHING && is_named(0) && has_aborted(suspects[0]) && is_cause(1) -> report(1) }
  :: atomic { phase == WATCHING && is_named(0) && has_aborted(suspects[0]) && is_no_cause(1) && is_cause(2) ->
       report(2) }
  :: atomic { phase == WATCHING && is_named(0) && has_aborted(suspects[0]) && is_no_cause(1) && is_no_cause(2) &&
       IS_LATE -> report(0) }
#endif
#ifndef NO_LIMIT
  :: atomic { phase == WATCHING && suspected > 0 && !has_left[suspects[0]] && !ended(suspects[0]) && EXPIRES ->
       forget_first() }
#endif
  :: atomic { phase == WATCHING && suspected == 0 && front != 3 && EXPIRES -> grant_first() }
#ifndef NO_LAST_LIMIT
  :: atomic { phase == REPORTED && EXPIRES -> end_all() }
#endif
  :: atomic { phase == ENDING && nempty(up[1]) -> up[1] ? k; is_open[1] = is_open[1] && k != closed; k = 0 }
  :: atomic { phase == ENDING && nempty(up[2]) -> up[2] ? k; is_open[2] = is_open[2] && k != closed; k = 0 }
  :: atomic { phase == ENDING && !is_gone[0] && !is_open[1] && !is_open[2] -> leave_server() }
  :: atomic { is_gone[0] -> break }
  od
}

#define is_over(r) (is_gone[r] && (rank_state[r] == ENDED || rank_state[r] == LEFT))

init {
  atomic {
    is_open[1] = true; is_open[2] = true;
    is_deputy[1] = true;
    run server();
    run follower(1); run follower(2);
    run rank(0); run rank(1); run rank(2)
  };
  atomic {
    is_over(0) && is_over(1) && is_over(2);
    if
    :: is_wordless -> assert(lines == 1 || (is_lost && said_bye[1]))
    :: else -> assert(lines == 0)
    fi
  }
}
