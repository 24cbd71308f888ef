import { list, ownLimitsLeft } from '../../../../shared/guard/sentences.ts'
import type { View } from '../../../../shared/ledger/book/view.ts'
import {
  type Caller,
  type Definitions,
  personOf,
  rootBudget,
  unlistedCallers,
  windowKinds,
} from '../../../../shared/ledger/definitions/definitions.ts'
import { type Scope, scopes } from '../../../../shared/platform/words.ts'
import { callerMembers } from '../../../../shared/records/caller.ts'
import type { FieldGroup } from '../../kit/edit.tsx'
import { allBudgets, fieldsIn, isSlack, namesIn, type Texts } from './caller-texts.ts'

export interface OpenCaller {
  readonly view: View
  /** The caller's `sub`. */
  readonly name: string
  readonly listed: Caller | undefined
  readonly current: Texts
}

export type CallerEdit = OpenCaller & { readonly texts: Texts }

const scopeTexts: Readonly<Record<Scope, string>> = {
  read: 'see budgets, updates and figures',
  run: 'run updates, which spends units',
  propose: 'ask for updates that need approval',
  write: 'create and change projects at the service',
  approve: 'approve, reject and resolve what others asked for',
  admin: 'change budgets and callers, pause plans, book entries',
}

export const groupsOf = (edit: CallerEdit): readonly FieldGroup[] =>
  edit.name === unlistedCallers
    ? [
        {
          id: 'limits',
          title: 'Limits of each',
          fields: limitFields.filter(({ name }) => !isWindow(name)),
          note: 'These limits do not apply to listed callers or to plans.',
        },
      ]
    : [mayDo(edit), budgetsOf(edit), who(edit), ownLimits]

const mayDo = ({ name }: CallerEdit): FieldGroup => ({
  id: 'may',
  title: 'What they may do',
  note: isSlack(name)
    ? 'Users in Slack have no token: they may do only what is ticked here.'
    : 'Ticked scopes work only if the token allows them, too.',
  fields: [
    { name: 'scopes', as: 'ticks', choices: scopes.map((scope) => [scope, scope, scopeTexts[scope]]) },
    ...fieldsIn('may'),
  ],
})

const budgetsOf = ({ name, texts: { budgets, readsBudgets } }: CallerEdit): FieldGroup => ({
  id: 'budgets',
  title: 'Which budgets',
  fields: [
    {
      name: 'charging',
      label: 'May charge',
      value: budgets === allBudgets ? 'all' : 'some',
      choices: [
        ['all', isSlack(name) ? 'all budgets' : 'as the token says'],
        ['some', 'only those named'],
      ],
    },
    {
      name: 'budgets',
      as: 'lines',
      value: budgets === allBudgets ? '' : budgets,
      note: callerMembers.budgets.note,
    },
    {
      name: 'reading',
      label: 'May read',
      value: readsBudgets === allBudgets ? 'all' : 'some',
      choices: [
        ['all', 'everything'],
        ['some', 'only those named'],
      ],
    },
    {
      name: 'readsBudgets',
      as: 'lines',
      value: readsBudgets === allBudgets ? '' : readsBudgets,
      note: callerMembers.readsBudgets.note,
    },
    ...fieldsIn('budgets'),
  ],
})

const who = ({ name }: CallerEdit): FieldGroup => ({
  id: 'who',
  title: 'Person',
  fields: [...fieldsIn('who'), ...(isSlack(name) ? fieldsIn('slack') : [])],
})

const limitFields = fieldsIn('limits')
const isWindow = (name: string) => windowKinds.some((window) => window === name)

const ownLimits: FieldGroup = {
  id: 'limits',
  title: 'Own limits',
  note: 'They count in addition to the limits of budgets.',
  fields: limitFields,
}

export function consequencesOf({ name: sub, current, texts }: CallerEdit, after: View): readonly string[] {
  if (sub === unlistedCallers) return ['These rules hold for each caller that is not listed.']
  const [before, then] = [namesIn(current.scopes), namesIn(texts.scopes)]
  const lost = before.filter((scope) => !then.includes(scope))
  const gained = then.filter((scope) => !before.includes(scope))
  const others = otherNamesOf(after.definitions, sub)
  return [
    ...(lost.length > 0 ? [`${sub} loses: ${list(lost)}.`] : []),
    ...(gained.length > 0 ? [`${sub} gains: ${list(gained)}${isSlack(sub) ? '' : ', if the token allows it'}.`] : []),
    ...readsAfter(sub, current, texts),
    ...(then.length === 0 ? [`${sub} may then do nothing.`] : []),
    ...(others.length > 0
      ? [`${list([sub, ...others])} are then one person, who cannot approve their own requests.`]
      : []),
    ...ownLimitsLeft(after, sub).map((sentence) => `Of their own limit, ${sentence}.`),
  ]
}

function readsAfter(sub: string, current: Texts, texts: Texts): readonly string[] {
  if (texts.readsBudgets === current.readsBudgets) return []
  if (texts.readsBudgets === allBudgets) return [`${sub} can then read everything.`]
  const budgets = namesIn(texts.readsBudgets)
  return [
    budgets.length === 0
      ? `${sub} can then read no budget.`
      : `${sub} can then read ${list(budgets)} and the budgets below, but no names, projects, updates or figures of other budgets.`,
    ...(namesIn(texts.scopes).includes('admin') && !budgets.includes(rootBudget)
      ? ['The scope admin does not count for a caller who reads only some budgets.']
      : []),
  ]
}

function otherNamesOf(definitions: Definitions, sub: string): readonly string[] {
  const person = personOf(definitions, sub)
  const all = new Set([person, ...Object.keys(definitions.callers ?? {})])
  return [...all].filter((each) => each !== sub && personOf(definitions, each) === person)
}
