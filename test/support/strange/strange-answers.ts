import * as fc from 'fast-check'
import {
  answerDates,
  answerEstimate,
  answerRefusal,
  answerRun,
  type StrangeAnswer,
} from '../../../functions/sandbox/strange.ts'
import type { Draw, Facts } from '../../../functions/sandbox/strange-bodies.ts'
import { isObject, parseStrictJson } from '../../../shared/platform/json.ts'
import type { Answer, Recorded } from '../scripted-service.ts'

/** An answer of the service, and the truth that it hides. */
export interface Strange {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
  /** An `Age` says so. The answer may then be about an earlier request. */
  readonly isCached: boolean
}

export interface StrangeRun extends Strange {
  /** What the service really took: all units, or 0. */
  readonly unitsTaken: number
}

export interface StrangeEstimate extends Strange {
  /** What the service really takes. A cached answer shows less. */
  readonly units: number
}

export interface StrangeDates extends Strange {
  /** The dates that have data, oldest first. */
  readonly dates: readonly string[]
}

const next = '2027-01-01'
const defaultProject = 'acme.example'

/** The most choices that one answer makes. Further ones take the first option. */
const maxChoices = 48

/** Shrinks towards first options, which are the usual ones. */
const choices = fc.array(fc.nat({ max: 9_999 }), { minLength: maxChoices, maxLength: maxChoices })

function drawFrom(numbers: readonly number[]): Draw {
  let drawn = 0
  return (options) => options[(numbers[drawn++] ?? 0) % options.length] ?? options[0]
}

/** Members that no one has thought of. */
const noise = fc.option(fc.dictionary(fc.string({ minLength: 1, maxLength: 12 }), fc.jsonValue(), { maxKeys: 3 }), {
  nil: undefined,
  freq: 4,
})

/** Adds members at the top, but never in place of one. Encoded and cut bodies stay as they are. */
function withNoise(answer: StrangeAnswer, members: object | undefined): StrangeAnswer {
  if (members === undefined || 'content-encoding' in answer.headers) return answer
  const json = parseStrictJson(answer.bytes.toString())
  if (!json.ok || !isObject(json.value)) return answer
  const text = JSON.stringify({ ...members, ...json.value })
  return isAscii(text) ? { ...answer, bytes: Buffer.from(text) } : answer
}

/** The charset of an answer may be any. */
const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

const answerFrom = (make: (draw: Draw) => StrangeAnswer): fc.Arbitrary<StrangeAnswer> =>
  fc.tuple(choices, noise).map(([numbers, members]) => withNoise(make(drawFrom(numbers)), members))

const factsOf = (project: string, units: number): Facts => ({ project, units, next })

/** What `run` answers, mostly when it took its units. A cached answer says nothing about this run. */
export function runBody(units = 40, project = defaultProject): fc.Arbitrary<StrangeRun> {
  const facts = factsOf(project, units)
  const taken = fc
    .tuple(
      answerFrom((draw) => answerRun(draw, facts)),
      fc.boolean(),
    )
    .map(([answer, reachedService]) => ({
      ...answer,
      unitsTaken: answer.isCached && !reachedService ? 0 : units,
    }))
  const refused = fc
    .constantFrom(
      { status: 402, reason: 'not enough keyword units' },
      { status: 404, reason: 'not found' },
      { status: 429, reason: 'too many requests' },
    )
    .chain((refusal) => answerFrom((draw) => answerRefusal(draw, facts, refusal)))
    .map((answer) => ({ ...answer, unitsTaken: 0 }))
  return fc.oneof({ weight: 4, arbitrary: taken }, { weight: 1, arbitrary: refused })
}

export const estimateBody = (units = 40, project = defaultProject): fc.Arbitrary<StrangeEstimate> =>
  answerFrom((draw) => answerEstimate(draw, factsOf(project, units))).map((answer) => ({ ...answer, units }))

/** @param dates oldest first. */
export const datesBody = (dates: readonly string[], project = defaultProject): fc.Arbitrary<StrangeDates> =>
  answerFrom((draw) => answerDates(draw, factsOf(project, 40), dates)).map((answer) => ({ ...answer, dates }))

/** For `script` of a scripted service. */
export const answerOf = ({ status, headers, bytes }: Strange): Answer => ({ status, headers, body: bytes })

/** For `fallback` of a scripted service, or `service` of a product. Other requests get `undefined`. */
export const strangeService =
  (answers: { readonly estimate?: Strange; readonly run?: Strange; readonly dates?: Strange }) =>
  ({ url }: Pick<Recorded, 'url'>): Answer | undefined => {
    const operation = /\/(estimate|run|dates)(\?|$)/.exec(url)?.[1] as keyof typeof answers | undefined
    const answer = operation && answers[operation]
    return answer && answerOf(answer)
  }
