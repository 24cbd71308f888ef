import * as z from 'zod/mini'
import { count, countOf, units as inUnits } from '../../../../shared/guard/sentences.ts'
import { readNumber } from '../../../../shared/platform/typed-number.ts'
import { answerOf, apiAccess, createSend, type Refused } from '../../api-client.ts'
import { WrongUsage } from '../command.ts'

interface Given {
  readonly left?: string | undefined
  readonly difference?: string | undefined
  readonly reason?: string | undefined
  readonly ran?: boolean | undefined
  readonly 'did-not-run'?: readonly string[] | undefined
}

type Send = ReturnType<typeof createSend>

const listed = z.object({
  updates: z.array(
    z.object({
      id: z.string(),
      project: z.string(),
      window: z.string(),
      units: z.object({ held: z.nullable(z.number()) }),
    }),
  ),
})
const entry = z.object({ type: z.string(), units: z.number(), at: z.string(), asOf: z.optional(z.string()) })
const account = z.object({ frozen: z.union([z.literal(false), z.object({ reason: z.string() })]) })
const entries = z.object({ entries: z.array(entry) })
const statement = z.object({
  window: z.string(),
  end: z.string(),
  status: z.string(),
  book: z.object({ spent: z.number() }),
})
const preview = z.object({
  units: z.number(),
  preview: z.object({
    sentence: z.string(),
    doubts: z.array(z.object({ id: z.string(), project: z.string(), units: z.number(), outcome: z.string() })),
    monthBefore: z.object({ held: z.number(), inDoubt: z.number() }),
  }),
})
const refusal = z.object({ doubts: z.array(z.object({ update: z.string(), project: z.string(), units: z.number() })) })

/** Doubts first, then the vendor's figure, what keeps the month from final, and the statement. */
export async function closeMonth(given: Given): Promise<boolean> {
  const send = createSend(apiAccess())
  const { left, difference } = given
  if (left === undefined) return showSteps(send)
  const figure = { unitsLeft: numberOf('--left', left), reason: given.reason ?? 'the month is closed', closing: true }
  const doubts = await answersOf(send, figure, given)
  if (doubts === null) return false
  const body = doubts === undefined ? figure : { ...figure, doubts }
  if (difference === undefined) return showPreview(send, body)
  const booked = entry.parse(await post(send, '', { ...body, difference: numberOf('--difference', difference) }))
  console.log(`Booked: ${effectOf(booked.units)}.`)
  return showSteps(send)
}

async function showSteps(send: Send): Promise<boolean> {
  const read = async (path: string) => answerOf(await send('GET', path))
  const { window, end, status, book } = statement.parse(await read('/statements'))
  const states = await Promise.all(
    ['in-doubt', 'running'].map(async (state) => listed.parse(await read(`/updates?state=${state}&limit=100`)).updates),
  )
  const own = states.flat().filter((update) => update.window === window)
  const earlier = states.flat().length - own.length
  const booked = entries.parse(await read('/budgets/account/entries?limit=200')).entries
  const last = booked.find(({ type }) => type === 'reconcile')
  console.log(`1. Doubts: ${own.length === 0 ? 'no update runs or is in doubt' : 'these updates run or are in doubt'}.`)
  for (const { id, project, units } of own) console.log(`   ${id}  ${project}, ${inUnits(units.held ?? 0)}`)
  if (earlier > 0) console.log(`   ${countOf(earlier, 'update')} of the month before, which change nothing in this one`)
  console.log(
    last === undefined
      ? '2. The vendor’s figure: none was booked this month. Give the units left with --left.'
      : `2. The vendor’s figure: the last one is of ${last.asOf ?? last.at}: ${effectOf(last.units)}. What the vendor counted outside later is not in it.`,
  )
  console.log(`3. What keeps it from final: its end on ${end}${own.length > 0 ? ', and these updates' : ''}.`)
  console.log(`4. The statement of ${window}: ${inUnits(book.spent)} spent, ${status}.`)
  const { frozen } = account.parse(await read('/budgets/account'))
  if (frozen)
    console.log(
      `The account is frozen (${frozen.reason}), so no update starts. Unfreeze it; the answer says if a restore needs a later figure first.`,
    )
  return true
}

/** Whether the doubts that the figure has ran. `undefined`: it has none. `null`: the command does not say it. */
async function answersOf(send: Send, figure: object, given: Given) {
  const { ran = false, 'did-not-run': not = [] } = given
  const response = await request(send, '?dry-run=true', figure)
  if (response.ok) return undefined
  const refused = (await response.clone().json()) as Refused
  if (refused.type !== '/problems/doubts-open') return undefined
  const { doubts } = refusal.parse(refused)
  const open = doubts.filter(({ update }) => !not.includes(update))
  if (open.length === 0 || ran)
    return Object.fromEntries(doubts.map(({ update }) => [update, not.includes(update) ? 'did-not-run' : 'ran']))
  console.log('The vendor’s figure has these updates in doubt, if they ran:')
  for (const { update, project, units } of open) console.log(`   ${update}  ${project}, ${inUnits(units)}`)
  console.log('Say --did-not-run <id> for each that did not run, and --ran for the others. Nothing was booked.')
  return null
}

async function showPreview(send: Send, body: object): Promise<boolean> {
  const { units, preview: parts } = preview.parse(await post(send, '?dry-run=true', body))
  console.log(parts.sentence)
  for (const { id, project, units, outcome } of parts.doubts)
    console.log(`   first: ${id} (${project}, ${inUnits(units)}) ${outcome === 'ran' ? 'ran' : 'did not run'}`)
  const { held, inDoubt } = parts.monthBefore
  if (held + inDoubt > 0)
    console.log(`Of the month before, and no part of this: ${count(held)} held, ${count(inDoubt)} in doubt.`)
  console.log(`Nothing was booked. Repeat the command with --difference=${units} to book it.`)
  return true
}

const request = (send: Send, query: string, body: object): Promise<Response> =>
  send('POST', `/budgets/account/reconcile${query}`, { body })

const post = async (send: Send, query: string, body: object): Promise<unknown> =>
  answerOf(await request(send, query, body))

const effectOf = (units: number): string =>
  units === 0 ? 'the book agreed' : `${inUnits(Math.abs(units))} ${units > 0 ? 'were used outside' : 'came back'}`

function numberOf(flag: string, text: string): number {
  const [sign, digits] = text.startsWith('-') ? [-1, text.slice(1)] : [1, text]
  const number = readNumber(digits)
  if (number === null) throw new WrongUsage(`${flag} must be a whole number of units`)
  return sign * number
}
