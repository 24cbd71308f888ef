/*
 * The protocol of one update, for the model checker spin. Every transition names the function that it models; what is
 * left out, and why that is safe, is in README.md. check.ts compiles it for each scene and each bug (`scenes.pml`).
 *
 * One step is one transaction of DynamoDB, one consistent read, one event at the service, or what a process does
 * between two of them. Between any two steps everybody else may move, and a process may die.
 */
#ifndef BUG
#define BUG NONE
#endif
#include "scenes.pml"

mtype:state = { absent, awaiting, requested, running, in_doubt, settled, released, refused, cancelled, expired }
mtype:who = { no_one, sender, sweep, evidence, time, person }
mtype:found = { ran, did_not_run, unknown }
mtype:told = { silence, accepted, rejected }
mtype:known = { no, yes, unread }
mtype:post = { nothing, hold, closing }

/* ---- the table: shared/ledger ---- */

typedef Record {
  mtype:state state = absent;
  byte version;
  byte attempt;                       /* hold.attempt: the delivery that holds */
  byte day;                           /* hold.day */
  byte charged;
  mtype:who doubtBy = no_one;
  mtype:who closedBy = no_one;
  bool corrected;
  bool approved;
  mtype:known dataBefore = unread;    /* hold.datesBefore */
}
typedef Counter { short limit; short granted; short available; short held; short doubt; short spent }

#define MONTH 0
#define DAY 1
Record record[UPDATES];
Counter counter[2];                   /* the book */
byte bookDay, revision;
byte workHolder[WORKS], workRan[WORKS];  /* the work item: update + 1, and day + 1; 0 is none */
bool frozen, entry;                   /* the definitions' freeze, and the entry of a grant */

/* ---- the service, the clock, and what only the checker knows ---- */

bool inFlight[UPDATES];               /* a request for `run` may still take effect */
byte sent[UPDATES], consumed[UPDATES];
mtype:told reply[UPDATES] = silence;
bool data[WORKS];                     /* the service has data of today */
bool gone[DELIVERIES];                /* the process has ended: nothing comes from it any more */
byte today, faults = FAULTS;
bool excused;                         /* a limit was lowered or an overrun booked: available may be negative */
bool vouched[UPDATES];                /* who said "did not run" looked, and it had not */

/* A transaction that is still on its way when its sender has stopped to wait for it. */
typedef Late { mtype:post what = nothing; byte whose, me, version, holder, past, rev, day; mtype:known dates = unread; mtype:found found = unknown; mtype:state seen = absent }
Late late;

hidden byte ok;
hidden byte units, w;
hidden short diff;

/* Nothing that was sent for it can still take effect: the end of the process's life, and SERVICE_FLIGHT_MS after it. */
#define isQuiet(u) (gone[record[u].attempt] && !inFlight[u])
#define hasHold(u) (record[u].state == running || record[u].state == in_doubt || record[u].state == settled || record[u].state == released)
#define counts(u, s, w) (record[u].state == s && (w == MONTH || record[u].day == bookDay))
#define isGone(d) gone[d]
#define isFlying(u) inFlight[u]
#define isOver (EVERY_DELIVERY(isGone) && !SOME_UPDATE(isFlying) && late.what == nothing)
#define isAtRest (isOver && !SOME_UPDATE(isToSweep))
#define max(a, b) (a > b -> a : b)

/* ---- the promises ---- */

#define holds(u, w) (counts(u, running, w) -> UNITS : 0)
#define doubts(u, w) (counts(u, in_doubt, w) -> UNITS : 0)
#define charges(u, w) (counts(u, settled, w) || counts(u, released, w) -> record[u].charged : 0)
#define isOpen(u) (record[u].state == running || record[u].state == in_doubt)

#define isWordOfPerson(u) (record[u].state == released && record[u].closedBy == person && !record[u].corrected)
/* Lose nothing; and a person who looks, and keeps to the rules, does not err. */
#define isCounted(u) (!consumed[u] || isOpen(u) || record[u].charged >= UNITS || (isWordOfPerson(u) && !vouched[u]))
#define isProven(u) (record[u].closedBy != evidence || consumed[u])

inline checkCounter(w) {
  assert(counter[w].available + counter[w].held + counter[w].doubt + counter[w].spent == counter[w].limit + counter[w].granted);
  assert(counter[w].available >= 0 || excused);                /* never overspend */
  assert(counter[w].held == SUM(holds, w));                    /* no hold without its update */
  assert(counter[w].doubt == SUM(doubts, w));
  assert(counter[w].spent == SUM(charges, w))
}

