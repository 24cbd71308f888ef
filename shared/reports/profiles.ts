import { type DecisionMade, decisionsIn } from '../guard/inbox/inbox.ts'
import { type PlannedParts, withParts } from '../guard/options.ts'
import { whyNotApprove } from '../guard/people/decisions.ts'
import type { Plan } from '../guard/plans-file.ts'
import { shownCaller, shownIn } from '../guard/sentences.ts'
import type { NextStop } from '../guard/shown-budget.ts'
import { runsOf } from '../guard/update/duplicate-work.ts'
import type { Entry } from '../ledger/book/entry.ts'
import type { View } from '../ledger/book/view.ts'
import {
  type Budget,
  budgetNamed,
  listingsOf,
  personOf,
  planOfCaller,
  projectName,
  type RequestedProject,
  rootBudget,
  unseenBudget,
} from '../ledger/definitions/definitions.ts'
import { monthBefore } from '../ledger/definitions/windows.ts'
import type { Run, Update } from '../ledger/updates/update.ts'
import type { UpdateFilter } from '../ledger/views/lists.ts'
import { dayMs } from '../platform/clock.ts'
import { reservedNames } from '../platform/words.ts'
import { type Kind, namesOf, productKinds } from '../tracking/kinds.ts'
import { type FigureRow, figuresOf, maxUncounted, recordsOf, summariesOf } from './figures.ts'
import { lastsOf, latestOf } from './last-updates.ts'
import { nextStopOf } from './next-stop.ts'
import { callerStopsOf } from './outlook.ts'
import { greatest, type Spender, spentBy, spentOnProjects } from './spenders.ts'

/** Units of this month and of the month before. `null`: the ledger began after that month. */
type SpentThen = { readonly now: number; readonly before: number | null }

/** One project or person, in this month and the month before. */
export interface Profile {
  readonly view: View
  /** The name as listed. Other names lead to the same profile. */
  readonly name: string
  /** A project's name and id as updates have them, or all callers of a person. */
  readonly names: readonly string[]
  readonly spent: SpentThen
  /** The newest update comes first. */
  readonly latest: readonly Update[]
  /** Updates that wait for approval or are in doubt. */
  readonly waiting: readonly Update[]
}

export interface ProjectProfile extends Profile {
  readonly id: string | undefined
  /** `null`: no budget lists it. */
  readonly owner: string | null
  readonly kinds: readonly { readonly kind: Kind; readonly spent: SpentThen; readonly last: Run | null }[]
  readonly callers: readonly Spender[]
  readonly plans: readonly Plan[]
  /** The stop at the project's last price. `null`: no budget that the reader sees pays for the project. */
  readonly next: NextStop | null
}

export interface PersonProfile extends Profile {
  readonly projects: readonly Spender[]
  readonly budgets: readonly Spender[]
  readonly decided: readonly DecisionMade[]
  /** The person's bookings and changes of this month. */
  readonly entries: readonly Entry[]
  /** Updates that the person may approve according to the list of callers. Tokens are not known here. */
  readonly toDecide: readonly Update[]
  /** The next stop of each listed caller. Empty for a narrowed reader, who sees only parts of an entry. */
  readonly next: ReadonlyMap<string, NextStop>
}

/** Bounds the search for the latest updates. */
export const searched = { count: 100, days: 31 }
const maxOpen = 100
const maxLatest = 10

type Parts = Pick<PlannedParts, 'ledger' | 'plans' | 'kinds'>

/** The number of requests is bounded. `null`: the project or person is unknown, or hidden from the reader. */
export const createProfiles = (parts: Parts) => withParts(parts, { projectProfile, personProfile })

async function projectProfile(parts: Parts, asked: string): Promise<ProjectProfile | null> {
  const { ledger, plans, kinds = productKinds } = parts
  const view = await ledger.view(namesOf(kinds).map((kind) => ({ work: { kind, project: asked } })))
  const { definitions } = view
  const [listing] = listingsOf(definitions, asked)
  const name = listing?.project.name ?? asked
  const isOf = (record: RequestedProject) => projectName(definitions, record) === name
  const lastRuns = view.results.map((seen) => runsOf(seen)[0] ?? null)
  const all = await recordsIn(parts, view)
  const read = { rows: all.rows.filter(isOf), latest: all.latest.filter(isOf), waiting: all.waiting.filter(isOf) }
  const found = await withOlder(parts, read, { project: asked }, listing !== undefined || lastRuns.some(Boolean))
  if (!found) return null
  const ofNow = found.rows.filter(isOfMonth(view.month.name))
  return {
    ...profileOf(view, name, found),
    names: [name],
    id: listing?.project.id,
    owner: listing?.budget.name ?? null,
    kinds: namesOf(kinds).map((kind, at) => {
      const ofKind = found.rows.filter((row) => row.kind === kind)
      return { kind, spent: spentIn(view, ofKind), last: lastRuns[at] ?? null }
    }),
    callers: greatest(chargedIn(ofNow), spentBy(definitions, ofNow)),
    plans: plans.filter(({ projects }) => projects.some((project) => isOf({ project }))),
    next: nextOf(view, listing?.budget, lastRuns, found.latest),
  }
}

