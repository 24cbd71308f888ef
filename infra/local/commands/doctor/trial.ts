import type { GuardSettings } from '../../../../shared/guard/options.ts'
import {
  type AnswerRules,
  type Condition,
  parseConditions,
  parseRefusals,
} from '../../../../shared/tracking/conditions.ts'
import type { Kind, Kinds } from '../../../../shared/tracking/kinds.ts'

/** Settings with a change, and the lines that make this change. */
export interface Trial {
  readonly settings: GuardSettings
  readonly lines: readonly string[]
}

export interface Target {
  readonly kind: Kind
  readonly kinds: Kinds
}

const plainNames = { refused: 'RUN_REFUSED', started: 'RUN_STARTED', well: 'ANSWERS_WELL' } as const

/**
 * Adds conditions to the setting of all kinds, or to that of this kind if it is set.
 * @returns `null` if the setting does not accept them.
 */
export function withConditions(
  { settings, lines }: Trial,
  rule: keyof AnswerRules,
  conditions: readonly string[],
  { kind, kinds }: Target,
): Trial | null {
  const ownName = kinds[kind].settings[rule]
  const name = settings[ownName] === undefined ? plainNames[rule] : ownName
  const added = parsed(rule, conditions)
  if (added === null) return null
  const all = merged([...(settings[name] ?? []), ...added])
  const line = lineOf(name, all.map(textOf).join(' '))
  return { settings: { ...settings, [name]: all }, lines: [...lines.filter((each) => !isOf(each, name)), line] }
}

const isOf = (line: string, name: string): boolean => line.startsWith(`${name}=`)

function parsed(rule: keyof AnswerRules, conditions: readonly string[]): readonly Condition[] | null {
  const parse = rule === 'refused' ? parseRefusals : parseConditions
  try {
    return parse(conditions.join(' '))
  } catch {
    return null
  }
}

/** One condition for each place. */
function merged(conditions: readonly Condition[]): readonly Condition[] {
  const byPlace = new Map<string, Condition>()
  for (const { pointer, values } of conditions) {
    const before = byPlace.get(pointer.text)?.values ?? []
    byPlace.set(pointer.text, { pointer, values: [...new Set([...before, ...values])] })
  }
  return [...byPlace.values()]
}

const textOf = ({ pointer, values }: Condition): string => `${pointer.text}=${values.map(encoded).join('|')}`

const encoded = (value: string): string => value.replace(/[%|]|\s/g, (character) => encodeURIComponent(character))

export function withPointer(
  { settings, lines }: Trial,
  name: `${'ESTIMATE' | 'RUN'}_POINTER_${string}`,
  pointer: string,
) {
  return { settings: { ...settings, [name]: pointer }, lines: [...lines, lineOf(name, pointer)] }
}

/** A line for a shell. */
function lineOf(name: string, value: string): string {
  return /^[\w/=.,:%+@~-]*$/.test(value) ? `${name}=${value}` : `${name}='${value.replaceAll("'", "'\\''")}'`
}
