import type { GuardSettings } from '../../../../shared/guard/options.ts'
import { isObject, type Json } from '../../../../shared/platform/json.ts'
import { answerRulesOf } from '../../../../shared/services/services.ts'
import type { Kinds } from '../../../../shared/tracking/kinds.ts'
import { below, parsePointer, resolvePointer } from '../../../../shared/tracking/pointer.ts'
import { saysNothing } from '../../../../shared/tracking/sign-words.ts'
import { conditionOf, type Sign, signsIn } from '../../../../shared/tracking/signs.ts'
import { type Asked, asItIs, documentOf } from './interpret.ts'

export interface Advised {
  readonly settings: GuardSettings
  readonly asked: Asked
  readonly kinds: Kinds
}

const maxConditions = 5

/** The conditions that name a sign. Of a sign that is an object, the values that say something. */
export function conditionsOf({ asked }: Advised, sign: Sign): readonly string[] {
  if (sign.condition !== null) return [sign.condition]
  return scalarsOf(asked, sign)
    .map(({ value, place }) => conditionOf(value, place))
    .filter((condition) => condition !== null)
    .slice(0, maxConditions)
}

function scalarsOf({ exchange }: Asked, { text }: Sign): readonly Scalar[] {
  const [, place] = / at (\/.*)$/s.exec(text) ?? []
  const document = documentOf(exchange)
  if (place === undefined || document === undefined) return []
  const inside = [...scalarsIn(resolvePointer(document, parsePointer(place)), place)]
  return inside.filter(({ value }) => !saysNothing(String(value)))
}

/**
 * Conditions that name this answer, the most specific first: the deepest sign, and of several a code. One condition of a
 * setting is enough, so a value that other answers share, such as the `20000` of a whole request, would name them too.
 */
export function refusedConditions(advised: Advised): readonly string[] {
  return specificSigns(advised)
    .flatMap((sign) => specificConditions(advised, sign))
    .filter((condition) => !/=(true|false)$/.test(condition))
}

/** Like `refusedConditions`, but an error names no start: then a member beside it does that says how the request went. */
export function startedConditions(advised: Advised): readonly string[] {
  const signs = specificSigns(advised)
  const named = signs
    .filter(({ family }) => family !== 'error')
    .flatMap((sign) => specificConditions(advised, sign))
    .filter((condition) => !/=(false|null)$/.test(condition))
  return [...named, ...tellingConditions(advised, signs)]
}

function specificSigns({ settings, asked, kinds }: Advised): readonly Sign[] {
  const document = documentOf(asked.exchange)
  if (document === undefined) return []
  const { well } = answerRulesOf(settings, kinds)[asked.kind]
  const signs = signsIn(document, { call: 'run', names: asked.names ?? [], well, redact: asItIs })
  return signs.toSorted((a, b) => depthOf(b) - depthOf(a) || ranks[a.family] - ranks[b.family])
}

const depthOf = ({ text }: Sign): number => placeOf(text).split('/').length

const placeOf = (text: string): string => / at (\/.*)$/s.exec(text)?.[1] ?? ''

const ranks: Readonly<Record<Sign['family'], number>> = { code: 0, state: 1, error: 2, success: 3, form: 4 }

/** Of an object, a code before texts. An id belongs to one answer alone. */
function specificConditions({ asked }: Advised, sign: Sign): readonly string[] {
  if (sign.condition !== null) return [sign.condition]
  return scalarsOf(asked, sign)
    .filter(({ name }) => !/id$/i.test(name))
    .toSorted((a, b) => Number(codeName.test(b.name)) - Number(codeName.test(a.name)))
    .map(({ value, place }) => conditionOf(value, place))
    .filter((condition) => condition !== null)
}

const codeName = /(code|errno)$/i

/** Members that usually say whether a request was accepted. */
const tellingName = /^(is[_-]?)?(success|ok|status|state|result|accepted|started|(status|response)?[_-]?code)$/i

function tellingConditions({ asked }: Advised, signs: readonly Sign[]): readonly string[] {
  const places = signs.map(({ text }) => placeOf(text))
  const isInSign = ({ place }: Scalar) => places.some((sign) => place === sign || place.startsWith(`${sign}/`))
  return [...scalarsIn(documentOf(asked.exchange), '')]
    .filter((scalar) => tellingName.test(scalar.name) && !isInSign(scalar))
    .filter(({ value }) => value !== null && value !== '' && value !== false)
    .map(({ value, place }) => conditionOf(value, place))
    .filter((condition) => condition !== null)
}

interface Scalar {
  readonly name: string
  readonly value: Json
  readonly place: string
}

/** Strict JSON limits the depth of the recursion. */
function* scalarsIn(value: Json | undefined, place: string, name = ''): Generator<Scalar> {
  if (value === undefined) return
  if (Array.isArray(value)) {
    for (const [at, element] of value.entries()) yield* scalarsIn(element, below(place, at))
  } else if (isObject(value)) {
    for (const [member, inside] of Object.entries(value)) yield* scalarsIn(inside, below(place, member), member)
  } else yield { name, value, place }
}
