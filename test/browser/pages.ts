import type { Places } from '../support/browser/places.ts'

/** Every page of the dashboard, once in each of its forms. Tests of all pages use this table. */
export const pages: readonly (readonly [
  name: string,
  path: (places: Pick<Places, 'updateOf' | 'entryOf'>) => string,
])[] = [
  ['overview', () => '/'],
  ['updates', () => '/dashboard/updates'],
  ['updates, none found', () => '/dashboard/updates?project=missing.example'],
  ['inbox', () => '/dashboard/inbox'],
  ['an update that waits', ({ updateOf }) => updateOf('lakeside-hotels.example', 'awaiting-approval')],
  ['an update in doubt', ({ updateOf }) => updateOf('fernway-garden.example', 'in-doubt')],
  ['an update that was settled', ({ updateOf }) => updateOf('lakeside-hotels.example', 'settled')],
  ['the correction of a charge', ({ updateOf }) => `${updateOf('lakeside-hotels.example', 'settled')}/charge`],
  ['an update that was refused', ({ updateOf }) => updateOf('harbour-bikes.example', 'refused')],
  ['budgets', () => '/dashboard/budgets'],
  ['a budget', () => '/dashboard/budgets/globex'],
  ['a budget that is frozen', () => '/dashboard/budgets/trial'],
  ['a project', () => '/dashboard/projects/lakeside-hotels.example'],
  ['a person', () => '/dashboard/people/dora'],
  ['the limits of a budget', () => '/dashboard/budgets/globex/edit'],
  ['asking for an update', () => '/dashboard/ask?kind=ranking&project=globex'],
  ['asking, with faults', () => '/dashboard/ask?kind=none&project='],
  ['a booking', () => '/dashboard/budgets/globex/book'],
  ['callers', () => '/dashboard/callers'],
  ['a caller', () => '/dashboard/callers/edit?sub=reporting-agent'],
  ['events', () => '/dashboard/events'],
  ['plans', () => '/dashboard/plans'],
  ['a plan', () => '/dashboard/plans/morning'],
  ['statements', () => '/dashboard/statements'],
  ['statements by project', () => '/dashboard/statements?by=project'],
  ['closing a month', () => '/dashboard/close'],
  ['activity', () => '/dashboard/activity'],
  ['an entry', ({ entryOf }) => entryOf('transfer')],
]

/** Pages without a session; the code comes from a new link. */
export const openPages = ['/login', '/login?code=', '/docs', '/problems/over-budget'] as const
