import { type Decided, units as inUnits, shownCaller, shownIn } from '../../guard/sentences.ts'
import {
  type ListOfCallers,
  nameWhenRequested,
  planOfCaller,
  unseenBudget,
} from '../../ledger/definitions/definitions.ts'
import { type Tags, tagEntries, type Update } from '../../ledger/updates/update.ts'
import { code } from '../text.ts'

type Named = Pick<Update, 'project' | 'listed'>

/** The name that a budget listed at the request, also if the request had the id. */
export const projectOf = (update: Named): string => code(nameWhenRequested(update))

/** With the id beside the name. */
export const projectAndId = (update: Named): string =>
  `${projectOf(update)}${update.listed?.id === undefined ? '' : ` ${update.listed.id}`}`

export const updateOf = (update: Named & Pick<Update, 'kind'>): string =>
  `${update.kind} update of ${projectOf(update)}`

/** `unseenBudget` is a phrase and not a name. */
export const budgetName = (budget: string): string => (budget === unseenBudget ? budget : code(budget))

const maxTagLength = 100

export const tagsText = (tags: Tags): string =>
  tagEntries(tags)
    .map(([key, value]) => code(`${key}=${value}`, maxTagLength))
    .join(', ')

export const bold = (text: string): string => `*${text}*`
export const boldUnits = (units: number): string => bold(inUnits(units))

export const stayCounted = (units: number | undefined): string =>
  units === undefined ? 'Its units stay counted' : `${boldUnits(units)} ${units === 1 ? 'stays' : 'stay'} counted`

const maxSignLength = 200

/** Says why the service's answer proves nothing. `null`: it has no sign of a failure. */
export const whyInDoubt = ({ doubt }: Pick<Update, 'doubt'>): string | null =>
  doubt?.sign === undefined ? null : `Its answer has ${signText(doubt.sign)}, so it proves nothing.`

export const signText = (sign: string): string => code(sign, maxSignLength)

/** Replaces callers by the names of their persons, for messages only. */
export const named = (definitions: ListOfCallers, update: Update): Update => ({
  ...update,
  caller: nameFor(definitions, update.caller, update),
  ...(update.approval && {
    approval: { ...update.approval, by: nameFor(definitions, update.approval.by, update) },
  }),
  history: update.history.map((line) => ({ ...line, by: nameFor(definitions, line.by, update) })),
})

/** Keeps the ids of Slack users, because Slack itself shows their names. */
export function nameFor(definitions: ListOfCallers, caller: string, of?: Decided): string {
  if (slackUserIn(caller) !== undefined || planOfCaller(caller) !== null) return caller
  return of ? shownIn(definitions, of, caller) : shownCaller(definitions, caller)
}

const slackUserIn = (caller: string): string | undefined => /^slack:([UW][A-Z0-9]{2,20})$/.exec(caller)?.[1]

/** @param caller a result of `nameFor`. */
export function person(caller: string): string {
  const user = slackUserIn(caller)
  if (user !== undefined) return `<@${user}>`
  const plan = planOfCaller(caller)
  return plan === null ? code(caller) : `the plan ${code(plan)}`
}

export function mentions(callers: readonly string[], max: number): string {
  const more = callers.length - max
  return `${callers.slice(0, max).map(person).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

export function actor(by: string): string {
  if (by === 'guard' || by === 'sweep') return 'Unit Guard'
  return by === 'service' ? 'the tracking service' : person(by)
}

export const stops = {
  budget: {
    sign: '🧊',
    stop: 'froze',
    lift: 'unfroze',
    undo: 'unfreeze',
    stopped: 'Nothing can be spent from it, or from budgets below it, until it is unfrozen. Running updates continue.',
    lifted: 'It can spend again, within its limits.',
  },
  plan: {
    sign: '⏸️',
    stop: 'paused',
    lift: 'resumed',
    undo: 'resume',
    stopped: 'It asks for no updates until it is resumed.',
    lifted: 'It runs again at its next scheduled time.',
  },
} as const

/** Any use is visible, and a full bar means that nothing is left. */
export function bar(used: number, of: number): string {
  const isFull = of <= 0 || used >= of
  const cells = isFull ? 10 : used <= 0 ? 0 : Math.min(9, Math.max(1, Math.round((used / of) * 10)))
  return `${'█'.repeat(cells)}${'░'.repeat(10 - cells)}`
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
