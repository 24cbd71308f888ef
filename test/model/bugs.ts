/** A rule left out of the model (`-DBUG=<name>` in scenes.pml), and the scene that has to find what it breaks. */
export interface Bug {
  readonly name: string
  readonly scene: Scene
  readonly says: string
}

export const scenes = ['RACE', 'DOUBT', 'EVIDENCE', 'APPROVAL', 'CHANGES'] as const
export type Scene = (typeof scenes)[number]

const bug = (name: string, scene: Scene, says: string): Bug => ({ name, scene, says })

export const bugs: readonly Bug[] = [
  bug('NO_FENCE', 'RACE', 'the process that decided runs, whether or not it holds'),
  bug('LOST_IS_HELD', 'RACE', 'a lost answer counts as a hold'),
  bug('FOREIGN_FENCE', 'RACE', "another process's fence counts as our own"),
  bug('WORK_UNGUARDED', 'RACE', 'the work is looked at, and taken without a condition'),
  bug('RECORD_UNGUARDED', 'APPROVAL', 'a record is changed without a condition'),
  bug('BLIND_HOLD', 'CHANGES', 'a hold does not ask what is available'),
  bug('STALE_DAY', 'CHANGES', 'a hold does not ask for the day it was decided on'),
  bug('STALE_REVISION', 'CHANGES', 'a hold does not ask for the revision it was decided with'),
  bug('TIMEOUT_RELEASES', 'RACE', 'a timeout gives the units back'),
  bug('RUN_REPEATED', 'RACE', 'run is repeated when its answer is lost'),
  bug('RUN_BEFORE_HOLD', 'RACE', 'run is sent before the hold is written'),
  bug('SENT_LATE', 'DOUBT', 'run is sent after its deadline, when the sweep may have spoken'),
  bug('OVERRUN_CLIPPED', 'DOUBT', 'what cost more than was held is charged as held'),
  bug('RELEASED_TWICE', 'RACE', 'a release gives back twice'),
  bug('DOUBT_UNCOUNTED', 'RACE', 'what is in doubt is not counted'),
  bug('SETTLED_AT_NOTHING', 'RACE', 'what ran is settled at nothing'),
  bug('SETTLED_IN_ANY_DAY', 'CHANGES', 'a settlement counts in the day that is open then'),
  bug('SETTLED_UNSEEN', 'DOUBT', 'a settlement does not ask whether the update was closed first'),
  bug('LATE_ANSWER_DROPPED', 'DOUBT', 'what the sender says after others is dropped'),
  bug('SWEEP_RELEASES', 'DOUBT', 'the sweep gives units back by the clock'),
  bug('PERSON_TOO_EARLY', 'DOUBT', 'a person may say "did not run" while it may still run'),
  bug('DOUBT_ENDS_EARLY', 'DOUBT', 'work in doubt is free on the next day, whatever is in flight'),
  bug('RUNNING_IGNORED', 'RACE', 'running work does not stop the same work'),
  bug('DOUBT_IGNORED', 'RACE', 'work in doubt does not stop the same work'),
  bug('NO_COOLDOWN', 'RACE', 'there is no cool-down'),
  bug('NO_KEY', 'RACE', 'every delivery of a key is an update of its own'),
  bug('REPLAY_RUNS', 'RACE', 'a replay that finds its update running runs it'),
  bug('ADMITTED_AGAIN', 'RACE', 'whatever its state, an update is admitted again'),
  bug('ENDED_IS_APPROVED', 'APPROVAL', 'what has ended can still be approved'),
  bug('RUNNING_IS_CANCELLED', 'APPROVAL', 'what is running can be cancelled'),
  bug('APPROVAL_FORGOTTEN', 'APPROVAL', 'what needs approval is held without'),
  bug('EVIDENCE_SHARED', 'EVIDENCE', "another update's data counts as evidence"),
  bug('EVIDENCE_UNWATCHED', 'EVIDENCE', 'no sweep looks for evidence after a person said "did not run"'),
  bug('LIMIT_ALONE', 'CHANGES', 'a changed limit does not change what is available'),
  bug('GRANTED_TWICE', 'CHANGES', 'a grant is booked again when its key comes again'),
]