inline check() {
  checkCounter(MONTH);
  checkCounter(DAY);
  assert(counter[MONTH].granted == entry);                     /* entries add up to the book */
  assert(EVERY_UPDATE(isCounted));
  assert(EVERY_UPDATE(isProven))                               /* evidence is never wrong */
}

/* The drawn edges; whatever has ended has ended. */
inline become(u, to) {
  assert(record[u].state == to -> (to == settled || to == released)
    : (to == running || to == refused || to == awaiting -> (record[u].state == absent || record[u].state == requested)
    : (to == requested -> (record[u].state == awaiting || record[u].state == absent)
    : (to == cancelled || to == expired -> (record[u].state == awaiting || record[u].state == requested)
    : (to == in_doubt -> record[u].state == running
    : (to == settled || to == released) && (record[u].state == running || record[u].state == in_doubt))))));
  record[u].state = to;
  record[u].version++
}

#define isUnchanged(u, seen) (record[u].version == seen || (BUG == RECORD_UNGUARDED && seen > 0))
#define isSeen(u, seen) (isUnchanged(u, seen) || BUG == SETTLED_UNSEEN)

/* hold.ts `record`: one item, under the version that was seen */
inline put(u, seen, to) {
  if
  :: isUnchanged(u, seen) -> become(u, to); ok = true
  :: else -> ok = false
  fi;
  check()
}

inline move(w, h, d, s) {
  counter[w].held = counter[w].held + h;
  counter[w].doubt = counter[w].doubt + d;
  counter[w].spent = counter[w].spent + s;
  counter[w].available = counter[w].available - h - d - s
}

/* An update of the same work that had to stop this one. */
#define isRival(v, u) (WORK(v) == WORK(u) && (record[v].state == running || (record[v].state == in_doubt && !(isQuiet(v) && today > record[v].day)) || (record[v].state == settled && record[v].day == today && !FORCED(u))))
#define fits(w) (counter[w].available >= UNITS || BUG == BLIND_HOLD)

/* hold.ts `hold`: book, record and work item in one transaction */
inline holdNow(u, mine, seen, by, before, rv, dy, dated) {
  if
  :: (revision == rv || BUG == STALE_REVISION) && (bookDay == dy || BUG == STALE_DAY) && fits(MONTH) && fits(DAY) &&
     isUnchanged(u, seen) && (workHolder[WORK(u)] == by || BUG == WORK_UNGUARDED) ->
     move(MONTH, UNITS, 0, 0);
     move(DAY, UNITS, 0, 0);
     become(u, running);
     record[u].attempt = mine;
     record[u].day = dy;
     record[u].dataBefore = dated;
     workHolder[WORK(u)] = u + 1;
     workRan[WORK(u)] = before;
     assert(!frozen);                                          /* what is stopped is stopped at once */
     assert(!NEEDS_APPROVAL(u) || record[u].approved);
     assert(NONE_BUT(u, isRival));                             /* never twice, for any caller */
     ok = true
  :: else -> ok = false
  fi;
  check()
}

/* outcome.ts `close`: whether an outcome changes a record as it is now */
#define isNews(u, f, by) (record[u].state == running || (record[u].state == in_doubt && f != unknown) || isCorrection(u, f, by))
#define isCorrection(u, f, by) ((record[u].state == released || (record[u].state == settled && by != evidence)) && (by == sender || by == evidence) && f != unknown && record[u].closedBy != sender && !record[u].corrected && BUG != LATE_ANSWER_DROPPED)

/* outcome.ts `closeOpen` and `correct`, settle.ts `writesFor`; `was` is the state that was seen */
inline closeNow(u, news, by, cost, was, isDayOpen) {
  d_step {
    units = (news == ran && BUG != SETTLED_AT_NOTHING -> (BUG == OVERRUN_CLIPPED && cost > UNITS -> UNITS : cost) : 0);
    if
    :: was == running || was == in_doubt ->
       diff = (BUG == RELEASED_TWICE && news == did_not_run -> -2 * UNITS : -UNITS);
       for (w : MONTH .. (isDayOpen -> DAY : MONTH)) {
         if
         :: news == unknown && BUG == DOUBT_UNCOUNTED -> move(w, diff, 0, 0)
         :: news == unknown && BUG != DOUBT_UNCOUNTED -> move(w, diff, UNITS, 0)
         :: news != unknown && was == running -> move(w, diff, 0, units)
         :: news != unknown && was == in_doubt -> move(w, 0, diff, units)
         fi
       };
       if
       :: news == unknown -> become(u, in_doubt); record[u].doubtBy = by
       :: news == ran -> become(u, settled); record[u].closedBy = by
       :: news == did_not_run -> become(u, released); record[u].closedBy = by
       fi
    :: else ->
       diff = units - record[u].charged;
       for (w : MONTH .. (isDayOpen -> DAY : MONTH)) { move(w, 0, 0, diff) };
       become(u, record[u].state);
       record[u].corrected = true
    fi;
    record[u].charged = (news == unknown -> 0 : units);
    excused = excused || units > UNITS;
    check()
  }
}

