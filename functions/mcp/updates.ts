import { showEstimate } from '../../shared/api/to-json.ts'
import {
  maxAheadMs,
  type QuoteBonds,
  quoteLastsMs,
  type ReadQuote,
  readQuote,
  type VerifiedQuote,
} from '../../shared/auth/signed-quotes.ts'
import { noUpdate } from '../../shared/guard/inbox/approvals.ts'
import { whyNotSubmit } from '../../shared/guard/people/permissions.ts'
import { invalidRequest, problem } from '../../shared/guard/problems.ts'
import { units as inUnits, when, wouldRefuse, zoneOf } from '../../shared/guard/sentences.ts'
import { endsWithoutRun } from '../../shared/guard/states.ts'
import type { Answer } from '../../shared/guard/update/answer.ts'
import type { Estimate } from '../../shared/guard/update/estimate.ts'
import { type UpdatesRequest, updateIdOf } from '../../shared/guard/update/request.ts'
import { type Unowned, unownedRules } from '../../shared/ledger/definitions/definitions.ts'
import { isTerminal, isUnderWay, type Problem, type Tags, type Update } from '../../shared/ledger/updates/update.ts'
import { toRfc3339 } from '../../shared/platform/clock.ts'
import { digest } from '../../shared/platform/ids.ts'
import { toUnits } from '../../shared/platform/words.ts'
import type { Kind, Kinds } from '../../shared/tracking/kinds.ts'
import type { ToolCall } from './call.ts'
import { answered, newQuote, nextAfter, nextFor, oneLine, refused, shownUpdate, type ToolResult } from './results.ts'

interface EstimateInput {
  readonly kind: Kind
  readonly project: string
  readonly budget?: string
  readonly query?: Readonly<Record<string, string>>
}

const via = 'mcp'
const route = 'request_update'

export async function estimateUpdate(call: ToolCall, input: EstimateInput): Promise<ToolResult> {
  const { token, parts, permissions } = call
  const { project, ...request } = input
  const estimate = await parts.guard.estimate({ ...request, projects: [project] }, { caller: token.sub, token, via })
  if ('slug' in estimate) return refused(estimate, nextAfter(estimate, 'estimate'))
  const left = estimate.figures
    .filter(({ limit }) => limit !== 'unlimited')
    .map(({ budget, window, available }) => ({ budget, window, before: available, after: available - estimate.units }))
  const shown = { ...showEstimate(estimate), left }
  if (estimate.problem) {
    const { detail, slug } = estimate.problem
    const verdict = slug === 'already-updated' ? 'It is up to date' : 'It would be refused'
    const next = nextAfter(estimate.problem, 'estimate')
    return answered(`${verdict}: ${detail} ${next}`, { ...shown, next })
  }
  const price = `It would cost ${inUnits(estimate.units)}.`
  if (whyNotSubmit(token.sub, permissions)) {
    const next = 'You may not ask for it: that needs the scope run or propose.'
    return answered(`${price} ${next}`, { ...shown, next })
  }
  const quote = await issueQuote(call, input, estimate)
  if (quote === null) {
    const message = 'is too long for a quote; name fewer or shorter parameters'
    return refused(invalidRequest([{ path: 'query', message }]), 'Nothing was spent.')
  }
  const quoteExpiresAt = toRfc3339(parts.clock.now() + quoteLastsMs)
  const person = estimate.approval === null ? '' : ` A person would have to approve it: ${estimate.approval}.`
  const { wouldHaveRefused: lacked } = estimate
  const observed = lacked.length === 0 ? '' : ` It passes because limits are only observed; ${wouldRefuse(lacked)}.`
  const next =
    'To spend these units, call request_update with this quote within ten minutes. It is good for one update.'
  return answered(`${price}${person}${observed} ${next}`, { ...shown, quote, quoteExpiresAt, next })
}

async function issueQuote(call: ToolCall, input: EstimateInput, { units, payers, works, unowned }: Estimate) {
  const { project } = input
  const payer = payers[project]
  if (!payer) throw new Error(`an estimate names who pays for ${project}`)
  const charge = { ...payer, works: works[project] ?? [], unowned: unowned[project] ?? null }
  return call.parts.quotes.issue({ ...input, units }, { ...bondsOf(call), charge })
}

