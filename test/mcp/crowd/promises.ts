import { readQuote } from '../../../shared/auth/signed-quotes.ts'
import type { Result } from '../../support/mcp.ts'
import type { Called } from '../../support/product.ts'
import { type Answered, type Crowd, hostile } from './members.ts'

export interface Figures {
  readonly quotes: number
  readonly answers: number
  readonly refusals: number
  readonly runs: number
  readonly unitsBooked: number
  /** Of these. What was held stays counted, whether it ran or not, and at which price. */
  readonly unitsInDoubt: number
  readonly unitsSeen: number
  /** How often each fault really happened. */
  readonly happened: Readonly<Record<string, number>>
}

export async function figuresOf(crowd: Crowd): Promise<Figures> {
  const { answered, charges, counts, owners, product } = crowd
  const { spent, inDoubt } = await product.figures('acme')
  const records = await recordsOf(crowd)
  const having = (test: (result: Result) => boolean) => answered.filter(({ result }) => test(result)).length
  const saying = (words: string) => having(({ sentence }) => sentence.includes(words))
  const refusedAs = (slug: string) => having(({ data }) => data.type === `/problems/${slug}`)
  return {
    quotes: owners.size,
    answers: answered.length,
    refusals: having(({ isError }) => isError),
    runs: charges.length,
    unitsBooked: spent + inDoubt,
    unitsInDoubt: inDoubt,
    unitsSeen: sum(charges.map(({ units }) => units)),
    happened: {
      retries: answered.length - new Set(answered.map(({ quote, by }) => `${quote} ${by}`)).size,
      'broken streams': counts.breaks,
      cancels: counts.cancels,
      'duplicate quotes': having(isEarlier) + refusedAs('duplicate-work'),
      'quotes in parallel': counts.mixes,
      'stale quotes': saying('This quote expired'),
      'quotes of another caller': saying('given to another caller'),
      'altered quotes': saying('it was altered'),
      'grown prices': refusedAs('over-max-units'),
      'frozen budgets': refusedAs('budget-frozen'),
      'processes killed after the hold': records.filter(({ state }) => state === 'in-doubt').length,
      'runs of hostile names': charges.filter(({ project }) => hostile.some((name) => project.startsWith(name))).length,
    },
  }
}

/** One sentence for each promise that was broken. */
export async function brokenPromises(crowd: Crowd): Promise<string[]> {
  const records = await recordsOf(crowd)
  const books = await crowd.product.figures('acme')
  return [
    ...runsTwice(crowd),
    ...quotesWithTwoUpdates(crowd),
    ...crowd.answered.flatMap(whyNotHelpful),
    ...chargesNotBooked(crowd, records, books.spent + books.inDoubt),
    ...abovePrice(crowd, records),
    ...saidUnspent(crowd, records),
    ...(books.spent + books.held + books.inDoubt + books.available === books.limit ? [] : ['the book does not add up']),
    ...(books.held === 0 ? [] : ['units are still held']),
    ...((await crowd.product.audit()) ? [] : ['the audit found a fault']),
  ]
}

function runsTwice({ charges }: Crowd): string[] {
  const works = charges.map(({ project, day }) => `${project} on ${day}`)
  return works.filter((work, at) => works.indexOf(work) !== at).map((work) => `ran twice: ${work}`)
}

/** A quote that has a record is answered with it, whenever it is sent again. */
function quotesWithTwoUpdates({ answered, owners }: Crowd): string[] {
  const updates = new Map<string, string>()
  return answered.flatMap(({ quote, by, result, whileKilled }) => {
    const id = isEarlier(result) ? 'an earlier one' : idIn(result)
    const first = updates.get(quote)
    if (by !== owners.get(quote)) return id === undefined ? [] : [`${by} used a quote of ${owners.get(quote)}`]
    if (first === undefined && id !== undefined) updates.set(quote, id)
    if (first === undefined || first === id || whileKilled) return []
    return [`a quote was answered with ${first}, then with ${id ?? result.sentence}`]
  })
}

