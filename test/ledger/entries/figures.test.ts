import { expect, test } from 'vitest'
import { counterOf } from '../../../shared/ledger/book/book.ts'
import type { EntryPreview } from '../../../shared/ledger/book/enter.ts'
import type { EntryRequest } from '../../../shared/ledger/book/entry-request.ts'
import { createLedger } from '../../../shared/ledger/ledger.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import { type FigureEvent, FigureModel, nameOfEvent } from '../../simulation/doubts/model.ts'
import {
  allFigureRules,
  type FigureScene,
  type FigureState,
  firstStates,
  heldUnits,
  unitsPerMonth,
} from '../../simulation/doubts/state.ts'
import { createTestClock, minutes } from '../../support/clock.ts'
import { decidedFrom, didNotRun, ran, unknown } from '../../support/records.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

// The ledger does what the searched model of figures and doubts does (test/simulation/doubts).

const scene: FigureScene = {
  doubts: 2,
  costs: [0, 5, 10, 15],
  ticks: 6,
  turnsAt: 4,
  outs: 3,
  settled: 2,
  asOf: true,
}
const tickMs = minutes(5)
const account = {
  unitsPerMonth: toUnits(unitsPerMonth),
  usedAtStart: toUnits(0),
  renewal: { day: 1, time: '00:00', zone: 'UTC' },
}

/** The ledger of one walk. The month turns at the fourth tick. */
async function start() {
  const clock = createTestClock('2026-11-30T23:40:00Z')
  const ledger = createLedger({ store: createMemoryStore(), clock, account, flightMs: tickMs })
  const ids: string[] = []
  let names = 0

  async function hold(): Promise<void> {
    const id = `upd_${ids.length}`
    const named = { id, kind: 'ranking', project: id, budget: 'account', caller: 'ada', via: 'http' } as const
    const request = { ...named, content: { digest: 'd', count: 1 }, createdAt: clock.now() }
    const { view, seen, update } = await decidedFrom(ledger, request, { units: heldUnits })
    expect(await ledger.hold(view, seen, update)).toBe('held')
    ids.push(id)
  }

  async function settle(index: number, outcome: Parameters<typeof ledger.settle>[1]): Promise<void> {
    const update = await ledger.update(ids[index] ?? '')
    if (update) await ledger.settle(update, outcome)
  }

  /** Previews, closes the doubts as a person, and books, as the guard does. `null`: refused. */
  async function reconcile(unitsLeft: number, how: object, outcome: 'ran' | 'did-not-run'): Promise<number | null> {
    const id = `ent_${names++}`
    const figure = { type: 'reconcile', budget: 'account', unitsLeft, reason: 'r', by: 'eve', id, content: id } as const
    const asked = await ledger.previewEntry({ ...figure, ...how } as EntryRequest)
    const doubts = asked.kind === 'doubts-open' ? asked.doubts.map((each) => each.id) : []
    const answers = Object.fromEntries(doubts.map((each) => [each, outcome]))
    const preview: EntryPreview =
      doubts.length > 0 ? await ledger.previewEntry({ ...figure, ...how, doubts: answers } as EntryRequest) : asked
    if (preview.kind !== 'possible') return null
    for (const each of doubts)
      await settle(ids.indexOf(each), outcome === 'ran' ? ran(heldUnits, 'person') : didNotRun('person'))
    const booked = await ledger.enter({ ...figure, ...how, shown: preview.entry.units } as EntryRequest)
    expect(booked).toMatchObject({ kind: 'entered', entry: { units: preview.entry.units } })
    return preview.entry.units
  }

  async function figures() {
    const { book } = await ledger.view()
    const { spent = 0, inDoubt = 0, available = unitsPerMonth } = counterOf(book, 'month', 'account') ?? {}
    const updates = (await ledger.updatesNamed(ids)).map((update) => update?.charged ?? 0)
    return { spent, inDoubt, available, updates }
  }

  for (let doubt = 0; doubt < scene.doubts; doubt++) {
    await hold()
    await settle(doubt, unknown())
  }
  return { clock, ledger, hold, settle, reconcile, figures }
}

type Started = Awaited<ReturnType<typeof start>>

/** @returns whether the ledger allowed it. */
async function apply(started: Started, model: FigureModel, state: FigureState, event: FigureEvent): Promise<boolean> {
  const { clock, hold, settle, reconcile } = started
  const month = model.monthAt(state.tick)
  switch (event.kind) {
    case 'tick':
      clock.advance(tickMs)
      return true
    case 'outside':
      return true
    case 'settled':
      await hold()
      await settle(state.updates.length, ran(heldUnits))
      return true
    case 'resolve':
      await settle(event.update, event.units === 0 ? didNotRun('person') : ran(event.units, 'person'))
      return true
    case 'late-answer': {
      const cost = state.updates[event.update]?.cost ?? 0
      await settle(event.update, cost === 0 ? didNotRun() : ran(cost))
      return true
    }
    case 'figure': {
      const left = unitsPerMonth - model.counted(state, month, state.tick)
      return (await reconcile(left, event.isClosing ? { closing: true } : {}, event.outcome)) !== null
    }
    case 'figure-before': {
      const readAt = state.tick - event.ticks
      const left = unitsPerMonth - model.counted(state, month, readAt)
      return (await reconcile(left, { asOf: clock.now() - event.ticks * tickMs }, 'ran')) !== null
    }
  }
}

/** Events that only a person or the vendor rules out are left to the model. */
const isOfLedger = ({ kind }: FigureEvent): boolean => kind === 'figure' || kind === 'figure-before'

function createChance(seed: number) {
  let last = seed
  return (below: number): number => {
    last = (last * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((last / 2_147_483_648) * below)
  }
}

const longest = 16
/** `WALKS=2000` takes some minutes. */
const walks = Number(process.env.WALKS ?? 400)

test(`in ${walks} walks of the model, the ledger has the same figures after each event`, {
  timeout: 300_000,
}, async () => {
  const model = new FigureModel(scene, allFigureRules)
  const firsts = firstStates(scene)
  let [compared, booked, refused] = [0, 0, 0]
  for (let walk = 0; walk < walks; walk++) {
    const chance = createChance(7_919 * walk + 17)
    for (let warm = 0; warm < 5; warm++) chance(2)
    let state = firsts[chance(firsts.length)] as FigureState
    const started = await start()
    const steps: string[] = []
    for (let step = 0; step < longest; step++) {
      const events = model.eventsOf(state)
      const event = chance(4) === 0 ? ({ kind: 'tick' } as const) : (events[chance(events.length)] as FigureEvent)
      const after = model.after(state, event)
      if (!after && (!isOfLedger(event) || (event.kind === 'figure' && event.outcome === 'did-not-run'))) continue
      steps.push(nameOfEvent(event))
      const allowed = await apply(started, model, state, event)
      const what = `walk ${walk}: ${steps.join(', ')}; ${JSON.stringify(state)}`
      expect(allowed, what).toBe(after !== null)
      state = after ?? state
      const updates = state.updates.map(({ charged }) => charged)
      expect(await started.figures(), what).toEqual({ ...model.figuresOf(state), updates })
      compared++
      if (isOfLedger(event)) after ? booked++ : refused++
    }
    expect((await started.ledger.audit()).filter(({ ok }) => ok !== true)).toEqual([])
  }
  expect(compared).toBeGreaterThan(walks * 8)
  expect(Math.min(booked, refused)).toBeGreaterThan(walks / 4)
})
