import type { View } from '../../ledger/book/view.ts'
import type { Definitions } from '../../ledger/definitions/definitions.ts'
import type { Problem, Update } from '../../ledger/updates/update.ts'
import type { Units } from '../../platform/words.ts'
import { whyNotReadable } from '../../tracking/answer.ts'
import { productKinds } from '../../tracking/kinds.ts'
import { readStoredRun, type StoredReading } from '../../tracking/read-run.ts'
import type { RunResult, StoredBody } from '../../tracking/tracking.ts'
import { type GuardParts, hasTime, inFlightUntil, withParts } from '../options.ts'
import type { Decider } from '../people/approvers.ts'
import {
  type Approvals,
  type DecisionOutcome,
  nameOf,
  type Resolution,
  stuck,
  whyNotResolve,
} from '../people/decisions.ts'
import { problem, refused } from '../problems.ts'
import { namesOfProject } from '../rules/projects.ts'
import { units as inUnits } from '../sentences.ts'
import { lookForEvidence } from '../sweep/sweep.ts'
import { targetOfRequest } from '../update/quote.ts'
import { runOutcomeOf } from '../update/settle.ts'
import { noUpdate } from './approvals.ts'

/** What the settings of now say about updates in doubt whose answer is stored. */
export interface AnsweredDoubts {
  /** The oldest doubt comes first. */
  readonly proposals: readonly Proposal[]
  readonly leftOut: LeftOut
  /** Why nothing is proposed. */
  readonly note?: string
}

export interface Proposal {
  readonly update: Update
  readonly outcome: Resolution
  /** The cost, or the held units that come back. */
  readonly units: Units
  readonly setting: DecidingSetting
  readonly because: string
  /** Before this time no one can say "did not run". */
  readonly retryAt?: number
}

type DecidingSetting = 'RUN_STARTED' | 'RUN_REFUSED' | 'ANSWERS_WELL'

/** How many stored answers decide nothing. `unknown`: no setting decides. */
type LeftOut = Readonly<Record<'cut' | 'cached' | 'undecodable' | 'unknown', number>>

/** What a person saw before the press. */
export type ShownProposal = Pick<Proposal, 'outcome' | 'units'>

interface BookingDetails {
  readonly reason: string
  /** Refuses another outcome or figure than this one. Absent: no check. */
  readonly shown?: ShownProposal | undefined
  readonly endsAt: number
}

type ReadingParts = Pick<GuardParts, 'tracking' | 'options' | 'kinds'>

type Parts = ReadingParts & Pick<GuardParts, 'ledger' | 'clock'> & { readonly approvals: Pick<Approvals, 'decide'> }

const maxDoubts = 100

export const createAnsweredDoubts = (parts: Parts) => withParts(parts, { answeredDoubts, resolveByAnswer })

/** @param ids looks at these updates only. Absent: at the oldest doubts. */
async function answeredDoubts(parts: Parts, ids?: readonly string[]): Promise<AnsweredDoubts> {
  const { ledger } = parts
  const updates = ids
    ? (await ledger.updatesNamed(ids)).flatMap((update) => update ?? [])
    : (await ledger.oldestOpen('in-doubt', maxDoubts)).rows
  return answeredAmong(parts, await ledger.view(), updates)
}

export function answeredAmong(
  parts: ReadingParts,
  { definitions, now }: Pick<View, 'definitions' | 'now'>,
  updates: readonly Update[],
): AnsweredDoubts {
  const verdicts = updates.flatMap((update) => judge(parts, definitions, update) ?? [])
  const proposals = verdicts.filter((verdict) => typeof verdict !== 'string').map((verdict) => inTime(verdict, now))
  const number = (why: keyof LeftOut) => verdicts.filter((verdict) => verdict === why).length
  const leftOut = {
    cut: number('cut'),
    cached: number('cached'),
    undecodable: number('undecodable'),
    unknown: number('unknown'),
  }
  if (proposals.length > 0) return { proposals, leftOut }
  return { proposals, leftOut, note: verdicts.length === 0 ? noAnswer : noSetting }
}

const noAnswer = 'No update in doubt has a stored answer of the service.'
const noSetting =
  'No setting decides the stored answers. RUN_STARTED, RUN_REFUSED and ANSWERS_WELL can: npm run doctor says more.'

/** `retryAt` is absent once it has passed. */
function inTime({ retryAt, ...proposal }: Proposal, now: number): Proposal {
  return retryAt === undefined || retryAt <= now ? proposal : { ...proposal, retryAt }
}

type Verdict = Proposal | keyof LeftOut

