/**
 * The rules about one work under several names, as a small machine whose every state is searched (`search.ts`): who may hold the work, and
 * what its items remember. ../README.md says what is left out.
 */

import type { Rules } from './rules.ts'

export interface Scene {
  /** Each spelling folds to its lower case. */
  readonly spellings: readonly string[]
  /** The pairs of a name and an id that budgets may list in turn. Null: no budget lists the project. */
  readonly listings: readonly (readonly [name: string, id: string] | null)[]
  readonly updates: number
  readonly maxChanges: number
  readonly maxTicks: number
  /** A run answers for the work during this many ticks. Work in doubt may be taken over one tick after its hold. */
  readonly coolDownTicks: number
  /** Updates may be forced, and a cool-down does not stop those. */
  readonly forced?: boolean
  /** A run may cost nothing. */
  readonly freeRuns?: boolean
  /** An update of the earlier version is running, which knew one item under the name as written. */
  readonly old?: string
}

type Step = 'new' | 'read' | 'running' | 'in-doubt' | 'settled' | 'released'

interface Update {
  readonly step: Step
  readonly project: string
  readonly forced: boolean
  /** The items of its hold. Empty: the earlier version kept none. */
  readonly items: readonly string[]
  /** The names of the project at its hold, as written and folded, which the promises are about. */
  readonly names: readonly string[]
  /** The runs that its decision used and its hold writes. */
  readonly runs: readonly number[]
  readonly heldAt: number
  readonly ranAt: number
  /** The record says that it ran. */
  readonly ran: boolean
  readonly charged: boolean
  /** The sender has answered, or the update was corrected: nothing about the update changes any more. */
  readonly isFinal: boolean
}

interface Item {
  readonly holder: number
  /** The newest first. */
  readonly runs: readonly number[]
}

export interface State {
  readonly tick: number
  readonly changes: number
  readonly listing: number
  readonly items: Readonly<Record<string, Item>>
  readonly updates: readonly Update[]
}

/** A step, and the state after it, or the promise that it breaks. */
export type Move = readonly [step: string, after: State | { readonly broken: string }]

const fresh: Update = {
  step: 'new',
  project: '',
  forced: false,
  items: [],
  names: [],
  runs: [],
  heldAt: 0,
  ranAt: 0,
  ran: false,
  charged: false,
  isFinal: false,
}

export function firstState(scene: Scene): State {
  const updates = Array.from({ length: scene.updates }, () => fresh)
  const state = { tick: 0, changes: 0, listing: 0, items: {}, updates }
  if (scene.old === undefined) return state
  const running: Update = { ...fresh, step: 'running', project: scene.old, names: [scene.old] }
  return { ...state, items: { [scene.old]: { holder: 0, runs: [] } }, updates: [running, ...updates.slice(1)] }
}

const fold = (name: string) => name.toLowerCase()
const distinct = (names: readonly string[]) => [...new Set(names)]

/** The states of one scene and the steps between them. */
export class WorkModel {
  readonly #scene: Scene
  readonly #rules: Rules

  constructor(scene: Scene, rules: Rules) {
    this.#scene = scene
    this.#rules = rules
  }

