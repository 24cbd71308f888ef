import { digest } from '../../platform/ids.ts'
import type { Kind } from '../../tracking/kinds.ts'
import { type Definitions, folded, listingsOf } from '../book/definitions.ts'
import type { Condition, Item, Key, Write } from '../store/store.ts'
import { instant, list, optional, readItem, record, text, textOf, whole } from '../stored.ts'
import type { Run, Update } from './update.ts'

/**
 * What must not be done twice at once: a kind of update of one project. It has an item for each name of the
 * project; a hold takes all of them, so that it meets every other hold of the same project under any name they share. An
 * item names the update that held it last; that update's record says how it went. It belongs to no month.
 */
export interface Work {
  readonly kind: Kind
  readonly project: string
  readonly update: string
  /** Raised by every write, and a condition of every hold; absent in items of older versions. */
  readonly version?: number
  /** The latest run before `update`, or one that came to light since: its record says whether that still holds. */
  readonly ran?: Run
  /** Runs before `ran`, newest first: `ran` may be taken back. */
  readonly earlier?: readonly Run[]
}

/** One item of a work as it was read; null: it is not there. */
export interface SeenWork {
  readonly key: string
  readonly work: Work | null
}

export const workKey = (kind: Kind, name: string) => workKeyOf(`work#${kind}#${digest(name)}`)

export const workKeyOf = (key: string): Key => ({ pk: key, sk: 'work' })

/**
 * The items of all names of a project, its own first: as it is written, as its owner lists it, and each of these folded. The
 * names as written are those that older versions know.
 *
 * @param definitions null: they are not known yet, and the owner's names are missing.
 */
export function workKeysOf(definitions: Definitions | null, kind: Kind, project: string): readonly string[] {
  const listings = definitions ? listingsOf(definitions, project) : []
  const names = [project, ...listings.flatMap(({ project: { name, id = name } }) => [name, id])]
  return [...new Set([...names, ...names.map(folded)].map((name) => workKey(kind, name).pk))]
}

/** The writes by which an update takes over the work, if every item still is as this delivery has seen it. */
export const takeWork = (update: Update, seen: readonly SeenWork[], runs: readonly Run[]): Write[] =>
  seen.map(({ key, work }) => {
    const taken: Work = {
      kind: update.kind,
      project: update.project,
      update: update.id,
      version: (work?.version ?? 0) + 1,
      ...remembered(runs),
    }
    return {
      kind: 'put',
      item: { ...workKeyOf(key), ...taken },
      when: work ? isUnchanged(work) : [{ kind: 'absent-item' }],
    }
  })

/** Notes a run that came to light late in the items of its work, and leaves them to the update that holds them. */
export const noteRun = (run: Run, seen: readonly SeenWork[]): Write[] =>
  seen.flatMap(({ key, work }) => {
    if (!work) return []
    const before = runsIn(work).filter(({ update }) => update !== run.update)
    const { ran = run, earlier = [] } = remembered([run, ...before])
    const version = (work.version ?? 0) + 1
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

/** All runs that an item remembers, beside its holder's own. */
export const runsIn = ({ ran, earlier = [] }: Work): readonly Run[] => (ran ? [ran, ...earlier] : earlier)

/** More than these are not taken back one after another. */
const maxRuns = 10

function remembered(runs: readonly Run[]): Pick<Work, 'ran' | 'earlier'> {
  const [ran, ...earlier] = runs
    .toSorted((one, other) => other.at - one.at)
    .slice(0, maxRuns)
    .map(({ update, at, units }) => ({ update, at, units }))
  return { ...(ran && { ran }), ...(earlier.length > 0 && { earlier }) }
}

/** An item of an older version has none; then whose it is has to do. */
const isUnchanged = ({ version, update }: Work): Condition[] =>
  version === undefined
    ? [
        { kind: 'absent', path: ['version'] },
        { kind: 'equal', path: ['update'], value: update },
      ]
    : [{ kind: 'equal', path: ['version'], value: version }]

/** Items of 0.1's first days noted no units of a run. */
type StoredRun = Omit<Run, 'units'> & Partial<Pick<Run, 'units'>>
type StoredWork = Omit<Work, 'ran' | 'earlier'> & { readonly ran?: StoredRun; readonly earlier?: readonly StoredRun[] }

const storedRun = record<StoredRun>({ update: text, at: instant, units: optional(whole) })
const storedWork = record<StoredWork>({
  kind: textOf(),
  project: text,
  update: text,
  version: optional(whole),
  ran: optional(storedRun),
  earlier: optional(list(storedRun)),
})

export function fromWorkItem(item: Item): Work {
  const { ran, earlier, ...work } = readItem(item, storedWork)
  return { ...work, ...(ran && { ran: runFrom(ran) }), ...(earlier && { earlier: earlier.map(runFrom) }) }
}

const runFrom = ({ units = 0, ...run }: StoredRun): Run => ({ ...run, units })
