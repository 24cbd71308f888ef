import { runCommand } from '../../infra/local/commands/command.ts'
import { withoutFound } from '../../infra/local/data-directory.ts'
import { openLedger } from '../../infra/local/database/open.ts'
import { readSettings } from '../../infra/local/settings.ts'
import { untilStopped } from '../../infra/local/shutdown.ts'
import { startTrial } from '../../infra/local/start.ts'
import { createDynamoClient, createDynamoStore } from '../../shared/ledger/store/dynamo-store.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { createDelivery, followTable } from '../support/dynamodb/stream.ts'
import { createTable } from '../support/dynamodb/table.ts'

/** The product as npm start starts it, but its ledger is a table, as on AWS. */
const run = () =>
  untilStopped(async (shutdown) => {
    const { DYNAMODB_ENDPOINT: endpoint = '', TABLE_NAME: table = '' } = process.env
    const client = createDynamoClient(endpoint)
    await createTable(client, table)
    await startTrial(readSettings(withoutFound(process.env)), shutdown, async () => ({
      store: createDynamoStore({ client, table, clock: systemClock, ids: systemIds }),
      file: (await openLedger(null, shutdown)).file,
      where: `the table ${table}`,
      follow: async ({ log }, reader) => {
        const delivery = createDelivery({ ...reader, log })
        const following = await followTable({ endpoint, table }, { take: delivery.take, log })
        return {
          stop: async (patience) => {
            await Promise.all([following.stop(patience), delivery.stop(patience)])
          },
        }
      },
    }))
  })

process.exit(
  await runCommand({ usage: 'Starts the product on a table.\n\n  npm run kills' }, [], async () => ({ run })),
)
