import type { GuardSettings } from '../../../../shared/guard/options.ts'
import { count, list, units } from '../../../../shared/guard/sentences.ts'
import { isPlausible, runOutcomeOf } from '../../../../shared/guard/update/settle.ts'
import { toUnits } from '../../../../shared/platform/words.ts'
import { type Kinds, productKinds } from '../../../../shared/tracking/kinds.ts'
import type { EstimateReading } from '../../../../shared/tracking/read-estimate.ts'
import type { RunResult, StatedUnits } from '../../../../shared/tracking/read-run.ts'
import type { Sign } from '../../../../shared/tracking/signs.ts'
import { pointersToUnits } from '../projects.ts'
import { type Asked, type Interpretation, interpret, signOf } from './interpret.ts'
import { type Advised, conditionsOf, refusedConditions, startedConditions } from './name-answer.ts'
import { type Trial, withConditions, withPointer } from './trial.ts'

/** A change of the settings, which was tried on the answer. */
export interface Advice {
  readonly setting: 'RUN_STARTED' | 'ANSWERS_WELL' | 'RUN_REFUSED' | 'RUN_POINTER' | 'ESTIMATE_POINTER' | 'ZERO_PRICE'
  /** The change is right if this clause is true. */
  readonly when: string
  /** Lines to copy. */
  readonly lines: readonly string[]
  /** How the answer is read with the change. */
  readonly verdict: string
  /** A sentence on what else the change does. */
  readonly effect: string
}

/** The changes that would change how the answer is read. Units are given back only by the last one. */
export function adviceFor(settings: GuardSettings, asked: Asked, kinds: Kinds = productKinds): readonly Advice[] {
  const advised = { settings, asked, kinds }
  const interpretation = interpret(settings, asked, kinds)
  const advice = adviceOn(advised, interpretation)
  return advice.filter((each) => each !== null)
}

function adviceOn(advised: Advised, interpretation: Interpretation): readonly (Advice | null)[] {
  const sign = signOf(interpretation)
  if (interpretation.call === 'dates') return sign ? [well(advised, sign)] : []
  if (interpretation.call === 'estimate') return onEstimate(advised, interpretation.reading)
  const { reading } = interpretation
  if (reading.kind === 'ran') return onFigure(advised, reading)
  if (reading.kind === 'did-not-run' || reading.answer === null) return []
  if (!sign) return [started(advised)]
  const others = [started(advised), well(advised, sign)]
  return [...(sign.family === 'error' ? others.toReversed() : others), refused(advised)]
}

function started(advised: Advised): Advice | null {
  const [condition] = startedConditions(advised)
  const trial =
    condition === undefined ? null : withConditions(begin(advised), 'started', [condition], targetOf(advised))
  if (trial === null || verdictOf(advised, trial) !== 'ran') return null
  return {
    setting: 'RUN_STARTED',
    when: 'this answer means that the update ran',
    lines: trial.lines,
    verdict: 'ran',
    effect: 'Every 2xx that RUN_STARTED does not name is then in doubt, so name all answers of a good run.',
  }
}

function refused(advised: Advised): Advice | null {
  const [condition] = refusedConditions(advised)
  const trial =
    condition === undefined ? null : withConditions(begin(advised), 'refused', [condition], targetOf(advised))
  if (trial === null || verdictOf(advised, trial) !== 'did not run') return null
  return {
    setting: 'RUN_REFUSED',
    when: 'your vendor says that nothing runs after this answer, and only then',
    lines: trial.lines,
    verdict: 'did not run',
    effect: 'It gives the units back. If such an update runs after all, they are spent twice.',
  }
}

function well(advised: Advised, sign: Sign): Advice | null {
  const cleared = withoutSigns(advised, sign)
  const verdict = cleared && verdictOf(advised, cleared.trial)
  if (!cleared || !verdict || verdict === 'unknown' || verdict === 'unreadable') return null
  const { trial, signs } = cleared
  return { setting: 'ANSWERS_WELL', when: whenWell(signs), lines: trial.lines, verdict, effect: effectOfWell }
}

const whenWell = (signs: readonly Sign[]): string =>
  `${list(signs.map(({ text }) => text))} ${signs.length === 1 ? 'is no sign' : 'are no signs'} of a failure`

const effectOfWell = 'It holds for runs, estimates and dates.'

const maxSigns = 5

