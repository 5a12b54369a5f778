/* SPDX-License-Identifier: Apache-2.0
 * How workers fall asleep and are woken (the scheduler's idle protocol).
 *
 * One word holds two counts that change together by compare-and-swap:
 *   sleepers   workers registered to sleep for which no wake-up has been issued yet
 *   searching  workers looking for work, including those to which a wake-up is on its way
 * and a semaphore `permits` on which sleepers block. `registered` counts workers from before they enter
 * `sleepers` until after they have left it: owners read it, not the word, to know whether to stay armed.
 *   wake one:  (sleepers > 0, and searching == 0 or searching < busy) -> (sleepers - 1, searching + 1);
 *              permits++; busy are those that neither sleep nor search
 *   to sleep:  registered + 1; (searching - 1, sleepers + 1); arm all deques; heavy fence; look everywhere again;
 *              found something: (sleepers > 0) -> (sleepers - 1, searching + 1), search;
 *              where sleepers == 0 a wake-up meant for this worker is under way: take the permit;
 *              found nothing: wait for a permit
 *   found:     searching - 1; if one may be woken: look everywhere, and wake one or two if there is work
 *   push:      store top; light fence; load limit; if armed: fence, then wake one
 * While workers are registered, a deque is armed or guarded. Guarded means that it has a private task which was in
 * memory before: pushes on top of it are not announced, and the pop of it arms the deque again. Thieves take
 * shared tasks without the owner; a private one only after the owner's answer or a heavy fence (force), both of
 * which bring later pushes to memory.
 *
 * Each owner's stores of `top` wait in its store buffer; locked instructions and heavy fences drain it.
 * Checked when nothing can move any more: no task is visible while a worker sleeps (so no wake-up
 * is lost, and k tasks have min(k, workers) workers awake); always: no more wake-ups are under way than workers
 * are busy, one at least (no herd), counts stay in range.
 *
 * Faults and variants for the checker, each of which it must refute:
 *  -DNO_HEAVY_FENCE  sleepers look again without draining the owners' store buffers
 *  -DNO_RECHECK      sleepers do not look again
 *  -DLATE_LEAVE      a searcher leaves `searching` after its second look instead of before
 *  -DUNCOUNTED       a sleeper whose second look finds work does not count as searching again
 *  -DNO_HANDOVER     the last searcher that finds work does not wake the next
 *  -DEPOCH           sleepers wait for the epoch of an event count to change, one wake for all in the
 *                    window, and leave the count themselves
 *  -DREGISTER_LATE   `registered` is raised after the deques were armed
 *  -DUNGUARDED       the pop of the task that guards a deque does not arm it
 *  -DFORCE_UNARMED   a thief takes that task by force and does not arm the deque
 *  -DFORCE_UNFENCED  a thief takes that task by force and the pushes on top of it stay in the store buffer
 *  -DSHARE_UNARMED   a strand shares all its tasks, goes on, and its deque is not armed
 *  -DTOP_FIRST       the last searcher reads the top of a deque before its tail: what is stolen in between
 *                    hides a task that was pushed
 *
 * With -DPOLICY a power policy keeps few workers awake: it may prevent a wake-up, unless all sleep; and a worker
 * that looks for work may sleep without a look, unless the others sleep already. Then the first check becomes:
 * no task is visible while all workers sleep. One task comes from outside, from a thread that is not a worker. Faults:
 *  -DWAKE_NOBODY     the policy's answer counts even if all sleep
 *  -DREST_ALL        a worker rests even if all others sleep
 *
 * With -DCALLS a working worker may also leave one message, for worker 1 alone, and then
 *   call:      light fence; if `napping` of worker 1: calls++, wake worker 1 in the kernel
 * `napping` is raised before the heavy fence of falling asleep. `permits` and `calls` are one word in the
 * kernel: a sleeper waits while neither has changed since it looked for its message, and one that finds it
 * leaves the count as above. No worker may sleep while it has a message. Faults:
 *  -DNO_CALL         the message is left, and the worker is not called
 *  -DNO_LETTER_LOOK  a called worker does not look for its message, as if the call were a permit for any worker
 *  -DKEY_LATE        a sleeper reads the word after it looked
 *  -DWAIT_FOR_PERMIT a called worker that finds `sleepers` at 0 waits for a permit, which another may take */
