import type { View } from '../../ledger/book/view.ts'
import {
  budgetNamed,
  type Caller,
  callerNamed,
  type Definitions,
  namesOf,
  pauseOf,
  rootBudget,
  unlistedCallers,
} from '../../ledger/definitions/definitions.ts'
import { membersForUnlisted } from '../../records/caller.ts'
import { type GuardParts, withParts } from '../options.ts'
import { invalidRequest, problem } from '../problems.ts'
import { list, shownCaller } from '../sentences.ts'
import {
  type Author,
  type ChangeResult,
  changeAs,
  type LiftRequest,
  laterStop,
  type Preview,
  previewOf,
  staleness,
} from './budgets.ts'

type Parts = Pick<GuardParts, 'ledger'>

export const createCallers = (parts: Parts) =>
  withParts(parts, { putCaller, previewCaller, keepSlackTeam, disableCaller, deleteCaller, pausePlan, resumePlan })

const putCaller = ({ ledger }: Parts, name: string, caller: Caller, by: Author): Promise<ChangeResult> =>
  changeAs(ledger, by, (view) => callerChange(view, name, caller, by))

async function previewCaller({ ledger }: Parts, name: string, caller: Caller, by: Author): Promise<Preview> {
  const before = await ledger.view()
  return previewOf(ledger, before, callerChange(before, name, caller, by))
}

/** For a listed user of Slack without a workspace. */
const keepSlackTeam = ({ ledger }: Parts, name: string, slackTeam: string): Promise<ChangeResult> =>
  changeAs(ledger, { caller: name }, ({ definitions }) => {
    const listed = callerNamed(definitions, name)
    if (!listed || listed.slackTeam !== undefined) return null
    return {
      definitions: { ...definitions, callers: { ...definitions.callers, [name]: { ...listed, slackTeam } } },
      note: noteOf(`${shownCaller(definitions, name)} first came from the Slack workspace ${slackTeam}`),
    }
  })

/** The caller's listing stays, so that enabling restores it. */
const disableCaller = (
  { ledger }: Parts,
  name: string,
  by: Author & { reason: string; disabled: boolean },
): Promise<ChangeResult> =>
  changeAs(ledger, by, ({ definitions }) => {
    if (name === unlistedCallers && by.disabled) return noMember('disabled')
    if (isPattern(name) && by.disabled) return noPatterns
    const { disabled: was, ...rest } = callerNamed(definitions, name) ?? {}
    if ((was ?? false) === by.disabled) return null
    const reason = disableReason(shownCaller(definitions, name), by)
    const { [name]: _listed, ...callers } = definitions.callers ?? {}
    // Removes an empty entry, because a listed caller does not have the rules for unlisted callers.
    const isEmpty = !by.disabled && Object.keys(rest).length === 0
    const caller: Caller = by.disabled ? { ...rest, disabled: true } : rest
    return {
      definitions: { ...definitions, callers: isEmpty ? callers : { ...callers, [name]: caller } },
      note: noteOf(reason),
    }
  })

const deleteCaller = ({ ledger }: Parts, name: string, by: Author): Promise<ChangeResult> =>
  changeAs(ledger, by, ({ definitions }) => {
    if (!listedAs(definitions, name)) return problem('not-found', `${name} is not listed.`)
    const stale = staleness(definitions, by)
    if (stale) return stale
    const note = noteOf(by.reason ?? `${shownCaller(definitions, name)} is not listed any more`)
    if (name === unlistedCallers) {
      const { unlisted: _gone, ...rest } = definitions
      return { definitions: rest, note }
    }
    const { [name]: _gone, ...callers } = definitions.callers ?? {}
    return { definitions: { ...definitions, callers }, note }
  })

const pausePlan = ({ ledger }: Parts, plan: string, by: Author & { reason: string }): Promise<ChangeResult> =>
  changeAs(ledger, by, ({ definitions, now }) => {
    // A second pause keeps the first reason.
    if (pauseOf(definitions, plan)) return null
    const pause = { reason: by.reason, by: by.caller, at: now }
    const note = { type: 'pause', budget: rootBudget, plan, reason: by.reason } as const
    return { definitions: { ...definitions, pausedPlans: { ...definitions.pausedPlans, [plan]: pause } }, note }
  })

const resumePlan = ({ ledger }: Parts, plan: string, by: LiftRequest): Promise<ChangeResult> =>
  changeAs(ledger, by, (view) => {
    const { definitions } = view
    const pause = pauseOf(definitions, plan)
    const later = pause && laterStop(pause, view, by, `The plan ${plan} was paused`)
    if (!pause || later) return later ?? null
    const { [plan]: _resumed, ...pausedPlans } = definitions.pausedPlans ?? {}
    const note = { type: 'resume', budget: rootBudget, plan, reason: by.reason } as const
    return { definitions: { ...definitions, pausedPlans }, note }
  })

const noMember = (...members: string[]) =>
  invalidRequest(
    members.map((path) => ({ path, message: `cannot be set for *: only ${list(membersForUnlisted)} can.` })),
  )

/** A name with `*` at its end matches no caller, but an operator could expect a match. */
const isPattern = (name: string): boolean => name !== unlistedCallers && name.endsWith('*')

const noPatterns = invalidRequest([
  {
    path: 'sub',
    message: 'must not end with *: names are compared in full, and * alone is for callers that are not listed',
  },
])

/** The entry of a caller. For `*`: the entry for unlisted callers. */
export const listedAs = (definitions: Definitions, name: string): Caller | undefined =>
  name === unlistedCallers ? definitions.unlisted : callerNamed(definitions, name)

const noteOf = (reason: string) => ({ type: 'caller', budget: rootBudget, reason }) as const

function callerChange({ definitions }: View, name: string, caller: Caller, by: Author) {
  if (isPattern(name)) return noPatterns
  const isListed = listedAs(definitions, name) !== undefined
  const stale = staleness(definitions, by, isListed ? null : `caller ${name}`)
  if (stale) return stale
  const given = { ...definitions, callers: { ...definitions.callers, [name]: caller } }
  const made = { note: noteOf(by.reason ?? `${shownCaller(given, name)} is listed`), created: !isListed }
  if (name === unlistedCallers) {
    const others = Object.keys(caller).filter((member) => !membersForUnlisted.some((each) => each === member))
    return others.length > 0 ? noMember(...others) : { definitions: { ...definitions, unlisted: caller }, ...made }
  }
  if (caller.slackTeam !== undefined && !name.startsWith('slack:'))
    return invalidRequest([{ path: 'slackTeam', message: 'can be set only for a user of Slack, such as slack:U02ADA' }])
  const names = namesOf(given, name)
  if (new Set(names).size < names.length) {
    const message = `The persons of ${name} lead in a circle: ${names.slice(0, -1).join(', ')}. Name the person at the end of the chain.`
    return invalidRequest([{ path: 'person', message }])
  }
  const errors = (['budgets', 'readsBudgets'] as const).flatMap((path) =>
    [caller[path] ?? []]
      .flat()
      .filter((budget) => budget !== '*' && !budgetNamed(definitions, budget))
      .map((budget) => ({ path, message: `There is no budget ${budget}.` })),
  )
  if (errors.length > 0) return invalidRequest(errors)
  return { definitions: given, ...made }
}

const disableReason = (name: string, { disabled, reason }: { disabled: boolean; reason: string }): string =>
  `${name} is ${disabled ? 'disabled' : 'enabled'}: ${reason}`