function whyNotHelpful({ result: { sentence, data, isError }, whileKilled }: Answered): string[] {
  const { next, type } = data
  if (typeof next !== 'string' || !/^[A-Z].{20,}\.$/.test(next)) return [`no advice: ${sentence}`]
  if (!sentence.endsWith(next) && !sentence.includes(` ${next} `))
    return [`the advice is not in the sentence: ${sentence}`]
  if (isError && !/^\/problems\/[a-z-]+$/.test(type)) return [`no problem: ${sentence}`]
  return type === '/problems/internal' && !whileKilled ? [`internal: ${sentence}`] : []
}

type UpdateRecord = Called['body']

/** Each charge has its update, with the same units; what is in doubt may not have run. */
function chargesNotBooked({ charges }: Crowd, records: readonly UpdateRecord[], booked: number): string[] {
  const counted = records.filter(({ state }) => state === 'settled' || state === 'in-doubt')
  const isOf = (charge: Crowd['charges'][number], { project, createdAt }: UpdateRecord) =>
    charge.project === project && createdAt.startsWith(charge.day)
  const wrong = charges.flatMap((charge) => {
    const [record, ...more] = counted.filter((each) => isOf(charge, each))
    if (!record || more.length > 0) return [`${1 + more.length} updates for one run of ${charge.project}`]
    const isExact = record.state === 'in-doubt' || record.units.charged === charge.units
    return isExact ? [] : [`${charge.project} cost ${charge.units}, and ${record.units.charged} are booked`]
  })
  const free = counted.filter((record) => record.state === 'settled' && !charges.some((charge) => isOf(charge, record)))
  const ofDoubts = sum(
    charges
      .filter((charge) => counted.some((record) => record.state === 'in-doubt' && isOf(charge, record)))
      .map(({ units }) => units),
  )
  const settled = sum(counted.filter(({ state }) => state === 'settled').map(({ units }) => units.charged))
  const seen = sum(charges.map(({ units }) => units))
  const units = sum(counted.map(({ state, units: { held, charged } }) => (state === 'settled' ? charged : held)))
  return [
    ...wrong,
    ...free.map(({ project }) => `${project} was booked and never ran`),
    ...(settled + ofDoubts === seen
      ? []
      : [`${settled} settled and ${ofDoubts} in doubt, and the service saw ${seen}`]),
    ...(units === booked ? [] : [`the updates add up to ${units}, the book to ${booked}`]),
  ]
}

function abovePrice({ answered, owners }: Crowd, records: readonly UpdateRecord[]): string[] {
  return answered.flatMap(({ quote, by, result }) => {
    const record = by === owners.get(quote) && !isEarlier(result) && records.find(({ id }) => id === idIn(result))
    const held = record ? (record.units.held ?? 0) : 0
    const quoted = readQuote(quote)?.units ?? 0
    return held > quoted ? [`${held} units held for a quote of ${quoted}`] : []
  })
}

/** After a run was sent, nothing may say that nothing was spent. */
function saidUnspent({ answered, owners }: Crowd, records: readonly UpdateRecord[]): string[] {
  const updates = new Map(
    answered
      .filter(({ quote, by, result }) => by === owners.get(quote) && !isEarlier(result))
      .map(({ quote, result }) => [readQuote(quote)?.id, idIn(result)] as const)
      .filter(([, id]) => id !== undefined),
  )
  return answered.flatMap(({ quote, result }) => {
    const state = records.find(({ id }) => id === updates.get(readQuote(quote)?.id))?.state
    const isWrong = (state === 'settled' || state === 'in-doubt') && /nothing was spent/i.test(result.sentence)
    return isWrong ? [`${state}, and an answer said: ${result.sentence}`] : []
  })
}

async function recordsOf({ product: { call } }: Crowd): Promise<UpdateRecord[]> {
  const all: UpdateRecord[] = []
  for (let cursor = ''; ; ) {
    const { body } = await call('GET', `/updates?limit=200${cursor}`)
    all.push(...body.updates)
    if (body.next === undefined) return all
    cursor = `&cursor=${encodeURIComponent(body.next)}`
  }
}

const idIn = ({ data }: Result): string | undefined => data.updates?.[0]?.id ?? data.id

/** The cool-down answers with another quote's update. */
const isEarlier = ({ data }: Result): boolean => String(data.next).startsWith('It was done a short while ago')

const sum = (units: readonly number[]): number => units.reduce((total, each) => total + each, 0)