/** `null`: the update is not in doubt, or the service did not answer. */
function judge(parts: ReadingParts, definitions: Definitions, update: Update): Verdict | null {
  const { state, hold, service } = update
  if (state !== 'in-doubt' || !hold || !service) return null
  const unreadable = whyNotReadable(service)
  if (unreadable) return unreadable
  const { tracking, options, kinds = productKinds } = parts
  const names = namesOfProject(definitions, update.project)
  const reading = tracking.readingOf(targetOfRequest(update, names), hold.place)
  const result = readStoredRun(service, reading)
  const setting = result && settingThatDecides(result, service, reading)
  if (!setting) return 'unknown'
  const { leavesDates, settings } = kinds[update.kind]
  const { runPointer } = settings
  const outcome = runOutcomeOf(result, { held: hold.units, isZeroFree: options.isZeroFree, runPointer })
  if (outcome.kind === 'ran') {
    const { units } = outcome
    const states = units === hold.units ? '' : ` It states ${inUnits(units)}.`
    return { update, outcome: 'ran', units, setting, because: `${reasons[setting]}${states}` }
  }
  const look = leavesDates && hold.datesBefore ? lookFirst : noDates
  const because = `${reasons[setting]} ${look}`
  const retryAt = inFlightUntil(update, options)
  return { update, outcome: 'did-not-run', units: hold.units, setting, because, retryAt }
}

const reasons: Readonly<Record<DecidingSetting, string>> = {
  RUN_STARTED: 'RUN_STARTED names the answer.',
  RUN_REFUSED: 'RUN_REFUSED names the answer.',
  ANSWERS_WELL: 'With ANSWERS_WELL, the answer has no sign of failure.',
}

const lookFirst = 'Before it is booked, the guard looks for new data of the project.'
const noDates = 'No dates of the service can show whether it ran.'

/** A status alone decided nothing when the answer came, so only the body's settings may decide now. */
function settingThatDecides(result: RunResult, stored: StoredBody, reading: StoredReading): DecidingSetting | null {
  const { rules } = reading
  if (result.kind === 'did-not-run') return (result.status ?? 0) < 300 ? 'RUN_REFUSED' : null
  if (result.kind !== 'ran' || !rules) return null
  if (rules.started.length > 0) return 'RUN_STARTED'
  const withoutWell = readStoredRun(stored, { ...reading, rules: { ...rules, well: [] } })
  return withoutWell?.kind === 'ran' ? null : 'ANSWERS_WELL'
}

/** Books what the stored answer says now, as that person's own resolution. */
async function resolveByAnswer(
  parts: Parts,
  id: string,
  by: Decider,
  { reason, shown, endsAt }: BookingDetails,
): Promise<DecisionOutcome> {
  const { ledger, options, approvals } = parts
  const view = await ledger.view([{ id }])
  const update = view.results[0]?.update
  if (!update) return refused(noUpdate(id))
  const whyNotOpen = whyNotResolve(update, view, 'ran', options)
  if (whyNotOpen) return refused(whyNotOpen)
  const verdict = judge(parts, view.definitions, update)
  if (verdict === null || typeof verdict === 'string') {
    return refused(stuck(update, `${nameOf(update, 'The')} stays in doubt: ${undecidedReasons[verdict ?? 'none']}`))
  }
  const { outcome, units } = verdict
  if (shown && (shown.outcome !== outcome || shown.units !== units)) return refused(changed(verdict, shown))
  const whyNot = whyNotResolve(update, view, outcome, options) ?? (await whyNotReleased(parts, verdict, endsAt))
  if (whyNot) return refused(whyNot)
  const note = `${reason} (${reasons[verdict.setting].slice(0, -1)})`
  return approvals.decide(outcome, id, by, outcome === 'ran' ? { reason: note, units } : { reason: note })
}

const undecidedReasons: Readonly<Record<keyof LeftOut | 'none', string>> = {
  none: 'the service did not answer, so no setting can decide it.',
  cut: 'only a part of the answer was stored, so it proves nothing.',
  cached: 'a cache answered, which proves nothing.',
  undecodable: 'the answer could not be decoded, so it proves nothing.',
  unknown: 'no setting decides its answer.',
}

const inWords = ({ outcome, units }: ShownProposal): string =>
  outcome === 'ran' ? `that it ran for ${inUnits(units)}` : `that it did not run, which gives ${inUnits(units)} back`

function changed({ update, outcome, units }: Proposal, shown: ShownProposal) {
  const says = `The answer to ${nameOf(update)} now says ${inWords({ outcome, units })}`
  return stuck(update, `${says}; you were shown ${inWords(shown)}. Nothing was booked; look at it again.`)
}

/** New data outweigh a setting, so "did not run" needs a look that finds none. */
async function whyNotReleased(parts: Parts, { update, outcome }: Proposal, endsAt: number): Promise<Problem | null> {
  if (outcome === 'ran') return null
  if (!hasTime(parts, endsAt, parts.options.serviceTimeoutMs)) {
    const wait = 'There was no time left to look for new data'
    return problem('undecided', `${wait} of ${update.project}. Nothing was booked for it; send the request again.`)
  }
  const evidence = await lookForEvidence(parts, update)
  if (evidence.kind === 'none') return null
  const stays = `${nameOf(update, 'The')} was not released`
  if (evidence.kind === 'found') {
    return stuck(update, `${stays}: the service has data of ${evidence.date} that it did not have before, so it ran.`)
  }
  const why =
    evidence.kind === 'unclear'
      ? 'the service has new data that may be of this update'
      : 'the dates of the project cannot be read now, so new data may be missed'
  return stuck(update, `${stays}: ${why}. Try again later, or say by hand what happened.`)
}