/* ---- one delivery: submit.ts, resume.ts, batch.ts, execute.ts ---- */

#if CALM
#define mayDie
#else
#define mayDie :: goto over
#endif
#define sentFor(v, key) (KEY(v) == key -> sent[v] : 0)
/* Another run of the same work, running or in flight; what a person closed too early cannot be known. */
#define isBesides(v, u) (WORK(v) == WORK(u) && (record[v].state == running || (inFlight[v] && record[v].closedBy != person)))

/* asks: a request that may create its record; else the stream's reader or the sweep, which begin what is requested */
proctype Delivery(byte u; byte me; bool asks) {
  byte version, holder, ranBefore, rev, day, cost;
  mtype:known dates = unread;
  bool isStopped, isAgreed, isDayOpen;
  mtype:found f = unknown;
  mtype:state was = absent;

look: /* views.ts `look`, the first batch */
  atomic {
    if
    :: BUG == REPLAY_RUNS && record[u].state == running -> goto fenced
    :: BUG == ADMITTED_AGAIN && (record[u].state == running || record[u].state == settled || record[u].state == released)
    :: record[u].state == requested || (record[u].state == absent && asks)
    :: record[u].state != absent && record[u].state != requested && BUG != REPLAY_RUNS && BUG != ADMITTED_AGAIN -> goto over
    mayDie
    fi;
    rev = revision;
    day = max(bookDay, today);
    isStopped = frozen || counter[MONTH].available < UNITS || (bookDay == day && counter[DAY].available < UNITS);
    version = record[u].version;
    isAgreed = record[u].approved;
    holder = workHolder[WORK(u)];
    ranBefore = workRan[WORK(u)]
  };
  atomic { /* decide.ts, on the holder that a second batch reads; quote.ts: the estimate, and dates as advice */
    if
    :: holder > 0 && record[holder - 1].state == running && BUG != RUNNING_IGNORED -> isStopped = true
    :: holder > 0 && record[holder - 1].state == in_doubt && BUG != DOUBT_IGNORED &&
       !(today > record[holder - 1].day && (isQuiet(holder - 1) || BUG == DOUBT_ENDS_EARLY)) -> isStopped = true
    :: holder > 0 && record[holder - 1].state == settled -> ranBefore = record[holder - 1].day + 1
    :: else
    fi;
    isStopped = isStopped || (ranBefore == day + 1 && !FORCED(u) && BUG != NO_COOLDOWN);
    if
    :: isStopped || (NEEDS_APPROVAL(u) && !isAgreed && BUG != APPROVAL_FORGOTTEN) ->
       d_step { put(u, version, (isStopped -> refused : awaiting)) };
       if
       :: ok -> goto over
       :: else -> goto look
       fi
    :: else
    fi;
    if
    :: DATES && dates == unread -> dates = (data[WORK(u)] -> yes : no)
    :: skip                                                    /* read before, or unreadable */
    mayDie
    fi
  };
#if DAYS
  if
  :: bookDay < day ->
     d_step { /* preparing.ts `turnDay` */
       if
       :: bookDay < day && revision == rev ->
          bookDay = day;
          counter[DAY].granted = 0; counter[DAY].held = 0; counter[DAY].doubt = 0; counter[DAY].spent = 0;
          counter[DAY].available = counter[DAY].limit
       :: else
       fi;
       check()
     }
  :: else
  fi;
#endif
  atomic { /* hold.ts `hold` */
    if
    :: BUG == RUN_BEFORE_HOLD -> goto fenced
    :: d_step { holdNow(u, me, version, holder, ranBefore, rev, day, dates) };
       if
       :: ok || BUG == NO_FENCE -> goto fenced
       :: else -> goto look                                    /* `moved` */
       fi
    :: faults > 0 -> faults--; d_step { holdNow(u, me, version, holder, ranBefore, rev, day, dates) }
    :: faults > 0 -> faults--
    :: faults > 0 && late.what == nothing ->
       d_step {
         faults--;
         late.what = hold; late.whose = u; late.me = me; late.version = version; late.holder = holder;
         late.past = ranBefore; late.rev = rev; late.day = day; late.dates = dates
       }
    fi
  };
  atomic { /* the answer was lost: dynamo-store.ts `transact` sends the same transaction again */
    if
    :: isOpen(u) && record[u].attempt == me -> goto fenced     /* its token is known */
    :: d_step { holdNow(u, me, version, holder, ranBefore, rev, day, dates) };
       if
       :: ok -> goto fenced
       :: else -> goto look
       fi
    :: skip
    fi
  };
  atomic { /* hold.ts `isOurs` */
    if
    :: BUG == LOST_IS_HELD -> goto fenced
    :: record[u].state == running && (record[u].attempt == me || BUG == FOREIGN_FENCE) -> goto fenced
    :: else -> goto over
    fi
  };

fenced: /* execute.ts `run` */
  atomic {
    version++; was = running; isDayOpen = true;
    isStopped = false; isAgreed = false; dates = unread; ranBefore = 0; holder = 0; rev = 0; day = 0;
    if
    :: f = did_not_run; goto close                             /* provably unsent; or no time left: the lease ends later */
    :: !(hasHold(u) && record[u].attempt == me && record[u].state != running) || BUG == SENT_LATE
    mayDie
    fi;
    d_step {
      assert(hasHold(u) && record[u].attempt == me);           /* only with one's own fence */
      assert(record[u].state == running);
      assert(SUM(sentFor, KEY(u)) == 0);                       /* at most once */
      assert(NONE_BUT(u, isBesides));
      sent[u]++;
      inFlight[u] = true
    }
  };
  atomic { /* settle.ts `runOutcomeOf` */
    if
    :: reply[u] == accepted -> f = ran; cost = consumed[u]
    :: reply[u] == rejected -> f = did_not_run
    :: !CALM -> f = unknown                                    /* deadline, reset, 5xx, a body that says nothing */
    mayDie
    fi;
    reply[u] = silence;
    if
    :: f == unknown && BUG == RUN_REPEATED -> goto fenced
    :: f == unknown && BUG == TIMEOUT_RELEASES -> f = did_not_run
    :: else
    fi
  };

close: /* execute.ts `settle`, settle.ts `close` */
  atomic {
    if
    :: skip; ok = true
    :: faults > 0 -> faults--; ok = false                      /* the answer is lost */
    :: faults > 0 -> faults--; goto reread                     /* so is the request */
    :: faults > 0 && late.what == nothing ->
       d_step { faults--; late.what = closing; late.whose = u; late.version = version; late.found = f; late.past = cost; late.seen = was };
       goto reread
    mayDie
    fi;
    if
    :: isSeen(u, version) && (!isDayOpen || bookDay == record[u].day || BUG == SETTLED_IN_ANY_DAY) ->
       closeNow(u, f, sender, cost, was, isDayOpen);
       if :: ok -> goto closed :: else -> goto reread fi
    :: else ->
       isDayOpen = isDayOpen && bookDay == record[u].day;
       if
       :: !ok -> goto reread
       :: ok && isNews(u, f, sender) -> version = record[u].version; was = record[u].state; goto close
       :: ok && !isNews(u, f, sender) -> goto closed
       fi
    fi
  };
reread:
  atomic {
    if
    :: record[u].version == version -> goto close              /* thrown, and tried again in time */
    :: record[u].version == version -> goto over               /* no time left: it stays as it is */
    :: record[u].version != version && isNews(u, f, sender) -> version = record[u].version; was = record[u].state; goto close
    :: record[u].version != version && !isNews(u, f, sender) -> goto closed
    fi
  };
closed: /* the sender's word is the last */
  assert(f == unknown || record[u].charged == (f == ran -> cost : 0));

over:
  atomic {
    gone[me] = true;
    reply[u] = (record[u].attempt == me -> silence : reply[u]);
    version = 0; holder = 0; ranBefore = 0; rev = 0; day = 0; cost = 0; dates = unread; f = unknown; was = absent;
    isStopped = false; isAgreed = false; isDayOpen = false
  }
}

