import { digest } from '../../platform/ids.ts'
import type { Kind } from '../../tracking/kinds.ts'
import { type Definitions, folded, listingsOf } from '../definitions/definitions.ts'
import type { Condition, Item, Key, Write } from '../store/store.ts'
import { list, type Of, optional, readItem, record, text, textOf, whole } from '../store/stored.ts'
import { type Run, storedRun, type Update } from './update.ts'

/**
 * Keeps the same work from running twice at once. Each name of a project has an item, and a hold takes all of them, so
 * two holds conflict if they share a name.
 */
const storedWork = record({
  kind: textOf<Kind>(),
  project: text,
  update: text,
  /** Every hold is conditional on this version. */
  version: whole,
  /** A run before `update`, or a run found later. */
  ran: optional(storedRun),
  /** The runs before `ran`, the newest first. One of these runs counts again if a correction takes `ran` back. */
  earlier: optional(list(storedRun)),
})
export type Work = Of<typeof storedWork>

/** `work: null`: no update has held or run the work. */
export interface SeenWork {
  readonly key: string
  readonly work: Work | null
}

export const workKey = (kind: Kind, name: string) => workKeyOf(`work#${kind}#${digest(name)}`)

export const workKeyOf = (key: string): Key => ({ pk: key, sk: 'work' })

/**
 * The name as written, the names that its owner lists, and the folded form of each. The name as written comes first.
 * @param definitions `null`: not read yet.
 */
export function workKeysOf(definitions: Definitions | null, kind: Kind, project: string): readonly string[] {
  const listings = definitions ? listingsOf(definitions, project) : []
  const names = [project, ...listings.flatMap(({ project: { name, id = name } }) => [name, id])]
  return [...new Set([...names, ...names.map(folded)])].map((name) => workKey(kind, name).pk)
}

export const takeWork = (update: Update, seen: readonly SeenWork[], runs: readonly Run[]): Write[] =>
  seen.map(({ key, work }) => {
    const taken: Work = {
      kind: update.kind,
      project: update.project,
      update: update.id,
      version: (work?.version ?? 0) + 1,
      ...memoryOf(runs),
    }
    return {
      kind: 'put',
      item: { ...workKeyOf(key), ...taken },
      when: work ? isUnchanged(work) : [{ kind: 'absent-item' }],
    }
  })

/** Adds a run to the work items. The items keep their holder. */
export const noteRun = (run: Run, seen: readonly SeenWork[]): Write[] =>
  seen.flatMap(({ key, work }) => {
    if (!work) return []
    const before = runsIn(work).filter(({ update }) => update !== run.update)
    const { ran = run, earlier = [] } = memoryOf([run, ...before])
    const version = work.version + 1
    return [
      {
        kind: 'update',
        key: workKeyOf(key),
        set: [
          [['ran'], ran],
          [['earlier'], earlier],
          [['version'], version],
        ],
        add: [],
        when: isUnchanged(work),
      },
    ]
  })

export const runsIn = ({ ran, earlier = [] }: Work): readonly Run[] => (ran ? [ran, ...earlier] : earlier)

const maxRuns = 10

function memoryOf(runs: readonly Run[]): Pick<Work, 'ran' | 'earlier'> {
  const [ran, ...earlier] = runs
    .toSorted((one, other) => other.at - one.at)
    .slice(0, maxRuns)
    .map(({ update, at, units }) => ({ update, at, units }))
  return { ...(ran && { ran }), ...(earlier.length > 0 && { earlier }) }
}

const isUnchanged = ({ version }: Work): Condition[] => [{ kind: 'equal', path: ['version'], value: version }]

export const fromWorkItem = (item: Item): Work => readItem(item, storedWork)
