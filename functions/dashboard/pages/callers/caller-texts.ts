import { callerAs, callerRequest } from '../../../../shared/api/callers.ts'
import { allFaults } from '../../../../shared/guard/fields.ts'
import { count } from '../../../../shared/guard/sentences.ts'
import { type Caller, limitOf } from '../../../../shared/ledger/book/definitions.ts'
import { scopes } from '../../../../shared/platform/words.ts'
import { createComparison, limitText } from '../../components/edit.tsx'
import { toNumber } from '../../forms.ts'

export const labels = {
  scopes: 'Scopes',
  budgets: 'Budgets',
  person: 'Person',
  disabled: 'Disabled',
  mayForce: 'May force',
  mayChargeAncestors: 'May charge ancestors of an owner',
  month: 'Limit per month',
  day: 'Limit per day',
  perUpdate: 'At most for one update',
  ratePerMinute: 'Requests a minute',
} as const

type Text = keyof typeof labels
export type Texts = Readonly<Record<Text, string>>
const texts = Object.keys(labels) as Text[]

/** All budgets, as the API and tokens write it. */
export const allBudgets = '*'

/** A user from Slack has no token: the list says all that they may do. */
export const isSlack = (sub: string): boolean => sub.startsWith('slack:')

/** With a token, no restriction and permission for everything look alike. */
export function textsOf(sub: string, caller: Caller): Texts {
  const { person, disabled, mayForce, mayChargeAncestors, perUpdate, ratePerMinute } = caller
  const listed = caller.scopes ?? (isSlack(sub) ? [] : scopes)
  const otherwise = isSlack(sub) && !listed.includes('admin') ? [] : allBudgets
  const limited = { name: sub, limits: caller.limits ?? [] }
  return {
    scopes: inOrder(listed),
    budgets: [caller.budgets ?? otherwise].flat().join('\n'),
    person: person ?? '',
    disabled: disabled ? 'yes' : 'no',
    mayForce: mayForce ? 'yes' : 'no',
    mayChargeAncestors: mayChargeAncestors ? 'yes' : 'no',
    month: limitText(limitOf(limited, 'month')),
    day: limitText(limitOf(limited, 'day')),
    perUpdate: limitText(perUpdate),
    ratePerMinute: limitText(ratePerMinute),
  }
}

const inOrder = (chosen: readonly string[]) => scopes.filter((scope) => chosen.includes(scope)).join(' ')
/** Absent fields stay as they are. Numbers are formatted like ours, so that equal ones are equal texts. */
export function textsIn(form: URLSearchParams, otherwise: Texts): Texts {
  const given = texts.map((text) => [text, form.has(text) ? tidy(text, form) : otherwise[text]] as const)
  return Object.fromEntries(given) as Texts
}

function tidy(text: Text, form: URLSearchParams): string {
  const value = (form.get(text) ?? '').trim()
  switch (text) {
    case 'scopes':
      return inOrder(form.getAll(text).flatMap((each) => each.split(/\s+/)))
    case 'budgets':
      return form.get('charging') === 'all' ? allBudgets : value.split(/[\s,]+/).join('\n')
    case 'person':
      return value
    case 'disabled':
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

function asNumber(value: string): string {
  const number = toNumber(value)
  return Number.isNaN(number) ? value : count(number)
}

/** The words of a value beside its label. */
function said(text: Text, value: string): string {
  if (text === 'budgets' && value === allBudgets) return 'all'
  return value.split(/[ \n]/).join(', ') || 'none'
}

export const differences = createComparison(labels, said)

/** Parses with the API's schema. `wrong`: faults as sentences. */
export function toCaller(sub: string, given: Texts, now: Caller) {
  const parsed = callerRequest.safeParse(bodyOf(sub, given, now))
  if (!parsed.success) return { kind: 'wrong', wrong: allFaults([], parsed.error.issues).map(sentence) } as const
  const { reason: _none, ...caller } = parsed.data
  return { kind: 'caller', caller: callerAs(caller) } as const
}

function bodyOf(sub: string, given: Texts, now: Caller): Record<string, unknown> {
  const chosen = given.scopes === '' ? [] : given.scopes.split(' ')
  const isNarrowed = isSlack(sub) || chosen.length < scopes.length
  const limits = limitsIn(sub, given, now)
  return {
    ...(isNarrowed && { scopes: chosen }),
    ...(given.budgets !== allBudgets && { budgets: given.budgets === '' ? [] : given.budgets.split('\n') }),
    ...(given.budgets === allBudgets && isSlack(sub) && { budgets: allBudgets }),
    ...(given.person !== '' && { person: given.person }),
    disabled: given.disabled === 'yes',
    mayForce: given.mayForce === 'yes',
    mayChargeAncestors: given.mayChargeAncestors === 'yes',
    ...(limits && { limits }),
    ...(given.perUpdate !== '' && { perUpdate: toNumber(given.perUpdate) }),
    ...(given.ratePerMinute !== '' && { ratePerMinute: toNumber(given.ratePerMinute) }),
  }
}

/** `undefined`: nothing is counted for the caller. A caller who is counted without limit stays so. */
function limitsIn(sub: string, given: Texts, now: Caller): readonly object[] | undefined {
  const was = textsOf(sub, now)
  if (given.month === was.month && given.day === was.day) return now.limits
  const limits = (['month', 'day'] as const)
    .filter((window) => given[window] !== 'unlimited')
    .map((window) => ({ window, units: toNumber(given[window]) }))
  return limits.length === 0 ? undefined : limits
}

function sentence({ path, message }: { path: string; message: string }): string {
  const [member = ''] = path.split('.')
  const text = texts.find((each) => each === member)
  const label = text ? labels[text] : member === 'limits' ? 'Limits' : path
  return `${label}: it ${message}.`
}
