import { budgetBodies } from '../../../../shared/api/budgets.ts'
import { count, list } from '../../../../shared/guard/sentences.ts'
import {
  type Budget,
  isEnforced,
  limitOf,
  rootBudget,
  type Unowned,
} from '../../../../shared/ledger/book/definitions.ts'
import { allFaults } from '../../../../shared/platform/faults.ts'
import { allOf, type Kind, type Kinds, namesOf } from '../../../../shared/tracking/kinds.ts'
import { createComparison, limitText } from '../../components/edit.tsx'
import type { FieldFaults } from '../../flash.ts'
import { asSentence, toNumber } from '../../forms.ts'

export const labels = {
  parent: 'Parent',
  month: 'Limit per month',
  day: 'Limit per day',
  enforce: 'Over these limits',
  perUpdate: 'At most for one update',
  approvalAbove: 'Approval above',
  approvalIfGrown: 'Approval if grown by more than (per cent)',
  approvalExpiresAfter: 'Approval expires after',
  kinds: 'Kinds of update',
  approvers: 'Approvers',
  thresholds: 'Tell at (per cent of a limit)',
  freezeOnOverrun: 'Freeze on an overrun',
  slackChannel: 'Slack channel',
  unowned: 'Projects that no budget lists',
} as const

type Field = keyof typeof labels
export type Texts = Readonly<Record<Field, string>>
export const fields = Object.keys(labels) as Field[]

/** Numbers get one format, so that equal numbers are equal texts. */
export function textsIn(form: URLSearchParams, defaults: Texts): Texts {
  const entries = fields.map((field) => {
    const value = form.get(field)
    return [field, value === null ? defaults[field] : normalize(field, value.trim())] as const
  })
  return Object.fromEntries(entries) as Texts
}

function normalize(field: Field, value: string): string {
  if (field === 'approvers') return value.split(/\s+/).join('\n')
  if (field === 'thresholds')
    return value
      .split(/[\s,;%]+/)
      .filter(Boolean)
      .join(', ')
  if (isUnlimited(value)) return 'unlimited'
  const number = isNumber(field) ? toNumber(value) : Number.NaN
  return Number.isNaN(number) ? value : count(number)
}

const isNumber = (field: Field) => ['month', 'day', 'perUpdate', 'approvalAbove', 'approvalIfGrown'].includes(field)

const noKind = 'none'

export const enforceChoices = [
  ['yes', 'refuse updates'],
  ['no', 'only observe'],
] as const

export const unownedChoices = [
  ['pay', 'this account pays'],
  ['approve', 'a person has to approve'],
  ['refuse', 'refuse'],
] as const satisfies readonly (readonly [Unowned, string])[]

export type BudgetWords = ReturnType<typeof budgetWords>

export function budgetWords(kinds: Kinds) {
  const names = namesOf(kinds)
  const { budgetRequest } = budgetBodies(kinds)

  /** A choice made through the API stays as an option. */
  function kindChoices(now: string): readonly (readonly [value: string, label: string])[] {
    const usual = [names.join(' '), ...names].map((value) => [value, kindsInWords(value)] as const)
    return usual.some(([value]) => value === now) ? usual : [...usual, [now, kindsInWords(now)]]
  }

  function kindsInWords(value: string): string {
    if (value === names.join(' ')) return allOf(kinds)
    if (value === noKind) return names.length === 2 ? 'neither' : 'none'
    const chosenKinds = value.split(' ')
    return chosenKinds.length === 1 ? `${value} only` : list(chosenKinds)
  }

  const valueText = (field: Field, value: string): string =>
    field === 'enforce'
      ? (enforceChoices.find(([name]) => name === value)?.[1] ?? value)
      : field === 'unowned'
        ? (unownedChoices.find(([name]) => name === value)?.[1] ?? value)
        : field === 'kinds'
          ? kindsInWords(value)
          : value.split('\n').join(', ') || 'none'

  function toRequest(texts: Texts, projects: Budget['projects']) {
    const parsed = budgetRequest.safeParse({ ...bodyOf(texts, names), projects })
    if (!parsed.success) return { kind: 'invalid', faults: fieldFaults(parsed.error.issues) } as const
    const { reason: _none, parent, ...request } = parsed.data
    return { kind: 'request', request: { ...request, parent: parent ?? null } } as const
  }

  return {
    textsOf: (budget: Budget) => textsOf(budget, names),
    valueText,
    differences: createComparison(labels, valueText),
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
    enforce: isEnforced(budget) ? 'yes' : 'no',
    perUpdate: limitText(perUpdate),
    approvalAbove: limitText(approvalAbove),
    approvalIfGrown: limitText(approvalIfGrown),
    approvalExpiresAfter: budget.approvalExpiresAfter ?? '',
    kinds: names.filter((kind) => budget.kinds?.includes(kind) ?? true).join(' ') || noKind,
    approvers: approvers.join('\n'),
    thresholds: thresholds.join(', '),
    freezeOnOverrun: freezeOnOverrun ? 'yes' : 'no',
    slackChannel: budget.slackChannel ?? '',
    unowned: budget.name === rootBudget ? (budget.unowned ?? 'pay') : '',
  }
}

function bodyOf(texts: Texts, names: readonly Kind[]): Record<string, unknown> {
  const limits = (['month', 'day'] as const)
    .filter((window) => window === 'month' || !isUnlimited(texts[window]))
    .map((window) => ({ window, units: isUnlimited(texts[window]) ? 'unlimited' : toNumber(texts[window]) }))
  const numbers = (['perUpdate', 'approvalAbove', 'approvalIfGrown'] as const)
    .filter((field) => texts[field] !== '')
    .map((field) => [field, toNumber(texts[field])])
  return {
    parent: texts.parent === '' ? null : texts.parent,
    limits,
    ...Object.fromEntries(numbers),
    ...(texts.approvalExpiresAfter !== '' && { approvalExpiresAfter: texts.approvalExpiresAfter }),
    ...(texts.kinds !== names.join(' ') && { kinds: texts.kinds === noKind ? [] : texts.kinds.split(' ') }),
    ...(texts.approvers !== '' && { approvers: texts.approvers.split('\n') }),
    ...(texts.thresholds !== '' && { thresholds: texts.thresholds.split(', ').map(toNumber) }),
    ...(texts.freezeOnOverrun === 'yes' && { freezeOnOverrun: true }),
    ...(texts.enforce === 'no' && { enforce: false }),
    ...(texts.slackChannel !== '' && { slackChannel: texts.slackChannel }),
    ...(texts.unowned !== '' && { unowned: texts.unowned }),
  }
}

const isUnlimited = (text: string) => text.toLowerCase() === 'unlimited'

function fieldFaults(issues: Parameters<typeof allFaults>[1]): FieldFaults {
  const faults = allFaults([], issues).map(({ path, message }) => {
    const [member = '', position = ''] = path.split('.')
    const field = member === 'limits' ? (position === '0' ? 'month' : 'day') : member
    return [field, asSentence(message)] as const
  })
  return Object.fromEntries(faults.toReversed())
}
