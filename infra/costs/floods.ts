import { makeReference } from '../openapi/reference.tsx'
import { type Bill, sum, times } from './bill.ts'
import { createUsage, type Figures, toGb } from './usage.ts'

/** Requests a second that Lambda takes for each call at once that an account may make. */
const requestsPerConcurrency = 10

export interface Flood {
  readonly what: string
  /** What one request of it uses. */
  readonly bill: Bill
  /** Whether Lambda's limits are all that slows it. */
  readonly reachesLambda: boolean
}

/** Requests of someone without a token. */
export function createFloods(figures: Figures): readonly Flood[] {
  const { assumed } = figures
  const { call, log, out } = createUsage(figures)
  const ran = sum(call('Api', assumed['refused-ms'] / 1000), log(assumed['request-log-kb']))
  const [largest, largestKb] = largestAnswer()
  const reached = (what: string, bill: Bill): Flood => ({ what, bill, reachesLambda: true })
  const throughEdge = (kb: number): Bill => ({ wafRequests: 1, edgeRequests: 1, edgeOutGb: toGb(kb) })
  return [
    reached('refused with 401 by the function', sum(ran, out(assumed['refusal-kb']))),
    reached(`answered with \`/${largest}\`, ${largestKb} KB`, sum(ran, out(largestKb))),
    reached('past the edge, refused with 403 by the function', sum(ran, out(assumed['refusal-kb']))),
    reached('through the edge, refused with 401 by the function', sum(ran, throughEdge(assumed['refusal-kb']))),
    { what: 'blocked by the edge’s rate rule', bill: { wafRequests: 1 }, reachesLambda: false },
  ]
}

/** What anyone may read and is the largest, as it is built, in steps of 25 KB: a new sentence is no new price. */
function largestAnswer(): readonly [name: string, kb: number] {
  const sizeOf = (text: string) => Math.ceil(Buffer.byteLength(text) / 25_600) * 25
  const answers = [...makeReference()].map(([name, text]) => [name, sizeOf(text)] as const)
  return answers.reduce((one, other) => (other[1] > one[1] ? other : one))
}

/** As fast as an account with so many calls at once lets it. */
export const anHourOf = ({ bill }: Flood, concurrency: number): Bill =>
  times(3600 * requestsPerConcurrency * concurrency, bill)

/** What the edge uses in a month without requests. Its secret has a copy in the edge's region. */
export const edgeBill = ({ assumed }: Figures): Bill => ({ wafAcls: 1, wafRules: assumed['waf-rules'], secrets: 2 })
