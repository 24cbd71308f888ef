import { callerAs, callerRequest } from '../../../../shared/api/callers.ts'
import { type Caller, unlistedCallers } from '../../../../shared/ledger/definitions/definitions.ts'
import { scopes } from '../../../../shared/platform/words.ts'
import { callerMembers } from '../../../../shared/records/caller.ts'
import { faultsOf, limitsIn, recordForm, type TextsOf } from '../../kit/record-form.ts'

const form = recordForm(callerMembers)
export const { labels, fieldsIn } = form
export type Texts = TextsOf<typeof callerMembers>
export type Field = keyof Texts

export const allBudgets = '*'

/** A user from Slack has no token, so the list of callers holds all their permissions. */
export const isSlack = (sub: string): boolean => sub.startsWith('slack:')

export const shownCaller = (sub: string): string => (sub === unlistedCallers ? 'callers that are not listed' : sub)

/** For callers with a token, a missing restriction permits everything. */
export function textsOf(sub: string, caller: Caller): Texts {
  const callerScopes = caller.scopes ?? (isSlack(sub) ? [] : scopes)
  const defaultBudgets = isSlack(sub) && !callerScopes.includes('admin') ? [] : allBudgets
  return {
    ...form.textsOf(caller),
    scopes: orderScopes(callerScopes),
    budgets: [caller.budgets ?? defaultBudgets].flat().join(' '),
    readsBudgets: caller.readsBudgets?.join(' ') ?? allBudgets,
  }
}

const orderScopes = (chosen: readonly string[]) => scopes.filter((scope) => chosen.includes(scope)).join(' ')

export function textsIn(given: URLSearchParams, defaults: Texts): Texts {
  const texts = form.textsIn(given, defaults)
  const budgets = (text: string, choice: string) =>
    given.get(choice) === 'all' ? allBudgets : text.split(/[\s,]+/).join(' ')
  return {
    ...texts,
    scopes: orderScopes(namesIn(texts.scopes)),
    budgets: budgets(texts.budgets, 'charging'),
    readsBudgets: budgets(texts.readsBudgets, 'reading'),
  }
}

export const valueText = (field: Field, value: string): string =>
  value === allBudgets ? 'all' : form.shown(field, value)

export function toCaller(sub: string, texts: Texts, now: Caller) {
  const chosenScopes = namesIn(texts.scopes)
  const isRestricted = isSlack(sub) || chosenScopes.length < scopes.length
  const limits = limitsIn(texts)
  const body = form.bodyOf(texts, {
    scopes: isRestricted ? chosenScopes : undefined,
    budgets: texts.budgets !== allBudgets ? namesIn(texts.budgets) : isSlack(sub) ? allBudgets : undefined,
    disabled: now.disabled,
    readsBudgets: texts.readsBudgets !== allBudgets ? namesIn(texts.readsBudgets) : undefined,
    limits: areLimitsOf(now, sub, texts) ? now.limits : limits.length > 0 ? limits : undefined,
  })
  const parsed = callerRequest.safeParse(body)
  if (!parsed.success) return { kind: 'invalid', faults: faultsOf(parsed.error.issues, limits) } as const
  const { reason: _none, ...caller } = parsed.data
  return { kind: 'caller', caller: callerAs(caller) } as const
}

export const namesIn = (text: string): readonly string[] => text.split(' ').filter(Boolean)

/** Unedited limits are kept, because texts cannot distinguish an unlimited counter from a missing counter. */
function areLimitsOf(now: Caller, sub: string, { month, day }: Texts): boolean {
  const before = textsOf(sub, now)
  return month === before.month && day === before.day
}