function nextOf(view: View, owner: Budget | undefined, runs: readonly (Run | null)[], latest: readonly Update[]) {
  const { definitions } = view
  const isRefused = budgetNamed(definitions, rootBudget)?.unowned === 'refuse'
  const payer = owner ?? (isRefused ? undefined : budgetNamed(definitions, rootBudget))
  const [last] = runs.filter((run) => run !== null).toSorted((a, b) => b.at - a.at)
  const [lastRefused = null] = [...latestOf(definitions, [lastsOf(definitions, latest)]).refusals.values()].toSorted(
    (a, b) => b.at - a.at,
  )
  return payer ? nextStopOf(view, payer, { last, lastRefused }) : null
}

async function personProfile(parts: Parts, asked: string): Promise<PersonProfile | null> {
  if (planOfCaller(asked) !== null || reservedNames.includes(asked.toLowerCase())) return null
  const view = await parts.ledger.view()
  const { definitions, month } = view
  const personIn = ({ caller, person, plan }: Pick<FigureRow, 'caller' | 'person' | 'plan'>) =>
    plan === undefined ? shownCaller(definitions, caller, person) : null
  const all = await recordsIn(parts, view)
  const claims = all.rows.find((row) => row.caller === asked && personIn(row) !== null)
  const name = (claims && personIn(claims)) ?? shownCaller(definitions, asked)
  const isByPerson = (update: Update) =>
    update.plan === undefined && shownIn(definitions, update, update.caller) === name
  const read = {
    rows: all.rows.filter((row) => personIn(row) === name),
    latest: all.latest.filter(isByPerson),
    waiting: all.waiting.filter(isByPerson),
  }
  const listed = Object.keys(definitions.callers ?? {}).filter((each) => personOf(definitions, each) === name)
  const callers = new Set([...listed, ...[...read.rows, ...read.latest].map(({ caller }) => caller)])
  const { rows: entries } = await parts.ledger.entries({ month: month.name, by: [name, ...callers] }, maxLatest)
  const decided = decisionsIn([...all.waiting, ...all.latest]).filter(
    ({ update, by }) => shownIn(definitions, update, by) === name,
  )
  const isKnown = callers.size + entries.length + decided.length > 0
  const found = await withOlder(parts, read, { caller: asked }, isKnown)
  if (!found) return null
  const ofNow = found.rows.filter(isOfMonth(month.name))
  const spentOf = (spent: Parameters<typeof greatest>[1]) => greatest(chargedIn(ofNow), spent)
  const approvers = listed.filter((each) => definitions.callers?.[each]?.scopes?.includes('approve'))
  return {
    ...profileOf(view, name, found),
    names: callers.size > 0 ? [...callers] : [name],
    projects: spentOf(spentOnProjects(definitions, ofNow)),
    budgets: spentOf(ofNow.map(({ budget, charged: units = 0 }) => ({ kind: 'budget', name: budget, units }))),
    decided: decided.slice(0, maxLatest),
    entries,
    next: budgetNamed(definitions, rootBudget) ? callerStopsOf(view, all.lasts) : new Map(),
    toDecide: all.waiting.filter((update) =>
      approvers.some((caller) => whyNotApprove(update, view, { caller }) === null),
    ),
  }
}

async function recordsIn({ ledger }: Parts, view: View) {
  const { definitions, month, now } = view
  const since = Math.max(monthBefore(definitions.calendar, month).start, definitions.createdAt - dayMs)
  const [summaries, { rows: latest }, approvals, doubts] = await Promise.all([
    summariesOf(ledger, view, { since, until: now }),
    ledger.updates({ since: now - searched.days * dayMs }, searched.count),
    ledger.open('awaiting-approval', maxOpen),
    ledger.open('in-doubt', maxOpen),
  ])
  const later = await recordsOf(ledger, summaries, { until: now, max: maxUncounted, latest })
  return {
    rows: figuresOf(summaries, later),
    latest,
    waiting: [...approvals.rows, ...doubts.rows],
    lasts: [...summaries, lastsOf(definitions, [...latest, ...later])],
  }
}

/** Reads older updates if nothing else is known, because an older update may link to this profile. */
async function withOlder({ ledger }: Parts, found: Found, filter: UpdateFilter, isKnown: boolean) {
  if (isKnown || found.rows.length + found.latest.length + found.waiting.length > 0) return found
  const { rows: latest } = await ledger.updates(filter, maxLatest)
  return latest.length > 0 ? { ...found, latest } : null
}

interface Found extends Pick<Profile, 'latest' | 'waiting'> {
  readonly rows: readonly FigureRow[]
}

const profileOf = (view: View, name: string, { rows, latest, waiting }: Found) => ({
  view,
  name,
  waiting,
  spent: spentIn(view, rows),
  latest: latest.slice(0, maxLatest),
})

/** Like statements, leaves out units that an unseen budget paid. */
const isOfMonth = (month: string) => (row: FigureRow) => row.month === month && row.budget !== unseenBudget

const chargedIn = (rows: readonly FigureRow[]): number => rows.reduce((sum, { charged = 0 }) => sum + charged, 0)

function spentIn({ definitions, month }: View, rows: readonly FigureRow[]): SpentThen {
  const before = monthBefore(definitions.calendar, month)
  return {
    now: chargedIn(rows.filter(isOfMonth(month.name))),
    before: definitions.createdAt >= before.end ? null : chargedIn(rows.filter(isOfMonth(before.name))),
  }
}