/* ---- the service, and what is still on its way to the table ---- */

proctype Service(byte u) {
  do
  :: atomic {
       inFlight[u] ->
       inFlight[u] = false;
       if
       :: consumed[u] = UNITS; reply[u] = accepted
       :: OVERRUNS -> consumed[u] = UNITS + 1; reply[u] = accepted
       :: !CALM -> consumed[u] = UNITS                         /* and the answer says nothing, or is lost */
       :: reply[u] = rejected                                  /* 4xx */
       :: !CALM                                                /* the request is lost */
       fi;
       data[WORK(u)] = data[WORK(u)] || consumed[u];
       if
       :: gone[record[u].attempt] -> reply[u] = silence
       :: else
       fi;
       d_step { check() }
     }
  :: isOver -> break
  od
}

inline forget() {
  late.what = nothing; late.whose = 0; late.me = 0; late.version = 0; late.holder = 0; late.past = 0; late.rev = 0; late.day = 0;
  late.dates = unread; late.found = unknown; late.seen = absent
}

proctype Post() {
  do
  :: atomic {
       late.what == hold ->
       d_step { holdNow(late.whose, late.me, late.version, late.holder, late.past, late.rev, late.day, late.dates); forget() }
     }
  :: atomic {
       late.what == closing ->
       if
       :: isSeen(late.whose, late.version) && bookDay == record[late.whose].day ->
          closeNow(late.whose, late.found, sender, late.past, late.seen, true)
       :: else
       fi;
       d_step { forget() }
     }
  :: DAYS && today == 0 -> today = 1
  :: isOver -> break
  od
}

