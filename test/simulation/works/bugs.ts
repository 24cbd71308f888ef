import type { Scene } from './model.ts'
import type { Rules } from './rules.ts'

export const allRules: Rules = {
  allNames: true,
  foldedNames: true,
  rawNames: true,
  readsAllItems: true,
  conditionsOnAllItems: true,
  writesAllItems: true,
  holdKeepsItems: true,
  version: true,
  lateRan: true,
  correctedRan: true,
  holderStays: true,
  earlierRuns: true,
  judgedByRecord: true,
  freeRuns: true,
  runningBlocks: true,
  doubtBlocks: true,
  coolDown: true,
}

const one = { spellings: ['n'], listings: [null], maxChanges: 0 } as const

/** `NAMES` has three names, one of them in two spellings. */
export const workScenes = {
  NAMES: {
    spellings: ['n', 'N', 'i', 'm'],
    listings: [null, ['N', 'i'], ['m', 'i']],
    updates: 2,
    maxChanges: 2,
    maxTicks: 1,
    coolDownTicks: 2,
  },
  LINKS: {
    spellings: ['n', 'i'],
    listings: [null, ['n', 'i']],
    updates: 3,
    maxChanges: 2,
    maxTicks: 1,
    coolDownTicks: 2,
  },
  MEMORY: { ...one, updates: 3, maxTicks: 2, coolDownTicks: 2, forced: true },
  FREE: { ...one, updates: 2, maxTicks: 3, coolDownTicks: 2, freeRuns: true },
  OLD: {
    spellings: ['n', 'N'],
    listings: [null, ['n', 'i']],
    updates: 2,
    maxChanges: 1,
    maxTicks: 2,
    coolDownTicks: 2,
    old: 'N',
  },
} as const satisfies Record<string, Scene>

/** A rule that is left out, and the scene that must find the broken promise. */
export interface WorkBug {
  readonly rule: keyof Rules
  readonly scene: keyof typeof workScenes
  readonly says: string
}

const bug = (rule: keyof Rules, scene: keyof typeof workScenes, says: string): WorkBug => ({ rule, scene, says })

export const workBugs: readonly WorkBug[] = [
  bug('allNames', 'NAMES', 'one canonical name stands for all, and listing the project changes it'),
  bug('foldedNames', 'NAMES', 'two spellings of a name are two works'),
  bug('rawNames', 'OLD', 'only the folded name is taken, and the version before knows the name as written'),
  bug('readsAllItems', 'LINKS', 'the work is judged by its first item'),
  bug('conditionsOnAllItems', 'LINKS', 'the hold conditions on its first item'),
  bug('writesAllItems', 'LINKS', 'the hold writes its first item'),
  bug('holdKeepsItems', 'LINKS', 'what closes an update derives the items again'),
  bug('version', 'MEMORY', 'the hold asks who holds an item, and not for its version'),
  bug('lateRan', 'MEMORY', 'closing as ran out of doubt is not written into the items'),
  bug('correctedRan', 'MEMORY', 'a correction that says that it ran is not written into the items'),
  bug('holderStays', 'MEMORY', 'a late run takes the work back from its holder'),
  bug('earlierRuns', 'MEMORY', 'an item remembers one run, and forgets it for one that is taken back'),
  bug('judgedByRecord', 'MEMORY', 'a run that was taken back answers for the work'),
  bug('freeRuns', 'FREE', 'a run that cost nothing is no run'),
  bug('runningBlocks', 'FREE', 'running work does not stop the same work'),
  bug('doubtBlocks', 'FREE', 'work in doubt does not stop the same work'),
  bug('coolDown', 'FREE', 'there is no cool-down'),
]