#ifndef N
#define N 3
#endif
#ifndef TASKS
#define TASKS 3
#endif

#ifndef MAKERS
#define MAKERS N      /* only workers below make tasks */
#endif

#ifdef POLICY
#define ENOUGH N
#else
#define ENOUGH 1
#endif

byte shared[N];     /* tasks in each deque that thieves may take */
byte visible[N];    /* private tasks, in memory */
byte pending[N];    /* private tasks whose pushes are still in the owner's store buffer */
bool armed[N], guarded[N];
byte stolen[N];     /* the tail of each deque */
byte sleepers, searching = N - 1, registered, permits, epoch;
byte to_make = TASKS;
byte asleep;
byte under_way;     /* ghost: wake-ups not yet consumed */
#ifdef CALLS
bit letters_left = 1, letter_pending, letter;
bool napping;       /* worker 1 */
byte calls;
bool one_naps;      /* ghost: worker 1 waits in the kernel */
#endif

active proctype drain() {
end:
  do
  :: atomic { pending[0] > 0 -> pending[0]--; visible[0]++ }
  :: atomic { pending[1] > 0 -> pending[1]--; visible[1]++ }
#if N > 2
  :: atomic { pending[2] > 0 -> pending[2]--; visible[2]++ }
#endif
#if N > 3
  :: atomic { pending[3] > 0 -> pending[3]--; visible[3]++ }
#endif
#ifdef CALLS
  :: atomic { letter_pending == 1 -> letter_pending = 0; letter = 1 }
#endif
  od
}

#define FLUSH(i) visible[i] = visible[i] + pending[i]; pending[i] = 0
#ifdef CALLS
#define FLUSH_LETTER letter = letter | letter_pending; letter_pending = 0
#else
#define FLUSH_LETTER skip
#endif

inline wake_one() {
#ifdef EPOCH
  atomic {
    if
    :: sleepers > 0 && searching == 0 -> searching = 1; claimed = true
    :: else
    fi
  };
  if
  :: claimed -> atomic { epoch = (epoch + 1) % 8; under_way++; claimed = false }
  :: else
  fi
#else
  atomic {
    if
    :: sleepers > 0 && (searching == 0 || searching < N - sleepers - searching) ->
       sleepers--; searching++; claimed = true; under_way++;
       assert(under_way == 1 || under_way <= N - sleepers - searching)
#ifdef WAKE_NOBODY
    :: true
#elif defined(POLICY)
    :: sleepers < N
#endif
    :: else
    fi
  };
  if
  :: claimed -> permits++; claimed = false
  :: else
  fi
#endif
}

#ifdef TOP_FIRST
#define FIRST(of)  shared[of] + visible[of] + stolen[of]
#define SECOND(of) (read > stolen[of])
#else
#define FIRST(of)  stolen[of]
#define SECOND(of) (shared[of] + visible[of] + stolen[of] > read)
#endif

inline look() {
  i = 0; found = false;
  do
  :: i < MAKERS ->
     read = FIRST(i);
     found = SECOND(i);
     if :: found -> break :: else -> i++ fi
  :: i == MAKERS -> break
  od;
  atomic { i = 0; read = 0 }
}

inline arm_all() {
  i = 0;
  do
  :: i < MAKERS -> armed[i] = true; i++
  :: i == MAKERS -> break
  od;
  i = 0
}

inline heavy_fence() {
#ifdef NO_HEAVY_FENCE
  skip
#else
  atomic {
    FLUSH(0); FLUSH(1);
#if N > 2
    FLUSH(2);
#endif
#if N > 3
    FLUSH(3);
#endif
    FLUSH_LETTER
  }
#endif
}

/* The end of each slow path of an owner, under the lock that arm() takes. */
#ifdef POLICY
#define SETTLE(of) armed[of] = (registered > 0)
#else
#define SETTLE(of) guarded[of] = (registered > 0 && visible[of] > 0); armed[of] = (registered > 0 && !guarded[of])
#endif

