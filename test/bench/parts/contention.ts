import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Answer } from '../../../shared/guard/update/answer.ts'
import { createDynamoStore } from '../../../shared/ledger/store/dynamo-store.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { type Database, withDatabase } from '../database.ts'
import { type Found, measuredOn } from '../document.ts'
import { type Server, startServer } from '../processes.ts'
import { type Guarded, startGuard } from '../product.ts'
import { spreadHead, spreadOf, table } from '../tables.ts'
import { takeTurns } from '../turns.ts'

const crowds = [1, 10, 50, 200]
const shares = [0, 0.2]
const turns = 5
const perUpdate = 40

export const benchContention = (): Promise<Found> =>
  withDatabase(async (database) => {
    const service = await startServer('service')
    try {
      const books = await Promise.all(shares.map((share) => openBook(database, service, share)))
      const arms = books.flatMap((book) => crowds.map((crowd) => ({ book, crowd, name: nameOf(crowd, book.share) })))
      const found = await takeTurns(Object.fromEntries(arms.map(({ book, crowd, name }) => [name, book.arm(crowd)])), {
        turns,
        warmUp: 1,
      })
      const rows: string[][] = []
      for (const { book, crowd, name } of arms) {
        const { conflicts, later, failed } = book.outcome(crowd)
        rows.push([
          name,
          spreadOf(found[name] ?? [], 0),
          ...[conflicts, later, failed].map(String),
          await book.isExact(),
        ])
      }
      for (const book of books) await book.stop()
      const head = ['at once', `updates a second, ${spreadHead}`, 'conflicts', 'left to the sweep', 'failed']
      const how = measuredOn([`${turns} turns`, 'DynamoDB Local', 'two guards in one process'])
      return { sections: { contention: [table([...head, 'book exact'], rows), how].join('\n\n') } }
    } finally {
      service.stop()
    }
  })

const nameOf = (crowd: number, share: number) => `${crowd}, ${share * 100} % conflicts`

/** One book under two guards that share no memory. */
async function openBook(database: Database, service: Server, share: number) {
  const name = await database.ledgerTable()
  const conflicts = { count: 0 }
  const guards: Guarded[] = []
  for (let index = 0; index < 2; index++) {
    const client = database.connect()
    refuse(client, share, conflicts)
    const store = createDynamoStore({ client, table: name, clock: systemClock, ids: systemIds })
    guards.push(await startGuard({ store, serviceUrl: service.url }))
  }
  const [first] = guards
  if (!first) throw new Error('there are two guards')
  const outcomes = new Map<number, { readonly conflicts: number; readonly later: number; readonly failed: number }>()
  const prefix = `crowd-${share}`
  let asked = 0

  const outcome = (crowd: number) => outcomes.get(crowd) ?? { conflicts: 0, later: 0, failed: 0 }
  const statusOf = (answer: PromiseSettledResult<Answer | undefined>) =>
    answer.status === 'fulfilled' ? answer.value?.status : undefined

  const arm = (crowd: number) => async () => {
    const before = conflicts.count
    const from = performance.now()
    const updates = Array.from({ length: crowd }, (_, index) => guards[index % 2]?.update(`${prefix}-${asked + index}`))
    const answers = await Promise.allSettled(updates)
    const seconds = (performance.now() - from) / 1000
    asked += crowd
    const settled = answers.filter((answer) => statusOf(answer) === 201).length
    const later = answers.filter((answer) => statusOf(answer) === 202).length
    const so = outcome(crowd)
    outcomes.set(crowd, {
      conflicts: so.conflicts + conflicts.count - before,
      later: so.later + later,
      failed: so.failed + crowd - settled - later,
    })
    return crowd / seconds
  }

  /** Compares with the service's own count and with the sum of its entries. */
  async function isExact(): Promise<string> {
    const runs = (await (await fetch(`${service.url}/runs`)).json()) as Record<string, number>
    const ran = Object.entries(runs).filter(([project]) => project.startsWith(`${prefix}-`))
    const { book } = (await first?.services.guard.ledger.view()) ?? {}
    const counter = book?.counters.month.account
    const audit = (await first?.services.guard.ledger.audit()) ?? []
    const counted = counter && counter.spent + counter.held + counter.inDoubt
    const isAudited = audit.every(({ ok }) => ok === true)
    const isCounted = counted === ran.length * perUpdate
    return isCounted && isAudited && ran.every(([, times]) => times === 1) ? 'yes' : 'no'
  }

  return {
    share,
    arm,
    isExact,
    outcome,
    stop: async () => {
      for (const guarded of guards) await guarded.stop()
    },
  }
}

/** Cancels a share of the transactions as DynamoDB does when two meet at an item. */
function refuse(client: DynamoDBClient, share: number, conflicts: { count: number }): void {
  let owed = 0
  client.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName === 'TransactWriteItemsCommand') owed += share
      if (owed < 1) return next(args)
      owed -= 1
      conflicts.count++
      throw Object.assign(new Error('cancelled'), {
        name: 'TransactionCanceledException',
        CancellationReasons: [{ Code: 'TransactionConflict' }, { Code: 'None' }, { Code: 'None' }],
      })
    },
    { step: 'finalizeRequest', name: 'conflicts', priority: 'low' },
  )
}
