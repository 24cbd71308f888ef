import { budgetBodies } from '../../../../shared/api/budgets.ts'
import { allFaults } from '../../../../shared/guard/fields.ts'
import { count, list } from '../../../../shared/guard/sentences.ts'
import { type Budget, limitOf } from '../../../../shared/ledger/book/definitions.ts'
import { allOf, type Kind, type Kinds, namesOf } from '../../../../shared/tracking/kinds.ts'
import { createComparison, limitText } from '../../components/edit.tsx'
import { toNumber } from '../../forms.ts'

export const labels = {
  parent: 'Parent',
  month: 'Limit per month',
  day: 'Limit per day',
  perUpdate: 'At most for one update',
  approvalAbove: 'Approval above',
  approvalIfGrown: 'Approval if grown by more than (per cent)',
  approvalExpiresAfter: 'Approval expires after',
  kinds: 'Kinds of update',
  approvers: 'Approvers',
  thresholds: 'Tell at (per cent of a limit)',
  freezeOnOverrun: 'Freeze on an overrun',
} as const

type Text = keyof typeof labels
export type Texts = Readonly<Record<Text, string>>
export const texts = Object.keys(labels) as Text[]

/** Absent fields stay as they are. Numbers are formatted like ours, so that equal ones are equal texts. */
export function textsIn(form: URLSearchParams, otherwise: Texts): Texts {
  const given = texts.map((text) => {
    const value = form.get(text)
    return [text, value === null ? otherwise[text] : tidy(text, value.trim())] as const
  })
  return Object.fromEntries(given) as Texts
}

function tidy(text: Text, value: string): string {
  if (text === 'approvers') return value.split(/\s+/).join('\n')
  if (text === 'thresholds')
    return value
      .split(/[\s,;%]+/)
      .filter(Boolean)
      .join(', ')
  if (isUnlimited(value)) return 'unlimited'
  const number = isNumber(text) ? toNumber(value) : Number.NaN
  return Number.isNaN(number) ? value : count(number)
}

const isNumber = (text: Text) => ['month', 'day', 'perUpdate', 'approvalAbove', 'approvalIfGrown'].includes(text)

const noKind = 'none'

export type BudgetWords = ReturnType<typeof budgetWords>

/** The texts of a budget, and back. */
export function budgetWords(kinds: Kinds) {
  const names = namesOf(kinds)
  const { budgetRequest } = budgetBodies(kinds)

  /** All or one; another choice, made through the API, stays until it is changed. */
  function kindChoices(now: string): readonly (readonly [value: string, label: string])[] {
    const usual = [names.join(' '), ...names].map((value) => [value, kindsInWords(value)] as const)
    return usual.some(([value]) => value === now) ? usual : [...usual, [now, kindsInWords(now)]]
  }

  function kindsInWords(value: string): string {
    if (value === names.join(' ')) return allOf(kinds)
    if (value === noKind) return names.length === 2 ? 'neither' : 'none'
    const chosen = value.split(' ')
    return chosen.length === 1 ? `${value} only` : list(chosen)
  }

  /** The words of a value beside its label. */
  const said = (text: Text, value: string): string =>
    text === 'kinds' ? kindsInWords(value) : value.split('\n').join(', ') || 'none'

  /** Parses with the API's schema. `wrong`: faults as sentences. */
  function toRequest(given: Texts, projects: Budget['projects']) {
    const parsed = budgetRequest.safeParse({ ...bodyOf(given, names), projects })
    if (!parsed.success) return { kind: 'wrong', wrong: allFaults([], parsed.error.issues).map(sentence) } as const
    const { reason: _none, parent, ...request } = parsed.data
    return { kind: 'request', request: { ...request, parent: parent ?? null } } as const
  }

  return {
    textsOf: (budget: Budget) => textsOf(budget, names),
    said,
    differences: createComparison(labels, said),
    toRequest,
    kindChoices,
  }
}

function textsOf(budget: Budget, names: readonly Kind[]): Texts {
  const { parent, perUpdate, approvalAbove, approvalIfGrown, approvers = [], thresholds = [], freezeOnOverrun } = budget
  return {
    parent: parent ?? '',
    month: limitText(limitOf(budget, 'month')),
    day: limitText(limitOf(budget, 'day')),
    perUpdate: limitText(perUpdate),
    approvalAbove: limitText(approvalAbove),
    approvalIfGrown: limitText(approvalIfGrown),
    approvalExpiresAfter: budget.approvalExpiresAfter ?? '',
    kinds: names.filter((kind) => budget.kinds?.includes(kind) ?? true).join(' ') || noKind,
    approvers: approvers.join('\n'),
    thresholds: thresholds.join(', '),
    freezeOnOverrun: freezeOnOverrun ? 'yes' : 'no',
  }
}

function bodyOf(given: Texts, names: readonly Kind[]): Record<string, unknown> {
  const limits = (['month', 'day'] as const)
    .filter((window) => window === 'month' || !isUnlimited(given[window]))
    .map((window) => ({ window, units: isUnlimited(given[window]) ? 'unlimited' : toNumber(given[window]) }))
  const numbers = (['perUpdate', 'approvalAbove', 'approvalIfGrown'] as const)
    .filter((text) => given[text] !== '')
    .map((text) => [text, toNumber(given[text])])
  return {
    parent: given.parent === '' ? null : given.parent,
    limits,
    ...Object.fromEntries(numbers),
    ...(given.approvalExpiresAfter !== '' && { approvalExpiresAfter: given.approvalExpiresAfter }),
    ...(given.kinds !== names.join(' ') && { kinds: given.kinds === noKind ? [] : given.kinds.split(' ') }),
    ...(given.approvers !== '' && { approvers: given.approvers.split('\n') }),
    ...(given.thresholds !== '' && { thresholds: given.thresholds.split(', ').map(toNumber) }),
    ...(given.freezeOnOverrun === 'yes' && { freezeOnOverrun: true }),
  }
}

const isUnlimited = (text: string) => text.toLowerCase() === 'unlimited'

function sentence({ path, message }: { path: string; message: string }): string {
  const [member = '', position = ''] = path.split('.')
  const text = member === 'limits' ? (position === '0' ? 'month' : 'day') : member
  const label = texts.find((each) => each === text)
  return `${label ? labels[label] : path}: it ${message}.`
}
