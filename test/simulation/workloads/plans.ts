import { type Plan, parsePlans } from '../../../shared/guard/plans-file.ts'

export const plans: readonly Plan[] = parsePlans(
  JSON.stringify([
    { name: 'nightly', kind: 'ranking', projects: ['acme', 'globex', 'umbrella'], schedule: 'rate(1 day)' },
    {
      name: 'small',
      kind: 'ranking',
      projects: ['initech', 'acme'],
      budget: 'small',
      schedule: 'rate(1 hour)',
      whenShort: 'ask',
    },
    { name: 'modest', kind: 'keyword-difficulty', projects: ['1001'], leave: 30, schedule: 'rate(1 hour)' },
  ]),
)
