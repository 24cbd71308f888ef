import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLedger } from '../../shared/ledger/ledger.ts'
import type { ItemKind } from '../../shared/ledger/store/item-kind.ts'
import { record } from '../../shared/ledger/store/stored.ts'
import { type Task, type TaskKind, taskMembers } from '../../shared/ledger/updates/queue.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { createTestClock } from '../support/clock.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

/** The names of the kinds that the rooms above the ledger describe. */
const names = readdirSync('shared', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('ledger/'))
  .map((file) => readFileSync(join('shared', file), 'utf8'))
  .flatMap((text) => [...text.matchAll(/: (?:Task|Item)Kind<[^=]*> = \{\s*name: '([^']+)'/g)].map(([, name]) => name))

test('each kind of items has a name of its own, and a row in the table of the ledger’s room', () => {
  expect(names).toContain('slack-event')
  expect(names).toContain('price')
  expect(names.toSorted()).toEqual([...new Set(names)].toSorted())
  const table = readFileSync('shared/ledger/README.md', 'utf8')
  expect(names.filter((name) => !table.includes(`| \`${name}#`))).toEqual([])
})

test.each(['update', 'work', 'entry', 'righted', 'project-change'])(
  'a feature cannot describe items named %s, because the promises about units rest on them',
  (name) => {
    const account = {
      unitsPerMonth: toUnits(1_000),
      usedAtStart: toUnits(0),
      renewal: { day: 1, time: '00:00', zone: 'UTC' },
    }
    const ledger = createLedger({ store: createMemoryStore(), clock: createTestClock(), account })
    const items: ItemKind<object, object, string> = {
      name,
      stored: record({}),
      restOf: (id) => id,
      functions: (all) => all,
    }
    const tasks: TaskKind<Task> = { name, stored: record(taskMembers) }
    expect(() => ledger.item(items)).toThrow(`items named ${name} belong to the ledger`)
    expect(() => ledger.queue(tasks)).toThrow(`items named ${name} belong to the ledger`)
  },
)
