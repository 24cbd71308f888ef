import { openForCommand } from '../../../infra/local/database/open.ts'

/** Writes a pair of items into a ledger again and again and prints the time of each write, for a test of backups. */
const [directory = ''] = process.argv.slice(2)
const { store } = await openForCommand(directory)
for (let number = 1; ; number++) {
  const began = performance.now()
  const items = ['one', 'two'].map((name) => ({ pk: `pair#${name}`, sk: 'pair', number, text: 'x'.repeat(20_000) }))
  await store.transact(
    items.map((item) => ({ kind: 'put', item, when: [] })),
    `${process.pid}-${number}`,
  )
  process.stdout.write(`${Math.ceil(performance.now() - began)}\n`)
}