inline push(me) {
  atomic { to_make > 0 && me < MAKERS -> to_make--; pending[me]++ };
  if
  :: armed[me] ->
     /* The slow path: its locked instructions drain the buffer. */
     atomic {
       FLUSH(me);
       if :: shared[me] == 0 && visible[me] > 0 -> visible[me]--; shared[me]++ :: else fi;
       SETTLE(me)
     };
     if
     :: registered > 0 -> wake_one()
     :: else
     fi
  :: else
  fi
}

/* The owner takes its newest task. */
inline pop(me) {
  atomic {
    if
    :: pending[me] > 0 -> pending[me]--
    :: pending[me] == 0 && visible[me] > 0 ->
       visible[me]--;
       if
       :: guarded[me] && visible[me] == 0 ->
          guarded[me] = false;
#ifndef UNGUARDED
          armed[me] = (registered > 0)
#endif
       :: else
       fi
    :: pending[me] + visible[me] == 0 && shared[me] > 0 -> shared[me]--; SETTLE(me)
    fi
  }
}

/* A thief takes the oldest task of deque `from`, if there is one. */
inline steal(from) {
  atomic {
    if
    :: shared[from] > 0 -> shared[from]--; stolen[from]++; found = true
    :: shared[from] == 0 && visible[from] > 0 ->
       if
       :: FLUSH(from); visible[from]--; SETTLE(from)            /* the owner answers */
       ::                                                       /* force */
#ifndef FORCE_UNFENCED
          FLUSH(from);
#endif
          visible[from]--;
          guarded[from] = false;
#ifndef FORCE_UNARMED
          armed[from] = true
#endif
       fi;
       stolen[from]++;
       found = true
    :: else
    fi
  }
}

#ifdef POLICY
active proctype outside() {
  bool claimed;
  atomic { visible[0]++ };                 /* the inbox, under its lock: no buffer */
  if
  :: registered > 0 -> wake_one()
  :: else
  fi
}
#endif