function bondsOf({ token, parts }: ToolCall): Omit<QuoteBonds, 'charge'> {
  const { identity } = parts.guard.ledger.lastSeen()?.definitions ?? {}
  return { caller: [token.issuer?.name ?? null, token.sub], ledger: [identity?.ledger ?? '', identity?.epoch ?? 0] }
}

/** A quote with a recorded update is answered from the record. Only a quote without a record is verified. */
export async function requestUpdate(
  call: ToolCall,
  input: { quote: string; reason: string; tags?: Tags },
): Promise<ToolResult> {
  const { token, parts, traceparent, endsAt } = call
  const quote = readQuote(input.quote)
  if (!quote || !isKind(parts.kinds, quote.kind)) return refused(notOurs, newQuote)
  const asker = { caller: token.sub, token, via, route, key: quote.id, traceparent } as const
  const isKnown = async () => (await parts.guard.ledger.update(updateIdOf(asker))) !== null
  let isRecorded = await isKnown()
  const verified = isRecorded ? null : await parts.quotes.verify(input.quote)
  if (!isRecorded) {
    if (!verified) return refused(notOurs, newQuote)
    const { caller, ledger } = bondsOf(call)
    if (!verified.isBoundTo('caller', caller)) return refused(ofOther, newQuote)
    if (!verified.isBoundTo('ledger', ledger)) return refused(ofOtherLedger, lookFirst)
    const late = await whyNotNow(call, quote)
    // Another call may have used the quote in its last moment, since this call looked for its record.
    if (late) isRecorded = await isKnown()
    if (late && !isRecorded) return refused(late, newQuote)
  }
  const { project, budget, query, units } = quote
  const request = {
    kind: quote.kind,
    projects: [project],
    reason: input.reason,
    ...(input.tags && { tags: input.tags }),
    whenShort: 'refuse',
    content: digest('quote', input.quote),
    ...(budget !== undefined && { budget }),
    ...(query && { query }),
    maxUnits: toUnits(units),
    whyNotAgreed: agreementTo(verified),
  } as const
  const answer = await parts.guard.submit(asker, request, { respondAsync: false, endsAt })
  return isRecorded && answer.updates[0]?.state === 'refused'
    ? usedUp(call, answer.updates[0])
    : shownAnswer(call, answer)
}

/** Says when the request was refused, because the reason may no longer hold. */
async function usedUp({ parts, guard }: ToolCall, update: Update): Promise<ToolResult> {
  const { createdAt, finishedAt = createdAt, problem: reason } = update
  if (!reason) return shownOutcome(update, parts)
  const then = `This quote is used up: its request was refused on ${when(finishedAt, zoneOf(await guard.ledger.view()))}. The reason then: ${reason.detail}`
  return refused({ ...reason, detail: then }, nextFor(update, parts), { updates: [shownUpdate(update)] })
}

const agreementTo =
  (quote: VerifiedQuote | null): NonNullable<UpdatesRequest['whyNotAgreed']> =>
  (project, charge) => {
    const isBoundTo = (unowned: Unowned | null) => quote?.isBoundTo('charge', { ...charge, unowned }) === true
    if (isBoundTo(charge.unowned)) return null
    // A rule that is milder than the quoted rule needs no new quote.
    const quoted = charge.unowned && unownedRules.find(isBoundTo)
    if (!charge.unowned || !quoted) return changed(project)
    return unownedRules.indexOf(quoted) < unownedRules.indexOf(charge.unowned) ? stricter : null
  }

const isKind = (kinds: Kinds, name: string): name is Kind => Object.hasOwn(kinds, name)

const notOurs = problem(
  'invalid-request',
  'This is not a quote as estimate_update gave it: it was altered, cut, or signed elsewhere. This call spent nothing.',
  { errors: [{ path: 'quote', message: 'must be a quote exactly as estimate_update gave it' }] },
)
const changed = (project: string): Problem =>
  problem(
    'wrong-state',
    `The budget that pays for ${project}, or its listed names, changed after the quote, so nothing was spent. Ask for a new quote.`,
  )
const stricter = problem(
  'wrong-state',
  'The rule for projects that no budget lists became stricter after the quote, so nothing was spent. Ask for a new quote.',
)
const ofOther = problem('forbidden', 'This quote was given to another caller. This call spent nothing.')
/** A restore loses records, so a used quote may look unused. */
const ofOtherLedger = problem(
  'ledger-restored',
  'This quote was given before the ledger was restored, or for another ledger. It may have been used already. This call spent nothing.',
)
const lookFirst = 'Look with list_updates, or ask a person, before you call estimate_update again.'

