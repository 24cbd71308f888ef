/* Which processes meet in a scene, and what each of them may do. check.ts reads scenes and bugs by these names. */

/* scenes */
#define RACE 1       /* one key twice, and the same work under another */
#define DOUBT 2      /* the same work again, by force; sweep, a person, an overrun, late answers, a day that turns */
#define EVIDENCE 3   /* the same, with dates for evidence */
#define APPROVAL 4   /* approved twice, cancelled, begun by the stream and by the sweep */
#define CHANGES 5    /* the last units, a lowered limit, a freeze, a grant sent twice, a day that turns */

/* bugs */
#define NONE 0
#define NO_FENCE 1
#define LOST_IS_HELD 2
#define FOREIGN_FENCE 3
#define WORK_UNGUARDED 4
#define RECORD_UNGUARDED 5
#define BLIND_HOLD 6
#define STALE_DAY 7
#define STALE_REVISION 8
#define TIMEOUT_RELEASES 9
#define RUN_REPEATED 10
#define RUN_BEFORE_HOLD 11
#define OVERRUN_CLIPPED 12
#define RELEASED_TWICE 13
#define DOUBT_UNCOUNTED 14
#define SETTLED_AT_NOTHING 15
#define LATE_ANSWER_DROPPED 16
#define SETTLED_IN_ANY_DAY 17
#define SETTLED_UNSEEN 18
#define SWEEP_RELEASES 19
#define RUNNING_IGNORED 20
#define DOUBT_IGNORED 21
#define NO_COOLDOWN 22
#define NO_KEY 23
#define REPLAY_RUNS 24
#define ADMITTED_AGAIN 25
#define ENDED_IS_APPROVED 26
#define RUNNING_IS_CANCELLED 27
#define APPROVAL_FORGOTTEN 28
#define LIMIT_ALONE 29
#define GRANTED_TWICE 30
#define SENT_LATE 31
#define PERSON_TOO_EARLY 32
#define DOUBT_ENDS_EARLY 33
#define EVIDENCE_SHARED 34
#define EVIDENCE_UNWATCHED 35

#if SCENE == RACE
#define UPDATES 3
#define WORKS 1
#define WORK(u) 0
#define KEY(u) (u == 2 -> 0 : u)      /* 2 is what the key's second delivery makes where the key is none */
#define DELIVERIES 3
#define LIMIT 4
#endif

#if SCENE == DOUBT
#define UPDATES 2
#define WORKS 1
#define WORK(u) 0
#define DELIVERIES 2
#define LIMIT 4
#define FORCED(u) (u == 1)
#define OVERRUNS (u == 0)
#define DAYS 1
#endif

#if SCENE == EVIDENCE
#define UPDATES 2
#define WORKS 1
#define WORK(u) 0
#define DELIVERIES 2
#define LIMIT 4
#define FORCED(u) true
#define FAULTS 0
#define DAYS 1
#define DATES 1
#endif

#if SCENE == APPROVAL
#define UPDATES 1
#define WORKS 1
#define WORK(u) 0
#define DELIVERIES 3
#define LIMIT 4
#define FAULTS 0
#define NEEDS_APPROVAL(u) true
#endif

#if SCENE == CHANGES
#define UPDATES 2
#define WORKS 2
#define WORK(u) u
#define DELIVERIES 2
#define LIMIT 3
#define FAULTS 0
#define CALM 1        /* no process dies, and the service answers: two updates that nothing ties together are enough to search */
#define DAYS 1
#endif

#ifndef FAULTS
#define FAULTS 1      /* lost answers and requests of the table; processes die, and the service fails, as often as they like */
#endif
#define UNITS 2
#ifndef KEY
#define KEY(u) u
#endif
#ifndef FORCED
#define FORCED(u) false
#endif
#ifndef NEEDS_APPROVAL
#define NEEDS_APPROVAL(u) false
#endif
#ifndef OVERRUNS
#define OVERRUNS false
#endif
#ifndef DAYS
#define DAYS 0
#endif
#ifndef CALM
#define CALM 0
#endif
#ifndef DATES
#define DATES 0
#endif

/* once for each update, and for each delivery */
#if UPDATES == 1
#define ANY(c) c(0)
#define EVERY_UPDATE(c) (c(0))
#define SOME_UPDATE(c) (c(0))
#define NONE_BUT(u, c) true
#define SUM(c, of) c(0, of)
#elif UPDATES == 2
#define ANY(c) c(0) c(1)
#define EVERY_UPDATE(c) (c(0) && c(1))
#define SOME_UPDATE(c) (c(0) || c(1))
#define NONE_BUT(u, c) (!c(1 - u, u))
#define SUM(c, of) (c(0, of) + c(1, of))
#else
#define ANY(c) c(0) c(1) c(2)
#define EVERY_UPDATE(c) (c(0) && c(1) && c(2))
#define SOME_UPDATE(c) (c(0) || c(1) || c(2))
#define NONE_BUT(u, c) ((u == 0 || !c(0, u)) && (u == 1 || !c(1, u)) && (u == 2 || !c(2, u)))
#define SUM(c, of) (c(0, of) + c(1, of) + c(2, of))
#endif
#if DELIVERIES == 2
#define EVERY_DELIVERY(c) (c(0) && c(1))
#else
#define EVERY_DELIVERY(c) (c(0) && c(1) && c(2))
#endif