proctype worker(byte me; bool running) {
  byte i, key, read;
  bool found, claimed, last;
#ifdef POLICY
  bool rests;
#endif
  if :: running -> goto work :: else -> goto search fi;

work:                                      /* a task: makes others, ends, or runs for ever */
  do
  :: push(me)
#ifdef CALLS
  :: atomic { me != 1 && letters_left > 0 -> letters_left = 0; letter_pending = 1 };
#ifndef NO_CALL
     if
     :: napping -> atomic { FLUSH_LETTER; calls++ }   /* a locked instruction */
     :: else
     fi
#endif
#endif
  :: goto forever
  :: pop(me)                               /* ends; next its own newest */
#ifndef POLICY
  :: atomic { pending[me] + visible[me] > 0 ->   /* is suspended, and goes on without another stack */
              FLUSH(me); shared[me] = shared[me] + visible[me]; visible[me] = 0; guarded[me] = false;
#ifndef SHARE_UNARMED
              armed[me] = true
#endif
     }
#endif
  :: pending[me] + visible[me] + shared[me] == 0 ->
     i = 0;                                /* the first look, before it counts as searching */
     do
     :: i < MAKERS -> steal(i);
        if :: found -> break :: else -> i++ fi
     :: i == MAKERS -> break
     od;
     i = 0;
     if
     :: found -> found = false
     :: else -> atomic { searching++; goto search }
     fi
  od;

search:                                    /* counted in `searching` */
#ifdef POLICY
  if
  :: registered++;
     atomic {
       if
#ifdef REST_ALL
       :: true ->
#else
       :: sleepers < N - 1 ->
#endif
          assert(searching > 0); searching--; sleepers++; rests = true; goto registered_to_rest
       :: else -> registered--
       fi
     }
  :: true
  fi;
#endif
#ifdef CALLS
  atomic {
    if
    :: me == 1 -> napping = false; letter = 0   /* handled like a task that it finds */
    :: else
    fi
  };
#endif
  i = 0; found = false;
  do
  :: i < MAKERS -> steal(i);
     if :: found -> break :: else -> i++ fi
  :: i == MAKERS -> break
  od;
  i = 0;
  if
  :: found ->
     atomic {
       assert(searching > 0);
       searching--;
       last = (sleepers > 0 && (searching == 0 || searching < N - sleepers - searching))
     };
#ifndef NO_HANDOVER
     if
     :: last ->
        look();
        if
        :: found ->
           wake_one();
           if
           :: wake_one()
           :: true
           fi
        :: else
        fi
     :: else
     fi;
#endif
     last = false;
     goto work
  :: else
  fi;

to_sleep:
#ifndef REGISTER_LATE
  registered++;
#endif
#ifdef LATE_LEAVE
  atomic { sleepers++ };
#else
  atomic { assert(searching > 0); searching--; sleepers++ };
#endif
#ifdef EPOCH
  key = epoch;
#endif
#ifdef POLICY
registered_to_rest:
#endif
#ifdef CALLS
  if :: me == 1 -> napping = true :: else fi;
#endif
  arm_all();
#ifdef REGISTER_LATE
  registered++;
#endif
  heavy_fence();
#ifndef NO_RECHECK
#ifdef POLICY
  if
  :: rests -> rests = false; found = false
  :: else -> look()
  fi;
#else
  look();
#endif
#endif
#ifdef LATE_LEAVE
  atomic { assert(searching > 0); searching-- };
#endif
#ifdef EPOCH
  if
  :: found -> atomic { sleepers--; searching++; registered-- }; goto search
  :: else ->
     atomic { asleep++ };
end_asleep:
     atomic { epoch != key -> asleep--; sleepers--; key = 0;
              if :: under_way > 0 -> under_way-- :: else fi };
     registered--;
     goto search                           /* the waker has already counted it */
  fi;
#else
  if
  :: found ->
     atomic {
       if
       :: sleepers > 0 -> sleepers--;
#ifdef UNCOUNTED
          found = false;
          registered--;
          if
          :: shared[0] > 0 -> shared[0]--; goto work
          :: shared[1] > 0 -> shared[1]--; goto work
#if N > 2
          :: shared[2] > 0 -> shared[2]--; goto work
#endif
          :: else -> searching++; goto search
          fi
#else
          searching++; found = false; goto left
#endif
       :: else -> found = false            /* a wake-up for me is under way */
       fi
     }
  :: else
  fi;
#ifdef CALLS
  if :: me == 1 -> goto called :: else fi;
#endif
  atomic { asleep++ };
end_asleep:
  atomic { permits > 0 -> permits--; asleep--; assert(under_way > 0); under_way-- };
#ifdef CALLS
  goto left;
called:
#ifdef KEY_LATE
  found = (letter == 1);
  key = calls;
#else
  key = calls;                             /* with `permits`, of which none was there */
#ifdef NO_LETTER_LOOK
  found = false;
#else
  found = (letter == 1);
#endif
#endif
  if
  :: found -> found = false;
#ifdef WAIT_FOR_PERMIT
     atomic { if :: sleepers > 0 -> sleepers--; searching++; goto left :: else fi }
#else
     atomic {                              /* looks at both again and again */
       if
       :: sleepers > 0 -> sleepers--; searching++
       :: permits > 0 -> permits--; assert(under_way > 0); under_way--
       fi;
       goto left
     }
#endif
  :: else
  fi;
  atomic { asleep++; one_naps = true };
end_called:
  if
  :: atomic { permits > 0 -> permits--; asleep--; one_naps = false; assert(under_way > 0); under_way-- }
  :: atomic { calls != key -> asleep--; one_naps = false; goto called }
  fi;
#endif
left:
  registered--;
  goto search;
#endif

forever:
end:
  false
}

init {
  atomic {
    run worker(0, true);
    run worker(1, false);
#if N > 2
    run worker(2, false);
#endif
#if N > 3
    run worker(3, false)
#endif
  };
end:
  atomic {
    timeout ->
#ifdef CALLS
    assert(!one_naps || letter + letter_pending == 0);
#endif
    assert(asleep < ENOUGH || shared[0] + visible[0] + shared[1] + visible[1]
#if N > 2
           + shared[2] + visible[2]
#endif
#if N > 3
           + shared[3] + visible[3]
#endif
           == 0)
  }
}