async function whyNotNow({ parts, guard }: ToolCall, { issuedAt }: ReadQuote): Promise<Problem | null> {
  const now = parts.clock.now()
  if (issuedAt - now > maxAheadMs)
    return problem(
      'wrong-state',
      'This quote was given more than a minute ahead of our clock. This call spent nothing.',
    )
  const until = issuedAt + quoteLastsMs
  if (now < until) return null
  const zone = zoneOf(await guard.ledger.view())
  return problem('wrong-state', `This quote expired on ${when(until, zone)}. This call spent nothing.`)
}

function shownAnswer({ parts }: ToolCall, { problem, updates, earlier }: Answer): ToolResult {
  const [update] = updates
  if (problem?.slug === 'key-reused') return refused(notOurs, newQuote)
  if (!update) return refused(problem ?? notOurs, problem ? nextAfter(problem, 'request') : newQuote)
  if (earlier.length > 0) {
    const next = 'It was done a short while ago, so nothing was spent and this quote is used.'
    return answered(`${sentenceOf(update)} ${next}`, { ...shownUpdate(update), next })
  }
  return shownOutcome(update, parts, problem)
}

function shownOutcome(
  update: Update,
  place: { readonly dashboardUrl: string | null },
  problem: Problem | null = null,
): ToolResult {
  const next = nextFor(update, place)
  const why = update.problem ?? (problem?.slug === 'in-progress' ? null : problem)
  if (why && endsWithoutRun(update.state)) return refused(why, next, { updates: [shownUpdate(update)] })
  return answered(`${sentenceOf(update)}${doubtReason(update)} ${next}`, { ...shownUpdate(update), next })
}

const doubtReason = ({ state, doubt }: Update): string =>
  state === 'in-doubt' && doubt?.sign !== undefined ? ` Its answer has ${doubt.sign}, so it proves nothing.` : ''

function sentenceOf({ kind, project, state, charged, hold, history }: Update): string {
  const what = `The ${kind} update of ${project}`
  const why = state === 'awaiting-approval' && history.at(-1)?.note
  if (why) return `${what} is ${state}: ${why}.`
  if (state === 'settled') return `${what} settled: ${inUnits(charged ?? 0)} charged.`
  return hold && !isTerminal(state) ? `${what} is ${state}: ${inUnits(hold.units)} held.` : `${what} is ${state}.`
}

const pauseMs = 500

export async function getUpdate(
  { guard, parts, signal, endsAt }: ToolCall,
  { id, waitSeconds = 0 }: { id: string; waitSeconds?: number },
): Promise<ToolResult> {
  const from = performance.now()
  const mayWait = () => performance.now() - from < waitSeconds * 1000 && parts.clock.now() < endsAt && !signal.aborted
  let update = await guard.ledger.update(id)
  while (update && isUnderWay(update.state) && mayWait()) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    update = await guard.ledger.update(id)
  }
  if (!update) return refused(noUpdate(id), 'Call list_updates for the ids.')
  const zone = zoneOf(await guard.ledger.view())
  const timeline = update.history.map(
    ({ state, at, by, note }) => `${when(at, zone)}: ${state} by ${by}${note === undefined ? '' : `: ${note}`}`,
  )
  const next = nextFor(update, parts)
  const why = update.problem && update.state !== 'settled' ? ` ${oneLine(update.problem.detail)}` : ''
  const sentence = `${sentenceOf(update)}${why} ${next} Its times: ${timeline.map((line) => line.replace(/\.$/, '')).join('; ')}.`
  return answered(sentence, { ...shownUpdate(update, parts.clock.now()), next, timeline })
}

export async function cancelUpdate({ guard, parts, token, permissions }: ToolCall, { id }: { id: string }) {
  const outcome = await guard.decide('cancel', id, permissions)
  if (outcome.kind === 'done') return shownOutcome(outcome.update, parts)
  const update = await guard.ledger.update(id)
  // A repeated call has the same answer.
  if (update?.state === 'cancelled' && update.caller === token.sub) return shownOutcome(update, parts)
  return refused(outcome.problem, update ? nextFor(update, parts) : 'Call list_updates for the ids.')
}