  /** Every name that the definitions of this moment know for a project. */
  #namesOf(project: string, listing: number): readonly string[] {
    const listed = this.#scene.listings[listing]
    const isListed = listed?.some((name) => fold(name) === fold(project))
    return isListed && listed ? [project, ...listed] : [project]
  }

  #itemsOf(project: string, listing: number): readonly string[] {
    const names = this.#namesOf(project, listing)
    if (!this.#rules.allNames) return [fold(names[1] ?? project)]
    return distinct([...(this.#rules.rawNames ? names : []), ...(this.#rules.foldedNames ? names.map(fold) : [])])
  }

  #isKnownToHaveRun({ ran, charged }: Update): boolean {
    return ran && (charged || this.#rules.freeRuns)
  }

  #inCoolDown({ ranAt }: Update, tick: number): boolean {
    return tick < ranAt + this.#scene.coolDownTicks
  }

  *moves(state: State): Generator<Move> {
    if (state.tick < this.#scene.maxTicks) yield ['time passes', { ...state, tick: state.tick + 1 }]
    if (state.changes < this.#scene.maxChanges) {
      for (const [listing, listed] of this.#scene.listings.entries()) {
        if (listing === state.listing) continue
        const changed = { ...state, listing, changes: state.changes + 1 }
        // A hold conditions on the revision of its decision.
        yield [`lists ${listed?.join(' and ') ?? 'nothing'}`, decideAgain(changed, ({ step }) => step === 'read')]
      }
    }
    for (const [id, update] of state.updates.entries()) {
      if (update.step === 'new' && state.updates.findIndex(({ step }) => step === 'new') === id)
        yield* this.#read(state, id)
      if (update.step === 'read') yield [`${id} holds`, this.#hold(state, id)]
      yield* this.#ends(state, id)
    }
  }

  /** One reading of definitions and items, and the decision on it. */
  *#read(state: State, id: number): Generator<Move> {
    for (const project of this.#scene.spellings) {
      for (const forced of this.#scene.forced ? [false, true] : [false]) {
        const items = this.#itemsOf(project, state.listing)
        const judged = this.#rules.readsAllItems ? items : items.slice(0, 1)
        const holders = judged.flatMap((item) => state.items[item]?.holder ?? [])
        const runs = this.#runsOf(state, judged)
        const latest = runs[0] === undefined ? undefined : state.updates[runs[0]]
        const how = forced ? ` by force` : ''
        const stops = holders.some((holder) => this.#blocks(state, holder))
        const answers = !forced && this.#rules.coolDown && latest !== undefined && this.#inCoolDown(latest, state.tick)
        if (answers && !latest.ran)
          yield [`${id} asks for ${project}`, { broken: `${runs[0]} did not run, and answers for it` }]
        if (stops || answers) continue
        const known = this.#namesOf(project, state.listing)
        const names = distinct([...known, ...known.map(fold)])
        const deciding: Update = { ...fresh, step: 'read', project, forced, items, names, runs }
        yield [`${id} asks for ${project}${how}`, withUpdate(state, id, deciding)]
      }
    }
  }

  #blocks({ updates, tick }: State, holder: number): boolean {
    const update = updates[holder] ?? fresh
    if (update.step === 'running') return this.#rules.runningBlocks
    return update.step === 'in-doubt' && this.#rules.doubtBlocks && inDoubtBlocks(update, tick)
  }

  /** The runs in these items, newest first, up to the first that nothing can take back. */
  #runsOf({ items, updates }: State, judged: readonly string[]): readonly number[] {
    const known = judged.flatMap((item) => items[item] ?? [])
    const held = known.map(({ holder }) => holder).filter((id) => this.#isKnownToHaveRun(updates[id] ?? fresh))
    const remembered = known
      .flatMap(({ runs }) => runs)
      .filter((id) => !this.#rules.judgedByRecord || this.#isKnownToHaveRun(updates[id] ?? fresh))
    return this.#cut(updates, [...held, ...remembered])
  }

  /** A run that nothing can take back answers for longer than all earlier runs. */
  #cut(updates: readonly Update[], ids: readonly number[]): readonly number[] {
    const newest = newestFirst(updates, ids)
    const last = this.#rules.earlierRuns ? newest.findIndex((id) => updates[id]?.isFinal) : 0
    return last < 0 ? newest : newest.slice(0, last + 1)
  }

  /** Everything that the decision used is unchanged, because a changed decision was made again at once (`decideAgain`). */
  #hold(state: State, id: number): State | { broken: string } {
    const update = state.updates[id] ?? fresh
    const rival = state.updates.findIndex((other, at) => at !== id && this.#mustStop(other, update, state.tick))
    if (rival >= 0) return { broken: `${id} is held beside ${rival}, which is ${state.updates[rival]?.step}` }
    const held: Update = { ...update, step: 'running', heldAt: state.tick, ranAt: state.tick, runs: [] }
    const written = this.#rules.writesAllItems ? update.items : update.items.slice(0, 1)
    const items = Object.fromEntries(written.map((item) => [item, { holder: id, runs: update.runs }]))
    const next = withUpdate({ ...state, items: { ...state.items, ...items } }, id, held)
    return decideAgain(next, (other) => this.#dependsOn(other, written))
  }

  /** The same work must not be held twice at once, or be paid again within its cool-down. */
  #mustStop(other: Update, update: Update, tick: number): boolean {
    if (other.step === 'new' || other.step === 'read' || !other.names.some((name) => update.names.includes(name)))
      return false
    if (other.step === 'running') return true
    if (other.step === 'in-doubt') return inDoubtBlocks(other, tick)
    return other.ran && !update.forced && this.#inCoolDown(other, tick)
  }

  #dependsOn({ step, items }: Update, written: readonly string[]): boolean {
    const conditions = this.#rules.conditionsOnAllItems ? items : items.slice(0, 1)
    return step === 'read' && conditions.some((item) => written.includes(item))
  }

  *#ends(state: State, id: number): Generator<Move> {
    const update = state.updates[id] ?? fresh
    const { step, isFinal } = update
    const costs = this.#scene.freeRuns ? [true, false] : [true]
    if (step === 'running') {
      yield [`${id} is in doubt`, withUpdate(state, id, { ...update, step: 'in-doubt' })]
      yield [`${id} did not run`, withUpdate(state, id, { ...update, step: 'released', isFinal: true })]
      const ranNow = { step: 'settled', ran: true, ranAt: state.tick, isFinal: true } as const
      for (const charged of costs) yield [`${id} ran`, withUpdate(state, id, { ...update, ...ranNow, charged })]
    }
    if (step === 'in-doubt') {
      for (const charged of costs) {
        const ran = { ...update, step: 'settled', ran: true, charged } as const
        yield [`${id} is said to have run`, this.#remember(state, id, ran, this.#rules.lateRan)]
        const byHimself = { ...ran, ranAt: state.tick, isFinal: true } as const
        yield [`the sender of ${id} says late that it ran`, this.#remember(state, id, byHimself, this.#rules.lateRan)]
      }
      yield [`${id} is said not to have run`, withUpdate(state, id, { ...update, step: 'released' })]
      const not = { ...update, step: 'released', isFinal: true } as const
      yield [`the sender of ${id} says late that it did not run`, withUpdate(state, id, not)]
    }
    if ((step === 'settled' || step === 'released') && !isFinal) {
      for (const charged of costs) {
        const ran = { ...update, ran: true, charged, isFinal: true }
        yield [`${id} is corrected: it ran`, this.#remember(state, id, ran, this.#rules.correctedRan)]
      }
      if (step === 'settled') {
        const not = { ...update, ran: false, charged: false, isFinal: true }
        yield [`${id} is corrected: it did not run`, withUpdate(state, id, not)]
      }
    }
  }

  /** Writes a closed update into the items in one transaction, after a doubt or a correction said that it ran. */
  #remember(state: State, id: number, closed: Update, isWritten: boolean): State {
    const next = withUpdate(state, id, closed)
    if (!isWritten) return next
    const kept = this.#rules.holdKeepsItems ? closed.items : this.#itemsOf(closed.project, state.listing)
    const written = (kept.length > 0 ? kept : [closed.project]).filter((item) => next.items[item])
    const items = written.map((item) => {
      const { holder = id, runs = [] } = next.items[item] ?? {}
      return [
        item,
        {
          holder: this.#rules.holderStays ? holder : id,
          runs: this.#rules.earlierRuns ? newestFirst(next.updates, [id, ...runs]) : [id],
        },
      ]
    })
    const after = { ...next, items: { ...next.items, ...Object.fromEntries(items) } }
    return this.#rules.version ? decideAgain(after, (other) => this.#dependsOn(other, written)) : after
  }
}

const inDoubtBlocks = ({ heldAt }: Update, tick: number) => tick < heldAt + 1

const newestFirst = (updates: readonly Update[], ids: readonly number[]): readonly number[] =>
  [...new Set(ids)].sort((a, b) => (updates[b]?.ranAt ?? 0) - (updates[a]?.ranAt ?? 0) || b - a)

const decideAgain = (state: State, hasMoved: (update: Update) => boolean): State => ({
  ...state,
  updates: state.updates.map((update) => (hasMoved(update) ? fresh : update)),
})

const withUpdate = (state: State, id: number, update: Update): State => ({
  ...state,
  updates: state.updates.with(id, update),
})
