import { renewalChange } from '../../../shared/ledger/identity.ts'
import type { Handlers } from '../handlers.ts'
import { type Action, type Actions, asks, projects } from './actions.ts'
import { one } from './chance.ts'

/** The rules of the middle budget of three; its child has no rules at first. */
export const rulesOfTeam = [
  { approvalAbove: 35 },
  { perUpdate: 35 },
  { kinds: ['ranking'] },
  { kinds: ['keyword-difficulty'] },
  { approvers: ['erin'] },
]
export const rulesOfAda = [{ limits: [{ window: 'month', units: 70 }] }, { perUpdate: 35 }, {}]

export const ruleRequests: Actions = {
  'asks of a deep budget': (handlers, day) =>
    asks(handlers, day, `deep-${day.chance(4)}`, {
      project: one(day.chance, projects),
      budget: 'squad',
      whenShort: one(day.chance, ['refuse', 'ask']),
    }),
  'asks for keyword difficulty of a deep budget': (handlers, day) =>
    asks(handlers, day, `deep-hard-${day.chance(2)}`, {
      kind: 'keyword-difficulty',
      project: one(day.chance, ['1001', '1002']),
      budget: 'squad',
    }),
}

/** The limit is below the price of most updates, and the parent `small` enforces its own. */
const watched = { parent: 'small', limits: [{ window: 'month', units: 35 }] }

export const putObserved = ({ call }: Handlers) =>
  call('root', 'PUT', '/budgets/watched', { ...watched, enforce: false })

const asksWatched: Action = (handlers, day) =>
  asks(handlers, day, `watched-${day.chance(6)}`, {
    project: one(day.chance, projects),
    budget: 'watched',
    whenShort: one(day.chance, ['refuse', 'fit', 'ask']),
  })

/** Frequent requests, so that several exceed their limit and meet at the limit above. */
export const observedRequests: Actions = {
  'asks of an observed budget': asksWatched,
  'asks again of an observed budget': asksWatched,
  'asks once more of an observed budget': asksWatched,
}

export const observedEvents: Actions = {
  'observes or enforces': ({ call }, { chance }) =>
    call('root', 'PUT', '/budgets/watched', { ...watched, enforce: chance(2) === 0 }),
}

export const ruleEvents: Actions = {
  'changes the rules of a deep budget': (handlers, { chance, excused }) => {
    const name = one(chance, ['team', 'squad'])
    excused.add(name)
    return handlers.call('root', 'PUT', `/budgets/${name}`, {
      parent: name === 'team' ? 'small' : one(chance, ['team', 'small', 'account']),
      limits: [{ window: 'month', units: one(chance, [60, 90, 200]) }],
      ...one(chance, [{ keep: 30 }, { perUpdate: 40 }, { perUpdate: 60, approvalAbove: 30 }]),
      ...one(chance, [{}, { approvalAbove: 35 }, { kinds: ['ranking'] }, { kinds: ['keyword-difficulty'] }]),
      ...one(chance, [{}, { approvers: ['dora'] }, { approvers: ['erin'] }]),
    })
  },
  'limits a caller': (handlers, { chance, excused }) => {
    const caller = one(chance, ['ada', 'bob'])
    excused.add(`caller:${caller}`)
    return handlers.call('root', 'PUT', `/callers/${caller}`, {
      limits: [
        { window: 'month', units: one(chance, [0, 50, 100]) },
        { window: 'day', units: one(chance, [45, 80]) },
      ],
      ...one(chance, [{}, {}, { perUpdate: 40 }, { disabled: true }]),
    })
  },
  'lifts the limits of a caller': (handlers, { chance }) =>
    handlers.call('root', 'DELETE', `/callers/${one(chance, ['ada', 'bob'])}`),
  'changes the renewal': (handlers, { chance }) =>
    handlers.guard.ledger.change('setup', renewalChange({ day: one(chance, [1, 15, 25]) })),
}
