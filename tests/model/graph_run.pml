/* SPDX-License-Identifier: Apache-2.0
 * Runs of a graph (tasking/src/graph.cpp; tasking/README.md, "Graphs").
 *
 * The graph: S precedes P predecessors, which all precede J; J precedes the condition C, which goes back to S for
 * ROUNDS rounds. N workers take chains that are ready; a chain runs its node, then the first successor that is
 * ready, and makes chains of the others. Each predecessor may fail, which stops the run. The graph runs RUNS times.
 *
 *   end of a predecessor of J:  if J.missing is 1, it is the last; else it subtracts 1, and is the last if it was 1
 *   the last one:               J.missing = P, for the next round; then it starts J
 *   end of a run:               no chain is left; if the run was stopped: J.missing = P
 *
 * Checked: J begins when all its predecessors have ended in this round, once for each round; no node runs twice at a
 * time; a run that is not stopped runs all rounds, also after one that was.
 *
 * Faults, each of which the checker must find:
 *  -DREARM_LATE    the last predecessor starts J and makes the counter ready for the next round after it
 *  -DNO_REARM      it does not make the counter ready
 *  -DSPLIT_COUNT   the subtraction is a load and a store
 *  -DLOOK_AT_TWO   a predecessor that finds 2 takes itself for the last
 *  -DLEFT_STOPPED  the counter is left as it is when a run was stopped
 *  -DEARLY_END     a run ends when no chain is ready, although some still run */
#ifndef N
#define N 2
#endif
#ifndef P
#define P 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef RUNS
#define RUNS 2
#endif

/* Nodes: predecessors are 0 .. P - 1. */
#define S P
#define J (P + 1)
#define C (P + 2)
#define NODES (P + 3)
#define NOTHING NODES

byte missing = P;
bool stopped;
bool ready[NODES];             /* chains that no worker has taken */
byte chains;                   /* chains that are ready or run: the context's count */
byte rounds;                   /* that C is still to begin */
bool running[NODES];           /* ghost */
bool ended[P];                 /* ghost: in this round */
byte joined;                   /* ghost: runs of J in this run */
bool may_fail;

inline spawn_chain(n) { d_step { assert(!ready[n]); ready[n] = true; chains++ } }

inline begin(n) {
  atomic {
    assert(!running[n]);
    running[n] = true;
    if
    :: n == J ->
       for (k : 0 .. P - 1) { assert(ended[k]); ended[k] = false }
       joined++;
       k = 0
    :: n < P -> assert(!ended[n])
    :: else
    fi
  }
}

inline end_of(n) {
  d_step {
    running[n] = false;
    if :: n < P -> ended[n] = true :: else fi
  }
}

proctype worker() {
  byte node, next, k, seen;
idle:
end:
  atomic {
    if
    :: ready[S] -> node = S
    :: ready[J] -> node = J
    :: ready[0] -> node = 0
    :: ready[1] -> node = 1
#if P > 2
    :: ready[2] -> node = 2
#endif
    fi;
    ready[node] = false
  };
chain:
  if :: stopped -> goto chain_end :: else fi;
  next = NOTHING;
  begin(node);
  if
  :: node < P && may_fail ->
     d_step { running[node] = false; may_fail = false; stopped = true };
     goto chain_end
  :: true
  fi;
  end_of(node);
  if
  :: node == S ->
     k = P - 1;
     do
     :: k > 0 -> spawn_chain(k); k--
     :: else -> break
     od;
     next = 0
  :: node == J -> next = C
  :: node == C ->
     d_step {
       if
       :: rounds > 0 -> rounds--; next = S
       :: else
       fi
     }
  :: node < P ->
     seen = missing;
#ifdef LOOK_AT_TWO
     if :: seen <= 2 -> goto last :: else fi;
#else
     if :: seen == 1 -> goto last :: else fi;
#endif
#ifdef SPLIT_COUNT
     seen = missing;
     missing = seen - 1;
#else
     d_step { seen = missing; missing = missing - 1 };
#endif
     if :: seen != 1 -> seen = 0; goto chain_end :: else fi;
last:
     seen = 0;
#ifdef REARM_LATE
     spawn_chain(J);
     missing = P;
#else
#ifndef NO_REARM
     missing = P;
#endif
     next = J
#endif
  fi;
  if
  :: next != NOTHING -> node = next; goto chain
  :: else
  fi;
chain_end:
  atomic { node = 0; next = 0; k = 0; chains-- };
  goto idle
}

init {
  byte run_number, k;
  for (k : 1 .. N) { run worker() };
  for (run_number : 1 .. RUNS) {
    d_step { stopped = false; rounds = ROUNDS - 1; joined = 0; may_fail = run_number < RUNS };
    spawn_chain(S);
#ifdef EARLY_END
    !ready[S] && !ready[J] && !ready[0] && !ready[1];
#else
    chains == 0;
#endif
    assert(stopped || joined == ROUNDS);
    if
    :: stopped ->
#ifndef LEFT_STOPPED
       missing = P;
#endif
       atomic { for (k : 0 .. P - 1) { ended[k] = false } }
    :: else
    fi;
    assert(missing == P || stopped)
  };
  assert(joined == ROUNDS)
}