/** Several values may be signs, so they are named until none is left. */
function withoutSigns(
  advised: Advised,
  first: Sign,
): { readonly trial: Trial; readonly signs: readonly Sign[] } | null {
  const signs: Sign[] = []
  let trial = begin(advised)
  let sign: Sign | null = first
  while (sign && signs.length < maxSigns) {
    const conditions = conditionsOf(advised, sign)
    const next = conditions.length === 0 ? null : withConditions(trial, 'well', conditions, targetOf(advised))
    if (next === null) return null
    signs.push(sign)
    trial = next
    sign = signOf(interpret(trial.settings, advised.asked, advised.kinds))
  }
  return { trial, signs }
}

const begin = ({ settings }: Advised): Trial => ({ settings, lines: [] })

const targetOf = ({ asked: { kind }, kinds }: Advised) => ({ kind, kinds })

/** How the answer is read with the change, in words. */
function verdictOf({ asked, kinds }: Advised, { settings }: Trial): string {
  const interpretation = interpret(settings, asked, kinds)
  if (interpretation.call === 'run') {
    const { kind } = interpretation.reading
    return kind === 'did-not-run' ? 'did not run' : kind
  }
  const { reading } = interpretation
  if (reading.kind === 'units') return units(reading.units)
  return reading.kind === 'dates' ? `${count(reading.dates.length)} dates` : 'unreadable'
}

function onEstimate(advised: Advised, reading: EstimateReading): readonly (Advice | null)[] {
  if (reading.kind === 'units') return reading.units === 0 ? [zero(advised)] : []
  if (reading.kind !== 'unreadable') return []
  const { sign } = reading
  if (!sign) return reading.pointerHelps ? pointers(advised, begin(advised)) : []
  const advice = well(advised, sign)
  const cleared = advice ? null : withoutSigns(advised, sign)
  if (!cleared) return [advice]
  return pointers(advised, cleared.trial).map(
    (each): Advice => ({ ...each, setting: 'ANSWERS_WELL', when: `${whenWell(cleared.signs)}, and ${each.when}` }),
  )
}

function pointers(advised: Advised, from: Trial): readonly Advice[] {
  const { asked, kinds } = advised
  const setting = kinds[asked.kind].settings.estimatePointer
  const trials = pointersToUnits(asked.exchange).map((pointer) => withPointer(from, setting, pointer))
  return trials
    .map((trial) => pointerAdvice(trial, verdictOf(advised, trial)))
    .filter(({ verdict }) => verdict !== 'unreadable')
}

const pointerAdvice = ({ lines }: Trial, verdict: string): Advice => ({
  setting: 'ESTIMATE_POINTER',
  when: `the update needs ${verdict}`,
  lines,
  verdict,
  effect: 'Units are then read nowhere else.',
})

/** This setting changes no reading: it says whether a hold may have 0 units. */
function zero({ settings, asked }: Advised): Advice | null {
  if (settings.ZERO_PRICE === 'free') return null
  return {
    setting: 'ZERO_PRICE',
    when: `a ${asked.kind} update may really cost nothing`,
    lines: ['ZERO_PRICE=free'],
    verdict: 'free',
    effect: 'An estimate of 0 units is then held and run.',
  }
}

/** A figure of the answer that is not what is charged. */
function onFigure(advised: Advised, ran: Extract<RunResult, { kind: 'ran' }>): readonly (Advice | null)[] {
  const { stated } = ran
  if (!stated || !isPlausible(stated.units) || !isUnread(advised, ran, stated)) return []
  if (stated.by === 'pointer') return stated.units === 0 ? [zero(advised)] : []
  if (stated.units === 0 && advised.settings.ZERO_PRICE !== 'free') return []
  const { asked, kinds } = advised
  const trial = withPointer(begin(advised), kinds[asked.kind].settings.runPointer, stated.source)
  const after = interpret(trial.settings, asked, kinds)
  const isRead = after.call === 'run' && after.reading.kind === 'ran' && after.reading.stated?.by === 'pointer'
  if (!isRead) return []
  const cost = units(stated.units)
  return [
    {
      setting: 'RUN_POINTER',
      when: `${cost} is the cost of the update`,
      lines: trial.lines,
      verdict: `ran, at a cost of ${cost}`,
      effect: 'What stands there is then charged, even if it is less than the hold.',
    },
  ]
}

function isUnread({ settings, asked, kinds }: Advised, ran: RunResult, stated: StatedUnits): boolean {
  const isZeroFree = settings.ZERO_PRICE === 'free'
  if (asked.held === undefined) return stated.by === 'none' || (stated.units === 0 && !isZeroFree)
  const rules = { held: toUnits(asked.held), isZeroFree, runPointer: kinds[asked.kind].settings.runPointer }
  const outcome = runOutcomeOf(ran, rules)
  return outcome.kind === 'ran' && outcome.units !== stated.units
}
