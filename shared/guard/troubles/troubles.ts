import type { Definitions } from '../../ledger/definitions/definitions.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Problem } from '../../ledger/updates/update.ts'
import { remembered } from '../../platform/remembered.ts'
import type { Secret } from '../../platform/secrets.ts'
import type { Tracking } from '../../tracking/tracking.ts'
import { problem } from '../problems.ts'
import { noteOptions } from './lost-options.ts'
import { type NotedTrouble, type NotedTroubles, notedTroubles, withOnly } from './noted.ts'
import type { TroublesParts } from './parts.ts'
import { listenTo, type ServiceTrouble, serviceTroubles } from './service-health.ts'
import { type MachineFacts, type Trouble, type TroubleSlug, troublesIn, unknownFacts } from './table.ts'

export interface Troubles {
  /** What is wrong now, what stops everything first. Never throws. */
  read(): Promise<readonly Trouble[]>
  /** The same, with the facts of this machine. */
  look(): Promise<{ readonly machine: MachineFacts; readonly found: readonly Trouble[] }>
  /** Why this process cannot do its work. `null`: it can. Looks at most once in ten seconds. */
  whyNotReady(): Promise<Problem | null>
  /** For what a feature sees. Never throws. */
  begin(slug: TroubleOfFeature, about: string): Promise<void>
  /** Never throws. @param about absent: every one. */
  end(slug: TroubleOfFeature, about?: string): Promise<void>
  /** For the sweep: begins and ends the troubles that only a later look can show. */
  check(): Promise<void>
}

/** `about` is Slack's error, or the target of the events. */
type TroubleOfFeature = Extract<TroubleSlug, 'slack-refuses' | 'events-given-up'>

/** A page reads the noted troubles again after this time. */
const readForMs = 2_000
const looksEveryMs = 10_000

/** @returns the troubles, and the service whose answers they hear. */
export function createTroubles(parts: TroublesParts): { troubles: Troubles; tracking: Tracking } {
  const { ledger, clock, log } = parts
  const machine = async () => (await parts.machine?.().catch(() => unknownFacts)) ?? unknownFacts
  const startedAt = clock.now()
  const items = ledger.item(notedTroubles)
  const { tracking, clockProblem, know } = listenTo({
    ...parts,
    note: (trouble, now) => {
      noting = noting.then(() => note(trouble, now))
      return noting
    },
  })
  let noting = Promise.resolve()
  const fired = new Map<string, number>()
  const dated = createDates()

  const change = async (isOurs: (trouble: NotedTrouble) => boolean, now: readonly NotedTrouble[]): Promise<void> => {
    await items
      .change((before) => withOnly(before, isOurs, now))
      .catch((cause) => log.error('trouble-not-noted', { cause }))
  }

  const note = (trouble: ServiceTrouble | null, now: number): Promise<void> =>
    change(isOfService, trouble === null ? [] : [{ slug: trouble, since: now }])

  const notedNow = remembered(clock, readForMs, () => openIn(items))

  const isOf = (slug: string, about?: string) => (trouble: NotedTrouble) =>
    trouble.slug === slug && (about === undefined || trouble.about === about)

  const begin: Troubles['begin'] = (slug, about) => change(isOf(slug, about), [{ slug, about, since: clock.now() }])

  async function end(slug: TroubleOfFeature, about?: string): Promise<void> {
    if ((await notedNow()).some(isOf(slug, about))) await change(isOf(slug, about), [])
  }

  async function look() {
    await noting
    const [noted, facts, definitions] = await Promise.all([notedNow(), machine(), lately(ledger)])
    const seen = { machine: facts, definitions, noted, clockIsOff: clockProblem() !== null }
    return { machine: facts, found: dated(troublesIn({ now: clock.now(), startedAt, ...seen }), clock.now()) }
  }

  const whyNotReady = remembered(clock, looksEveryMs, async () => {
    const [facts, definitions, hasSecrets] = await Promise.all([
      machine(),
      definitionsOf(ledger),
      canRead(parts.secrets),
    ])
    const wrongClock = clockProblem()
    const seen = { machine: facts, definitions, noted: [], clockIsOff: wrongClock !== null, hasSecrets }
    const stopping = troublesIn({ now: clock.now(), startedAt, ...seen }).filter(({ stops }) => stops)
    return notReady(stopping, wrongClock)
  })

  async function check(): Promise<void> {
    const { open } = await noteOptions(items, parts)
    const ofService = open.find(isOfService)
    know((ofService?.slug as ServiceTrouble | undefined) ?? null)
    // Any list of projects proves that the service answers and accepts the token.
    if (ofService && (await tracking.projects()) !== null) await note(null, clock.now())
    if (!parts.firesPlans) return
    const { plansNotFired } = await import('./plans-not-fired.ts')
    const missing = await plansNotFired({ ...parts, startedAt, open, fired })
    if (missing.length === 0 && !open.some(isOfPlan)) return
    await items.change((before) => withOnly(before, isOfPlan, missing))
  }

  return { tracking, troubles: { read: async () => (await look()).found, look, whyNotReady, begin, end, check } }
}

function notReady(stopping: readonly Trouble[], wrongClock: Problem | null): Problem | null {
  const [first] = stopping
  if (!first) return null
  if (first.slug === 'clock') return wrongClock
  const detail = stopping.map(({ sentence, remedy }) => `${sentence} ${remedy}`).join(' ')
  return problem(first.slug === 'secret' ? 'secret-unavailable' : 'ledger-unavailable', detail)
}

const canRead = (secrets: readonly Secret[]): Promise<boolean> =>
  Promise.all(secrets.map((secret) => secret.read())).then(
    () => true,
    () => false,
  )

/** A trouble without a beginning of its own begins when this process first sees it. */
function createDates() {
  const firstSeen = new Map<TroubleSlug, number>()
  return (seen: readonly Trouble[], now: number): readonly Trouble[] => {
    const slugs = new Set(seen.map(({ slug }) => slug))
    for (const slug of firstSeen.keys()) if (!slugs.has(slug)) firstSeen.delete(slug)
    return seen.map((trouble) => {
      if (trouble.since !== null) return trouble
      const since = firstSeen.get(trouble.slug) ?? now
      firstSeen.set(trouble.slug, since)
      return { ...trouble, since }
    })
  }
}

const isOfService = ({ slug }: NotedTrouble): boolean => (serviceTroubles as readonly string[]).includes(slug)

const isOfPlan = ({ slug }: NotedTrouble): boolean => slug === 'plan-not-fired'

const definitionsOf = (ledger: Ledger): Promise<Definitions | null> =>
  ledger.view().then(
    ({ definitions }) => definitions,
    () => null,
  )

const openIn = (items: NotedTroubles): Promise<readonly NotedTrouble[]> =>
  items.read().then(
    ({ open }) => open,
    () => [],
  )

/** A page has read the definitions already. */
const lately = async (ledger: Ledger): Promise<Definitions | null> =>
  ledger.lastSeen()?.definitions ?? definitionsOf(ledger)