/*
 * A write under the version, or the revision, that was read has the effect of one step together with its reading, or
 * none. Without that condition it has not: then everybody may move in between.
 */
#if BUG == RECORD_UNGUARDED || BUG == SETTLED_UNSEEN || BUG == GRANTED_TWICE
#define thenWrites }; atomic {
#else
#define thenWrites
#endif

/* ---- sweep.ts ---- */

/* duplicate-work.ts `inFlightUntil`: nothing that was sent can still take effect, as far as the guard knows */
#define isLanded(u) (record[u].doubtBy == sender -> !inFlight[u] : isQuiet(u))
#define isWatched(u) (record[u].state == released && record[u].closedBy == person && !record[u].corrected && BUG != EVIDENCE_UNWATCHED)
#define mayHaveMade(u) (hasHold(u) && !(record[u].state == released && record[u].closedBy == sender) && record[u].dataBefore != yes)

/* `evidenceFor`: the two that share the work are each other's rivals */
#if DATES
#define isEvidence(u, hasData) (hasData && record[u].dataBefore == no && (!mayHaveMade(1 - u) || BUG == EVIDENCE_SHARED))
#else
#define isEvidence(u, hasData) false
#endif

#define isToSweep(u) (record[u].state == running || (record[u].state == in_doubt && isLanded(u)) || (isWatched(u) && isEvidence(u, data[WORK(u)])))
#define sweepsAt(n) :: isToSweep(n) -> u = n

#define isDayOpenFor(u) (bookDay == record[u].day || BUG == SETTLED_IN_ANY_DAY)

inline sweepNow(news, by) { closeNow(u, news, by, UNITS, was, isDayOpenFor(u)) }

proctype Sweep() {
  byte u, version;
  mtype:state was = absent;
  bool hasData;

  do
  :: atomic {
       if
       ANY(sweepsAt)
       :: isAtRest -> break
       fi;
       version = record[u].version; was = record[u].state; hasData = data[WORK(u)];
       thenWrites
       if
       :: !isSeen(u, version)
       :: isSeen(u, version) && was == running -> sweepNow(unknown, sweep)
       :: isSeen(u, version) && was != running && isEvidence(u, hasData) -> sweepNow(ran, evidence)
       :: isSeen(u, version) && was == in_doubt && BUG != SWEEP_RELEASES -> sweepNow(ran, time)
       :: isSeen(u, version) && was == in_doubt && BUG == SWEEP_RELEASES -> sweepNow(did_not_run, time)
       :: isSeen(u, version) && was == released && !isEvidence(u, hasData)
       fi;
       u = 0; version = 0; was = absent; hasData = false
     }
  od
}

/* ---- people: approvals.ts ---- */

