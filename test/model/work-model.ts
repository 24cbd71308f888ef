/**
 * Rules about one work, however it is named, as a small machine whose every state is searched (`works.ts`): who may hold
 * the work of a project, and what its items remember. README.md says what is left out.
 */

/** Each rule is on, but for the variant that has to break a promise without it (`work-bugs.ts`). */
export interface Rules {
  /** An update takes the items of all names of its project; otherwise of one name that stands for all. */
  readonly allNames: boolean
  /** The folded form of each name is one of the names. */
  readonly foldedNames: boolean
  /** So is each name as it is written: an older version knows no other. */
  readonly rawNames: boolean
  readonly readsAllItems: boolean
  readonly conditionsOnAllItems: boolean
  readonly writesAllItems: boolean
  /** What closes an update writes the items of its hold, and does not derive them again. */
  readonly holdKeepsItems: boolean
  /** A hold conditions on the version of each item; otherwise on who holds it. */
  readonly version: boolean
  /** Closing as ran out of doubt writes the run into the items. */
  readonly lateRan: boolean
  /** So does a correction that says that it ran. */
  readonly correctedRan: boolean
  /** That write leaves the holder as it is. */
  readonly holderStays: boolean
  /** It keeps the runs before it, until one that nothing can take back. */
  readonly earlierRuns: boolean
  /** A run is judged by the record of its update; otherwise its being remembered is enough. */
  readonly judgedByRecord: boolean
  /** That an update ran is known whatever it cost. */
  readonly freeRuns: boolean
  readonly runningBlocks: boolean
  readonly doubtBlocks: boolean
  readonly coolDown: boolean
}

export interface Scene {
  /** Each folds to its lower case. */
  readonly spellings: readonly string[]
  /** What budgets may list in turn: pairs of a name and an id; null: the project is in no budget. */
  readonly listings: readonly (readonly [name: string, id: string] | null)[]
  readonly updates: number
  readonly maxChanges: number
  readonly maxTicks: number
  /** So many ticks after a run it answers for the work; one tick after a hold, work in doubt may be taken over. */
  readonly coolDownTicks: number
  /** Updates may be forced: a cool-down does not stop them. */
  readonly forced?: boolean
  /** A run may cost nothing. */
  readonly freeRuns?: boolean
  /** An update of the version before, which knew one item under the name as written, is running. */
  readonly old?: string
}

type Step = 'new' | 'read' | 'running' | 'in-doubt' | 'settled' | 'released'

interface Update {
  readonly step: Step
  readonly project: string
  readonly forced: boolean
  /** The items of its hold; empty: the version before kept none. */
  readonly items: readonly string[]
  /** What the project was known as when it was held, as written and folded: what the promises are about. */
  readonly names: readonly string[]
  /** The runs that its decision rested on, and that its hold writes. */
  readonly runs: readonly number[]
  readonly heldAt: number
  readonly ranAt: number
  /** The record says that it ran. */
  readonly ran: boolean
  readonly charged: boolean
  /** The sender has spoken, or a correction: nothing about it changes any more. */
  readonly isFinal: boolean
}

