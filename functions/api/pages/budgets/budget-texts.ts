import { allFaults } from '../../../../shared/guard/faults.ts'
import { count } from '../../../../shared/guard/sentences.ts'
import { type Budget, limitOf } from '../../../../shared/ledger/definitions.ts'
import { kinds } from '../../../../shared/platform/words.ts'
import { budgetRequest } from '../../budget-body.ts'
import type { Difference } from '../differences.tsx'
import { toNumber } from '../forms.ts'

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

const noKind = 'none'
export const kindChoices = [
  [kinds.join(' '), 'both'],
  ...kinds.map((kind) => [kind, `${kind} only`] as const),
  [noKind, 'neither'],
] as const

/** As it is shown beside its label. */
export function said(text: Text, value: string): string {
  const kind = text === 'kinds' && kindChoices.find(([name]) => name === value)
  return kind ? kind[1] : value.split('\n').join(', ') || 'none'
}

export function textsOf(budget: Budget): Texts {
  const { parent, perUpdate, approvalAbove, approvalIfGrown, approvers = [], thresholds = [], freezeOnOverrun } = budget
  return {
    parent: parent ?? '',
    month: shown(limitOf(budget, 'month')),
    day: shown(limitOf(budget, 'day')),
    perUpdate: shown(perUpdate),
    approvalAbove: shown(approvalAbove),
    approvalIfGrown: shown(approvalIfGrown),
    approvalExpiresAfter: budget.approvalExpiresAfter ?? '',
    kinds: kinds.filter((kind) => budget.kinds?.includes(kind) ?? true).join(' ') || noKind,
    approvers: approvers.join('\n'),
    thresholds: thresholds.join(', '),
    freezeOnOverrun: freezeOnOverrun ? 'yes' : 'no',
  }
}

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

/** Each member that differs. */
export const differences = (from: Texts, to: Texts): readonly Difference[] =>
  texts.flatMap((text) =>
    from[text] === to[text] ? [] : [{ label: labels[text], from: said(text, from[text]), to: said(text, to[text]) }],
  )

/** As the API takes it, by the API's own schema. `wrong`: what it does not take, as sentences. */
export function toRequest(given: Texts, projects: Budget['projects']) {
  const parsed = budgetRequest.safeParse({ ...bodyOf(given), projects })
  if (!parsed.success) return { kind: 'wrong', wrong: allFaults([], parsed.error.issues).map(sentence) } as const
  const { reason: _none, parent, ...request } = parsed.data
  return { kind: 'request', request: { ...request, parent: parent ?? null } } as const
}

function bodyOf(given: Texts): Record<string, unknown> {
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
    ...(given.kinds !== kinds.join(' ') && { kinds: given.kinds === noKind ? [] : given.kinds.split(' ') }),
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
