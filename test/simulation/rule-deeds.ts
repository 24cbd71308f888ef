import { renewalChange } from '../../shared/ledger/identity.ts'
import { one } from './chance.ts'
import { asks, type Deeds, projects } from './deeds.ts'

/** What the middle of three budgets begins with: its child says nothing of its own. */
export const rulesOfTeam = [
  { approvalAbove: 35 },
  { perUpdate: 35 },
  { kinds: ['ranking'] },
  { kinds: ['keyword-difficulty'] },
  { approvers: ['erin'] },
]
export const rulesOfAda = [{ limits: [{ window: 'month', units: 70 }] }, { perUpdate: 35 }, {}]

/** What is asked of budgets with rules, three below `account`. */
export const askingByRules: Deeds = {
  'asks of a deep budget': (rooms, scene) =>
    asks(rooms, scene, `deep-${scene.chance(4)}`, {
      project: one(scene.chance, projects),
      budget: 'squad',
      whenShort: one(scene.chance, ['refuse', 'ask']),
    }),
  'asks for keyword difficulty of a deep budget': (rooms, scene) =>
    asks(rooms, scene, `deep-hard-${scene.chance(2)}`, {
      kind: 'keyword-difficulty',
      project: one(scene.chance, ['1001', '1002']),
      budget: 'squad',
    }),
}

/** What administrators change of rules while updates are under way. */
export const mindingRules: Deeds = {
  'changes the rules of a deep budget': (rooms, { chance, excused }) => {
    const name = one(chance, ['team', 'squad'])
    excused.add(name)
    return rooms.call('root', 'PUT', `/budgets/${name}`, {
      parent: name === 'team' ? 'small' : one(chance, ['team', 'small', 'account']),
      limits: [{ window: 'month', units: one(chance, [60, 90, 200]) }],
      ...one(chance, [{}, { perUpdate: 40 }, { perUpdate: 60, approvalAbove: 30 }]),
      ...one(chance, [{}, { approvalAbove: 35 }, { kinds: ['ranking'] }, { kinds: ['keyword-difficulty'] }]),
      ...one(chance, [{}, { approvers: ['dora'] }, { approvers: ['erin'] }]),
    })
  },
  'limits a caller': (rooms, { chance, excused }) => {
    const caller = one(chance, ['ada', 'bob'])
    excused.add(`caller:${caller}`)
    return rooms.call('root', 'PUT', `/callers/${caller}`, {
      limits: [
        { window: 'month', units: one(chance, [0, 50, 100]) },
        { window: 'day', units: one(chance, [45, 80]) },
      ],
      ...one(chance, [{}, {}, { perUpdate: 40 }, { disabled: true }]),
    })
  },
  'lifts the limits of a caller': (rooms, { chance }) =>
    rooms.call('root', 'DELETE', `/callers/${one(chance, ['ada', 'bob'])}`),
  'changes the renewal': (rooms, { chance }) =>
    rooms.guard.ledger.change('setup', renewalChange({ day: one(chance, [1, 15, 25]) })),
}