interface Item {
  readonly holder: number
  /** Newest first. */
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
  ...{ step: 'new', project: '', forced: false, items: [], names: [], runs: [] },
  ...{ heldAt: 0, ranAt: 0, ran: false, charged: false, isFinal: false },
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

export function createModel(scene: Scene, rules: Rules) {
  /** Every name that the definitions of this moment know for a project. */
  function namesOf(project: string, listing: number): readonly string[] {
    const listed = scene.listings[listing]
    const isListed = listed?.some((name) => fold(name) === fold(project))
    return isListed && listed ? [project, ...listed] : [project]
  }

  function itemsOf(project: string, listing: number): readonly string[] {
    const names = namesOf(project, listing)
    if (!rules.allNames) return [fold(names[1] ?? project)]
    return distinct([...(rules.rawNames ? names : []), ...(rules.foldedNames ? names.map(fold) : [])])
  }

  const isKnownToHaveRun = ({ ran, charged }: Update) => ran && (charged || rules.freeRuns)
  const inDoubtBlocks = ({ heldAt }: Update, tick: number) => tick < heldAt + 1
  const inCoolDown = ({ ranAt }: Update, tick: number) => tick < ranAt + scene.coolDownTicks

  function* moves(state: State): Generator<Move> {
    if (state.tick < scene.maxTicks) yield ['time passes', { ...state, tick: state.tick + 1 }]
    if (state.changes < scene.maxChanges) {
      for (const [listing, listed] of scene.listings.entries()) {
        if (listing === state.listing) continue
        const changed = { ...state, listing, changes: state.changes + 1 }
        // A hold conditions on the revision it decided with.
        yield [`lists ${listed?.join(' and ') ?? 'nothing'}`, decideAgain(changed, ({ step }) => step === 'read')]
      }
    }
    for (const [id, update] of state.updates.entries()) {
      if (update.step === 'new' && state.updates.findIndex(({ step }) => step === 'new') === id) yield* read(state, id)
      if (update.step === 'read') yield [`${id} holds`, hold(state, id)]
      yield* ends(state, id)
    }
  }

  /** One reading of definitions and items, and the decision on it. */
  function* read(state: State, id: number): Generator<Move> {
    for (const project of scene.spellings) {
      for (const forced of scene.forced ? [false, true] : [false]) {
        const items = itemsOf(project, state.listing)
        const judged = rules.readsAllItems ? items : items.slice(0, 1)
        const holders = judged.flatMap((item) => state.items[item]?.holder ?? [])
        const runs = runsOf(state, judged)
        const latest = runs[0] === undefined ? undefined : state.updates[runs[0]]
        const how = forced ? ` by force` : ''
        const stops = holders.some((holder) => blocks(state, holder))
        const answers = !forced && rules.coolDown && latest !== undefined && inCoolDown(latest, state.tick)
        if (answers && !latest.ran)
          yield [`${id} asks for ${project}`, { broken: `${runs[0]} did not run, and answers for it` }]
        if (stops || answers) continue
        const known = namesOf(project, state.listing)
        const names = distinct([...known, ...known.map(fold)])
        const deciding: Update = { ...fresh, step: 'read', project, forced, items, names, runs }
        yield [`${id} asks for ${project}${how}`, withUpdate(state, id, deciding)]
      }
    }
  }

  function blocks({ updates, tick }: State, holder: number): boolean {
    const update = updates[holder] ?? fresh
    if (update.step === 'running') return rules.runningBlocks
    return update.step === 'in-doubt' && rules.doubtBlocks && inDoubtBlocks(update, tick)
  }

  /** The runs that these items know of, newest first, until the first that nothing can take back. */
  function runsOf({ items, updates }: State, judged: readonly string[]): readonly number[] {
    const known = judged.flatMap((item) => items[item] ?? [])
    const held = known.map(({ holder }) => holder).filter((id) => isKnownToHaveRun(updates[id] ?? fresh))
    const remembered = known
      .flatMap(({ runs }) => runs)
      .filter((id) => !rules.judgedByRecord || isKnownToHaveRun(updates[id] ?? fresh))
    return cut(updates, [...held, ...remembered])
  }

  /** What nothing can take back answers for longer than all that ran before it. */
  function cut(updates: readonly Update[], ids: readonly number[]): readonly number[] {
    const newest = newestFirst(updates, ids)
    const last = rules.earlierRuns ? newest.findIndex((id) => updates[id]?.isFinal) : 0
    return last < 0 ? newest : newest.slice(0, last + 1)
  }

  const newestFirst = (updates: readonly Update[], ids: readonly number[]): readonly number[] =>
    [...new Set(ids)].sort((a, b) => (updates[b]?.ranAt ?? 0) - (updates[a]?.ranAt ?? 0) || b - a)

  /** Whatever it was decided on is as it was: a decision that has moved was made again at once (`decideAgain`). */
  function hold(state: State, id: number): State | { broken: string } {
    const update = state.updates[id] ?? fresh
    const rival = state.updates.findIndex((other, at) => at !== id && mustStop(other, update, state.tick))
    if (rival >= 0) return { broken: `${id} is held beside ${rival}, which is ${state.updates[rival]?.step}` }
    const held: Update = { ...update, step: 'running', heldAt: state.tick, ranAt: state.tick, runs: [] }
    const written = rules.writesAllItems ? update.items : update.items.slice(0, 1)
    const items = Object.fromEntries(written.map((item) => [item, { holder: id, runs: update.runs }]))
    const next = withUpdate({ ...state, items: { ...state.items, ...items } }, id, held)
    return decideAgain(next, (other) => dependsOn(other, written))
  }

  /** Never the same work beside itself, and never paid again within its cool-down. */
  function mustStop(other: Update, update: Update, tick: number): boolean {
    if (other.step === 'new' || other.step === 'read' || !other.names.some((name) => update.names.includes(name)))
      return false
    if (other.step === 'running') return true
    if (other.step === 'in-doubt') return inDoubtBlocks(other, tick)
    return other.ran && !update.forced && inCoolDown(other, tick)
  }

  const dependsOn = ({ step, items }: Update, written: readonly string[]): boolean =>
    step === 'read' && (rules.conditionsOnAllItems ? items : items.slice(0, 1)).some((item) => written.includes(item))

  const decideAgain = (state: State, hasMoved: (update: Update) => boolean): State => ({
    ...state,
    updates: state.updates.map((update) => (hasMoved(update) ? fresh : update)),
  })

  function* ends(state: State, id: number): Generator<Move> {
    const update = state.updates[id] ?? fresh
    const { step, isFinal } = update
    const costs = scene.freeRuns ? [true, false] : [true]
    if (step === 'running') {
      yield [`${id} is in doubt`, withUpdate(state, id, { ...update, step: 'in-doubt' })]
      yield [`${id} did not run`, withUpdate(state, id, { ...update, step: 'released', isFinal: true })]
      const ranNow = { step: 'settled', ran: true, ranAt: state.tick, isFinal: true } as const
      for (const charged of costs) yield [`${id} ran`, withUpdate(state, id, { ...update, ...ranNow, charged })]
    }
    if (step === 'in-doubt') {
      for (const charged of costs) {
        const ran = { ...update, step: 'settled', ran: true, charged } as const
        yield [`${id} is said to have run`, remember(state, id, ran, rules.lateRan)]
        const byHimself = { ...ran, ranAt: state.tick, isFinal: true } as const
        yield [`the sender of ${id} says late that it ran`, remember(state, id, byHimself, rules.lateRan)]
      }
      yield [`${id} is said not to have run`, withUpdate(state, id, { ...update, step: 'released' })]
      const not = { ...update, step: 'released', isFinal: true } as const
      yield [`the sender of ${id} says late that it did not run`, withUpdate(state, id, not)]
    }
    if ((step === 'settled' || step === 'released') && !isFinal) {
      for (const charged of costs) {
        const ran = { ...update, ran: true, charged, isFinal: true }
        yield [`${id} is corrected: it ran`, remember(state, id, ran, rules.correctedRan)]
      }
      if (step === 'settled') {
        const not = { ...update, ran: false, charged: false, isFinal: true }
        yield [`${id} is corrected: it did not run`, withUpdate(state, id, not)]
      }
    }
  }

  /** What closed an update as ran, out of doubt or as a correction, and wrote it into the items in one transaction. */
  function remember(state: State, id: number, closed: Update, isWritten: boolean): State {
    const next = withUpdate(state, id, closed)
    if (!isWritten) return next
    const kept = rules.holdKeepsItems ? closed.items : itemsOf(closed.project, state.listing)
    const written = (kept.length > 0 ? kept : [closed.project]).filter((item) => next.items[item])
    const items = written.map((item) => {
      const { holder = id, runs = [] } = next.items[item] ?? {}
      return [
        item,
        {
          holder: rules.holderStays ? holder : id,
          runs: rules.earlierRuns ? newestFirst(next.updates, [id, ...runs]) : [id],
        },
      ]
    })
    const after = { ...next, items: { ...next.items, ...Object.fromEntries(items) } }
    return rules.version ? decideAgain(after, (other) => dependsOn(other, written)) : after
  }

  const withUpdate = (state: State, id: number, update: Update): State => ({
    ...state,
    updates: state.updates.with(id, update),
  })

  return { moves }
}
