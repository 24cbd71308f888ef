import { minutes } from '../support/clock.ts'
import type { Guarded } from './product.ts'
import type { Route } from './routes.ts'
import { month, requestsOf } from './world.ts'

const bookChanged = {
  Records: [
    {
      eventSource: 'aws:dynamodb',
      eventName: 'MODIFY',
      dynamodb: { Keys: { pk: { S: 'book' } }, NewImage: {}, SequenceNumber: '1' },
    },
  ],
}

/** The jobs that rules and the stream start, in a ledger of eleven budgets without waiting work, and a request for approval. */
export async function jobsOf(guarded: Guarded): Promise<readonly Route[]> {
  const { call, asked, awaiting } = requestsOf(guarded)
  const { triggers, tell, clock } = guarded
  const budgets = Array.from({ length: 9 }, (_, index) => ({ name: `team-${index + 1}`, limits: month(9_000) }))
  const asking = { name: 'asking', limits: month(9_000), approvalAbove: 10 }
  await call('PUT', '/budgets', { body: { budgets: [...budgets, asking] } })
  await asked('settled', { budget: 'team-1' })
  const endsAt = () => clock.now() + minutes(15)
  const fire = (plan: string) => () => () => triggers.fire(plan, clock.now(), endsAt())
  const sweep = () => triggers.sweep(endsAt())
  // The first sweeps count the update into its day.
  for (let done = 0; done < 3; done++) await sweep()
  return [
    ['sweep, nothing open', () => sweep],
    ['digest and audit, one update', () => () => triggers.digest(endsAt())],
    ['tell, the book changed', () => () => tell(bookChanged, endsAt())],
    ['plan of one project', fire('daily')],
    ['plan of two projects', fire('weekly')],
    ['POST /updates that waits for approval', () => () => awaiting('waits')],
  ]
}
