import { budgetBodies } from '../../../../shared/api/budgets.ts'
import { allFaults } from '../../../../shared/guard/fields.ts'
import { count, list } from '../../../../shared/guard/sentences.ts'
import { type Budget, limitOf } from '../../../../shared/ledger/book/definitions.ts'
import { allOf, type Kind, type Kinds, namesOf } from '../../../../shared/tracking/kinds.ts'
import type { Difference } from '../../components/edit.tsx'
import { toNumber } from '../../forms.ts'

/** What people set of a budget, as they read and type it. Two of these are compared text by text. */

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

export type Text = keyof typeof labels
export type Texts = Readonly<Record<Text, string>>
export const texts = Object.keys(labels) as Text[]

const shown = (value: number | 'unlimited' | undefined): string =>
  typeof value === 'number' ? count(value) : (value ?? '')

/** What a form says; what it does not name stays as it is. Numbers look as ours do, so that equal ones are equal texts. */
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

/** The texts of a budget, and back, with the kinds that there are. */
export function budgetWords(kinds: Kinds) {
  const names = namesOf(kinds)
  const { budgetRequest } = budgetBodies(kinds)

  /** All of them or one alone; another choice of the API stays while it is not changed. */
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

  /** As it is shown beside its label. */
  const said = (text: Text, value: string): string =>
    text === 'kinds' ? kindsInWords(value) : value.split('\n').join(', ') || 'none'

  /** Each member that differs. */
  const differences = (from: Texts, to: Texts): readonly Difference[] =>
    texts.flatMap((text) =>
      from[text] === to[text] ? [] : [{ label: labels[text], from: said(text, from[text]), to: said(text, to[text]) }],
    )

  /** As the API takes it, by the API's own schema. `wrong`: what it does not take, as sentences. */
  function toRequest(given: Texts, projects: Budget['projects']) {
    const parsed = budgetRequest.safeParse({ ...bodyOf(given, names), projects })
    if (!parsed.success) return { kind: 'wrong', wrong: allFaults([], parsed.error.issues).map(sentence) } as const
    const { reason: _none, parent, ...request } = parsed.data
    return { kind: 'request', request: { ...request, parent: parent ?? null } } as const
  }

  return { textsOf: (budget: Budget) => textsOf(budget, names), said, differences, toRequest, kindChoices }
}

function textsOf(budget: Budget, names: readonly Kind[]): Texts {
  const { parent, perUpdate, approvalAbove, approvalIfGrown, approvers = [], thresholds = [], freezeOnOverrun } = budget
  return {
    parent: parent ?? '',
    month: shown(limitOf(budget, 'month')),
    day: shown(limitOf(budget, 'day')),
    perUpdate: shown(perUpdate),
    approvalAbove: shown(approvalAbove),
    approvalIfGrown: shown(approvalIfGrown),
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