/* `resolve`: may say anything that the rules allow, true or not */
#define isAsked(n) :: record[n].state == in_doubt -> u = n; f = ran
#define isDenied(n) :: record[n].state == in_doubt && (isLanded(n) || BUG == PERSON_TOO_EARLY) -> u = n; f = did_not_run; vouched[n] = !consumed[n]

proctype Person() {
  byte u, version;
  mtype:found f = unknown;

  atomic {
    if
    ANY(isAsked)
    ANY(isDenied)
    :: goto done
    fi;
    version = record[u].version;
    thenWrites
    if
    :: isSeen(u, version) -> closeNow(u, f, person, UNITS, in_doubt, isDayOpenFor(u))
    :: else                                                    /* it is no longer in doubt: told so */
    fi
  };
done:
  atomic { u = 0; version = 0; f = unknown }
}

/* `approve`, `cancel`, `expire`: each is one conditional write, made again when what it was made on has moved */
proctype Decider(byte u; mtype:state to) {
  byte version;

  do
  :: atomic {
       if
       :: to == requested && (record[u].state == awaiting || (BUG == ENDED_IS_APPROVED && record[u].state != absent))
       :: to != requested && (record[u].state == awaiting || record[u].state == requested ||
          (BUG == RUNNING_IS_CANCELLED && record[u].state == running))
       :: break                                                /* no one decides, or it is too late for it */
       fi;
       version = record[u].version;
       thenWrites
       d_step {
         put(u, version, to);
         record[u].approved = record[u].approved || (ok && to == requested)
       };
       if
       :: ok -> break
       :: else
       fi
     }
  od;
  version = 0
}

/* changes.ts `change`: the definitions under their old revision, and the book with them */
proctype Admin() {
  byte rev;
  bool freezes;
  short by = -1;

  do
  :: atomic {
       if
       :: by < 0 -> freezes = false                            /* a limit is lowered */
       :: !frozen -> freezes = true
       :: break
       fi;
       rev = revision;
       thenWrites
       if
       :: revision == rev ->
          d_step {
            revision++;
            if
            :: freezes -> frozen = true
            :: else ->
               excused = true;
               for (w : MONTH .. DAY) {
                 counter[w].limit = counter[w].limit + by;
                 counter[w].available = counter[w].available + (BUG == LIMIT_ALONE -> 0 : by)
               };
               by = 0
            fi;
            check()
          }
       :: else
       fi
     }
  od;
  rev = 0; freezes = false; by = 0
}

/* entering.ts `enter`, as often as a key is sent: the book under the revision and the day that were seen, and the entry if it is absent */
proctype Granter() {
  byte rev, day;

  do
  :: atomic {
       !entry -> rev = revision; day = bookDay;
       thenWrites
       if
       :: revision == rev && bookDay == day && (!entry || BUG == GRANTED_TWICE) ->
          d_step {
            entry = true;
            counter[MONTH].granted++;
            counter[MONTH].available++;
            check()
          }
       :: else
       fi
     }
  :: break
  od;
  rev = 0; day = 0
}

#define isAtEnd(u) (!isOpen(u) && (!consumed[u] || record[u].charged >= UNITS  || (isWordOfPerson(u) && !isEvidence(u, data[WORK(u)]))))

init {
  atomic {
    d_step {
      for (w : MONTH .. DAY) { counter[w].limit = LIMIT; counter[w].available = LIMIT }
    };
    run Post();
#if !CALM
    run Sweep();
#endif
    for (w : 0 .. UPDATES - 1) { run Service(w) };
#if SCENE == RACE
    run Delivery(0, 0, true); run Delivery((BUG == NO_KEY -> 2 : 0), 1, true);  /* one key */
    run Delivery(1, 2, true)                                                    /* the same work */
#elif SCENE == DOUBT || SCENE == EVIDENCE
    run Delivery(0, 0, true); run Delivery(1, 1, true);
    run Person()
#elif SCENE == APPROVAL
    run Delivery(0, 0, true); run Delivery(0, 1, false); run Delivery(0, 2, false);
    run Decider(0, requested); run Decider(0, requested); run Decider(0, cancelled)
#elif SCENE == CHANGES
    run Delivery(0, 0, true); run Delivery(1, 1, true);
    run Admin();
    run Granter(); run Granter()
#endif
  };
  _nr_pr == 1;
  d_step { /* at rest */
    check();
    assert(!counter[MONTH].held && !counter[MONTH].doubt);
    assert(EVERY_UPDATE(isAtEnd))
  }
}
