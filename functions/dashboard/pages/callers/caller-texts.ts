import { callerAs, callerRequest } from '../../../../shared/api/callers.ts'
import { count } from '../../../../shared/guard/sentences.ts'
import { type Caller, limitOf, unlistedCallers } from '../../../../shared/ledger/book/definitions.ts'
import { allFaults, type Fault } from '../../../../shared/platform/faults.ts'
import { scopes } from '../../../../shared/platform/words.ts'
import { limitText } from '../../components/edit.tsx'
import type { FieldFaults } from '../../flash.ts'
import { asSentence, toNumber } from '../../forms.ts'

export const labels = {
  scopes: 'Scopes',
  budgets: 'Budgets',
  readsBudgets: 'Budgets to read',
  person: 'Person',
  mayForce: 'May force',
  mayChargeAncestors: 'May charge ancestors of an owner',
  month: 'Limit per month',
  day: 'Limit per day',
  perUpdate: 'At most for one update',
  ratePerMinute: 'Requests a minute',
} as const

export type Field = keyof typeof labels
export type Texts = Readonly<Record<Field, string>>
const fields = Object.keys(labels) as Field[]

export const allBudgets = '*'

/** A user from Slack has no token, so the list holds all permissions. */
export const isSlack = (sub: string): boolean => sub.startsWith('slack:')

export const shownCaller = (sub: string): string => (sub === unlistedCallers ? 'callers that are not listed' : sub)

/** With a token, a missing restriction permits everything. */
export function textsOf(sub: string, caller: Caller): Texts {
  const { person, mayForce, mayChargeAncestors, perUpdate, ratePerMinute } = caller
  const callerScopes = caller.scopes ?? (isSlack(sub) ? [] : scopes)
  const defaultBudgets = isSlack(sub) && !callerScopes.includes('admin') ? [] : allBudgets
  const limitedCaller = { name: sub, limits: caller.limits ?? [] }
  return {
    scopes: orderScopes(callerScopes),
    budgets: [caller.budgets ?? defaultBudgets].flat().join('\n'),
    readsBudgets: caller.readsBudgets?.join('\n') ?? allBudgets,
    person: person ?? '',
    mayForce: mayForce ? 'yes' : 'no',
    mayChargeAncestors: mayChargeAncestors ? 'yes' : 'no',
    month: limitText(limitOf(limitedCaller, 'month')),
    day: limitText(limitOf(limitedCaller, 'day')),
    perUpdate: limitText(perUpdate),
    ratePerMinute: limitText(ratePerMinute),
  }
}

const orderScopes = (chosen: readonly string[]) => scopes.filter((scope) => chosen.includes(scope)).join(' ')
/** Numbers get one format, so that equal numbers are equal texts. */
export function textsIn(form: URLSearchParams, defaults: Texts): Texts {
  const entries = fields.map((field) => [field, form.has(field) ? normalize(field, form) : defaults[field]] as const)
  return Object.fromEntries(entries) as Texts
}

function normalize(field: Field, form: URLSearchParams): string {
  const value = (form.get(field) ?? '').trim()
  switch (field) {
    case 'scopes':
      return orderScopes(form.getAll(field).flatMap((each) => each.split(/\s+/)))
    case 'budgets':
      return form.get('charging') === 'all' ? allBudgets : linesOf(value)
    case 'readsBudgets':
      return form.get('reading') === 'all' ? allBudgets : linesOf(value)
    case 'person':
      return value
    case 'mayForce':
    case 'mayChargeAncestors':
      return value === 'yes' ? 'yes' : 'no'
    case 'month':
    case 'day':
      return value === '' || value.toLowerCase() === 'unlimited' ? 'unlimited' : asNumber(value)
    case 'perUpdate':
    case 'ratePerMinute':
      return asNumber(value)
  }
}

const linesOf = (value: string): string => value.split(/[\s,]+/).join('\n')

function asNumber(value: string): string {
  const number = toNumber(value)
  return Number.isNaN(number) ? value : count(number)
}

export function valueText(field: Field, value: string): string {
  if (value === allBudgets && (field === 'budgets' || field === 'readsBudgets')) return 'all'
  return value.split(/[ \n]/).join(', ') || 'none'
}

export function toCaller(sub: string, texts: Texts, now: Caller) {
  const parsed = callerRequest.safeParse(bodyOf(sub, texts, now))
  if (!parsed.success) return { kind: 'invalid', faults: faultsOf(allFaults([], parsed.error.issues), texts) } as const
  const { reason: _none, ...caller } = parsed.data
  return { kind: 'caller', caller: callerAs(caller) } as const
}

function bodyOf(sub: string, texts: Texts, now: Caller): Record<string, unknown> {
  const chosenScopes = texts.scopes === '' ? [] : texts.scopes.split(' ')
  const isRestricted = isSlack(sub) || chosenScopes.length < scopes.length
  const limits = limitsIn(sub, texts, now)
  return {
    ...(isRestricted && { scopes: chosenScopes }),
    ...(texts.budgets !== allBudgets && { budgets: namesIn(texts.budgets) }),
    ...(texts.budgets === allBudgets && isSlack(sub) && { budgets: allBudgets }),
    ...(texts.readsBudgets !== allBudgets && { readsBudgets: namesIn(texts.readsBudgets) }),
    ...(texts.person !== '' && { person: texts.person }),
    disabled: now.disabled ?? false,
    mayForce: texts.mayForce === 'yes',
    mayChargeAncestors: texts.mayChargeAncestors === 'yes',
    ...(limits && { limits }),
    ...(texts.perUpdate !== '' && { perUpdate: toNumber(texts.perUpdate) }),
    ...(texts.ratePerMinute !== '' && { ratePerMinute: toNumber(texts.ratePerMinute) }),
  }
}

export const namesIn = (lines: string): readonly string[] => (lines === '' ? [] : lines.split('\n'))

/** Unedited limits stay, because an unlimited counter has the same texts as none. */
function limitsIn(sub: string, texts: Texts, now: Caller): readonly object[] | undefined {
  const textsBefore = textsOf(sub, now)
  if (texts.month === textsBefore.month && texts.day === textsBefore.day) return now.limits
  const limits = (['month', 'day'] as const)
    .filter((window) => texts[window] !== 'unlimited')
    .map((window) => ({ window, units: toNumber(texts[window]) }))
  return limits.length === 0 ? undefined : limits
}

function faultsOf(faults: readonly Fault[], texts: Texts): FieldFaults {
  const named = faults.map(({ path, message }) => [fieldOf(path, texts), asSentence(message)] as const)
  return Object.fromEntries(named.toReversed())
}

/** Limits are a list; the field of the first wrong number stands for it. */
function fieldOf(path: string, texts: Texts): string {
  const [member = ''] = path.split('.')
  if (member !== 'limits') return member
  return texts.month === 'unlimited' || !Number.isNaN(toNumber(texts.month)) ? 'day' : 'month'
}
