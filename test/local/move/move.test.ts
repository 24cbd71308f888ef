import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import { move } from '../../../infra/local/commands/ledger/move.ts'
import { openFile } from '../../../infra/local/database/file.ts'
import { fileMarker, type MarkerStore } from '../../../infra/local/database/marker-store.ts'
import { whileNotServed } from '../../../infra/local/database/server-lock.ts'
import { usualAccount } from '../../../shared/ledger/identity.ts'
import { createLedger } from '../../../shared/ledger/ledger.ts'
import { createSqliteStore } from '../../../shared/ledger/store/sqlite-store.ts'
import type { Item, Store } from '../../../shared/ledger/store/store.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { dynamodb } from '../../support/dynamodb/endpoint.ts'
import { runHere } from '../../support/process/here.ts'
import { newFolder, spawnLocal, temporaryDirectory } from '../../support/process/local.ts'
import { startParameters, startProxy } from '../../support/process/parameters.ts'
import { itemsIn } from '../../support/store/back.ts'
import { storeOf } from '../../support/store/copy.ts'
import { makeSmallLedger } from '../../support/store/small-ledger.ts'
import { createLocalTable } from '../../support/store/stores.ts'

const parameter = '/unit-guard/ledger'

/** AWS for our processes: DynamoDB Local, and the parameter of a stack after its first deployment. */
async function startAws(given?: string) {
  const parameters = await startParameters({ [parameter]: 'none' })
  onTestFinished(parameters.close)
  const env = {
    AWS_ENDPOINT_URL_DYNAMODB: given ?? (await dynamodb()),
    AWS_ENDPOINT_URL_SSM: parameters.url,
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  }
  return { env, values: parameters.values }
}

/** The items without the definitions, which name the table. */
const sorted = (items: readonly Item[]) =>
  items.filter(({ pk }) => pk !== 'definitions').toSorted((a, b) => (a.pk < b.pk ? -1 : 1))

const itemsOfFile = (db: Awaited<ReturnType<typeof makeSmallLedger>>['file']['db']): Item[] =>
  (db.prepare('SELECT CAST(substr(item, 5) AS TEXT) FROM items').raw().all() as [string][]).map(([item]) =>
    JSON.parse(item),
  )

const definitionsIn = (items: readonly Item[]) => items.find(({ pk }) => pk === 'definitions')

describe.skipIf(inject('dynamodb') === null)('npm run restore -- --to', () => {
  test('a move takes every item with its expiry into the table, and then nothing opens the file', async () => {
    const directory = await newFolder()
    const { file, ledger } = await makeSmallLedger(directory)
    const before = itemsOfFile(file.db)
    file.db.close()
    const backup = join(directory, 'backup.db')
    expect((await runHere('backup', [backup], { DATA_DIR: directory })).code).toBe(0)
    const to = await createLocalTable()
    const aws = await startAws()
    const env = { DATA_DIR: directory, ...aws.env }

    const dry = await runHere('restore', ['--to', to.table, '--dry-run'], env)
    expect([dry.code, dry.err]).toEqual([0, ''])
    expect(dry.out).toContain('Nothing was changed (--dry-run).')
    expect(await itemsIn(to)).toEqual([])

    const { code, out, err } = await runHere('restore', ['--to', to.table], env)
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain(
      `The ledger ${ledger} moves into the table ${to.table} on AWS (epoch 1): ${before.length} items.`,
    )
    expect(out).toContain('Deploy again, without -c firstLedger=true')

    const moved = await itemsIn(to)
    expect(sorted(moved)).toEqual(sorted(before))
    expect(moved.filter(({ expiresAt }) => typeof expiresAt === 'number').length).toBeGreaterThan(0)
    const id = (await storeOf(to).tableId?.()) ?? ''
    const { identity, ...definitions } = Object(definitionsIn(before))
    expect(definitionsIn(moved)).toEqual({ ...definitions, identity: { ...identity, table: id, epoch: 1 } })
    const marker = `${ledger} 1 ${id} ${to.table}`
    expect(aws.values[parameter]).toBe(marker)
    expect(await readFile(join(directory, 'ledger'), 'utf8')).toBe(`${marker}\n`)

    const sentence = `the ledger of ${directory} has moved into the table ${to.table}: use that table, or set DATA_DIR to another folder\n`
    expect(await runHere('start', [], env)).toMatchObject({ code: 1, out: '', err: sentence })
    for (const [command, ...args] of [
      ['restore', 'accept', '--to', '2026-11-20T09:55:00Z'],
      ['restore', 'from', backup],
      ['account', 'adopt'],
      ['demo:month'],
    ] as const)
      expect(await runHere(command, args, env)).toMatchObject({ code: 1, out: '', err: sentence })

    expect(await runHere('restore', ['--to', to.table], env)).toMatchObject({
      code: 0,
      out: expect.stringContaining('already'),
    })
    expect(await runHere('restore', ['--to', 'another'], env)).toMatchObject({
      code: 1,
      err: `The ledger of ${directory} belongs in the table ${to.table}.\n`,
    })
  })

  test('a move that was killed is completed by the same command, and until then nothing opens the file', async () => {
    const directory = await newFolder()
    const { file } = await makeSmallLedger(directory)
    const before = itemsOfFile(file.db)
    file.db.close()
    const to = await createLocalTable()
    let writes = 0
    const proxy = await startProxy(await dynamodb(), (operation) => {
      if (operation === 'TransactWriteItems' && ++writes === 2) killed.signalGroup('SIGKILL')
    })
    onTestFinished(proxy.close)
    const { env: aws, values } = await startAws(proxy.url)
    const env = { DATA_DIR: directory, ...aws }
    const killed = spawnLocal('restore', { args: ['--to', to.table], env })
    expect((await killed.ended).code).toBeNull()
    const part = await itemsIn(to)
    expect([part.length > 0, part.length < before.length]).toEqual([true, true])

    const sentence = `the ledger of ${directory} is moving into the table ${to.table}: finish the move with npm run restore -- --to ${to.table}\n`
    expect(await runHere('start', [], env)).toMatchObject({ code: 1, out: '', err: sentence })
    expect(await runHere('account', ['adopt'], env)).toMatchObject({ code: 1, out: '', err: sentence })
    expect(await runHere('restore', ['--to', 'another'], env)).toMatchObject({ code: 1, out: '' })

    expect(await runHere('restore', ['--to', to.table], env)).toMatchObject({ code: 0, err: '' })
    expect(sorted(await itemsIn(to))).toEqual(sorted(before))
    expect(values[parameter]).toMatch(new RegExp(` 1 \\S+ ${to.table}$`))
  })
})

/** Ends before or after its n-th effect, counted from 0. */
function mortal(n: number) {
  let left = n
  const step = () => {
    if (left-- === 0) throw new Error('killed')
  }
  const living = async <T>(act: () => Promise<T>): Promise<T> => {
    step()
    const result = await act()
    step()
    return result
  }
  return {
    store: (inner: Store): Store => ({ ...inner, transact: (...how) => living(() => inner.transact(...how)) }),
    marker: (inner: MarkerStore): MarkerStore => ({ ...inner, write: (marker) => living(() => inner.write(marker)) }),
  }
}

describe.skipIf(inject('dynamodb') === null)('a move that is interrupted', () => {
  const endless = mortal(Number.POSITIVE_INFINITY)

  async function tryMove(directory: string, to: Awaited<ReturnType<typeof createLocalTable>>, life = endless) {
    vi.spyOn(console, 'log').mockImplementation(() => {})
    try {
      const { file, id } = await openFile(directory, 'ledger.db')
      const marker = life.marker(fileMarker(directory))
      await move({
        file,
        id,
        marker,
        isDry: false,
        known: await marker.read(),
        source: life.store(createSqliteStore(file, { clock: systemClock, tableId: id })),
        target: {
          name: to.table,
          client: to.client,
          where: 'the table',
          store: life.store(storeOf(to)),
          marker: life.marker(fileMarker(join(directory, 'aws'))),
        },
        ledgerOf: (store) => createLedger({ store, clock: systemClock, account: usualAccount, begins: false }),
      })
      return 'moved'
    } catch (error) {
      return String(error)
    } finally {
      vi.restoreAllMocks()
    }
  }

  // The effects are the mark in the file, its marker, three batches, the identity and two markers. The move ends before and after each.
  test.each(Array.from({ length: 16 }, (_, n) => n))('a move killed at step %i is completed by a repeat', async (n) => {
    const directory = await newFolder()
    const { file, ledger } = await makeSmallLedger(directory)
    const before = itemsOfFile(file.db)
    file.db.close()
    const to = await createLocalTable()
    expect(await tryMove(directory, to, mortal(n))).toBe('Error: killed')
    expect(await tryMove(directory, to)).toBe('moved')
    const moved = await itemsIn(to)
    expect(sorted(moved)).toEqual(sorted(before))
    expect(definitionsIn(moved)).toMatchObject({ identity: { ledger, epoch: 1 } })
    expect(definitionsIn(moved)?.identity).not.toHaveProperty('replacedBy')
    const there = { ledger, epoch: 1, table: await storeOf(to).tableId?.(), tableName: to.table }
    expect(await fileMarker(directory).read()).toEqual(there)
    expect(await fileMarker(join(directory, 'aws')).read()).toEqual(there)
  })

  test('a move does not begin if another command has just written something', async () => {
    const directory = await newFolder()
    const { file } = await makeSmallLedger(directory)
    const to = await createLocalTable()
    const store = (inner: Store): Store => ({
      ...inner,
      transact: (...how) => {
        file.db.exec("INSERT INTO changes (change, at, people) VALUES ('{}', 0, 0)")
        return inner.transact(...how)
      },
    })
    expect(await tryMove(directory, to, { ...endless, store })).toContain('1 change is unread')
    expect(definitionsIn(itemsOfFile(file.db))?.identity).not.toHaveProperty('replacedBy')
    expect([await itemsIn(to), (await fileMarker(directory).read())?.tableName]).toEqual([[], 'ledger.db'])
    file.db.close()
  })

  test('a move has sixteen steps', async () => {
    const directory = await newFolder()
    const { file } = await makeSmallLedger(directory)
    file.db.close()
    expect(await tryMove(directory, await createLocalTable(), mortal(16))).toBe('moved')
  })
})

describe.skipIf(inject('dynamodb') === null)('a refused move says one sentence and changes nothing', () => {
  let directory: string
  let remove: () => Promise<void>
  beforeAll(async () => {
    const folder = await temporaryDirectory()
    directory = folder.directory
    remove = folder.remove
    const { file } = await makeSmallLedger(directory)
    file.db.close()
    return remove
  })

  async function refused(table: string, more: Record<string, string> = {}, parameterIs = 'none') {
    const { env, values } = await startAws()
    values[parameter] = parameterIs
    const before = await readFile(join(directory, 'ledger.db'))
    const marker = await readFile(join(directory, 'ledger'), 'utf8')
    const { code, out, err } = await runHere('restore', ['--to', table], { DATA_DIR: directory, ...env, ...more })
    expect([code, out, err.trim().split('\n').length]).toEqual([1, '', 1])
    expect(await readFile(join(directory, 'ledger.db'))).toEqual(before)
    expect(await readFile(join(directory, 'ledger'), 'utf8')).toBe(marker)
    expect(values[parameter]).toBe(parameterIs)
    return err
  }

  const put = async (to: Awaited<ReturnType<typeof createLocalTable>>, item: Item) =>
    storeOf(to).transact([{ kind: 'put', item, when: [] }], randomUUID().slice(0, 30))

  test('a move refuses a folder without a ledger', async () => {
    const empty = await newFolder()
    const { code, err } = await runHere('restore', ['--to', 'units'], { DATA_DIR: empty })
    expect([code, err]).toEqual([1, `There is no ledger in ${empty}: set DATA_DIR to its folder.\n`])
  })

  const tableWith = async (...items: readonly Item[]) => {
    const to = await createLocalTable()
    for (const item of items) await put(to, item)
    return to.table
  }
  const noCredentials = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_EC2_METADATA_DISABLED: 'true' }

  test.each<[string, () => Promise<Parameters<typeof refused>>, RegExp]>([
    [
      'a table that does not exist',
      async () => ['nowhere'],
      /^There is no table nowhere on AWS: use the output TableName, and check AWS_REGION\.\n$/,
    ],
    [
      'a shell without credentials',
      async () => ['units', { ...noCredentials, HOME: directory }],
      /^the table units on AWS cannot be read \(Could not load credentials.*\): check AWS_PROFILE and AWS_REGION\.\n$/,
    ],
    [
      'a table that is not empty',
      async () => [await tableWith({ pk: 'slack-event#1', sk: 'slack-event' })],
      /^the table \S+ on AWS is not empty \(it has slack-event#1\): use an empty table\.\n$/,
    ],
    [
      'a table with another ledger',
      async () => {
        const { file } = await makeSmallLedger(await newFolder())
        return [await tableWith(...itemsOfFile(file.db).filter(({ pk }) => pk === 'definitions'))]
      },
      /^the table \S+ on AWS holds the ledger led_\w+: use an empty table\.\n$/,
    ],
    [
      'a table whose stream is on',
      async () => [(await createLocalTable({ stream: true })).table],
      /has a stream, whose readers would send every event again/,
    ],
    [
      'a deployment that has a ledger',
      async () => [await tableWith(), {}, 'led_other 0 id other-table'],
      /^This deployment keeps the ledger led_other in the table other-table already\.\n$/,
    ],
    [
      'a deployment that has another ledger in a table of this name',
      async () => {
        const table = await tableWith()
        return [table, {}, `led_other 0 id ${table}`]
      },
      /^This deployment keeps the ledger led_other in the table \S+ already\.\n$/,
    ],
    [
      'a deployment that has this ledger in another table',
      async () => [await tableWith(), {}, `${(await fileMarker(directory).read())?.ledger} 0 id other-table`],
      /^This deployment keeps the ledger led_\w+ in the table other-table already\.\n$/,
    ],
  ])('a move refuses %s', async (_name, arrange, sentence) => {
    expect(await refused(...(await arrange()))).toMatch(sentence)
  })

  test('a move refuses a file whose marker names another ledger', async () => {
    const marker = await readFile(join(directory, 'ledger'), 'utf8')
    await writeFile(join(directory, 'ledger'), marker.replace(/^led_\w/, 'led_l'))
    onTestFinished(() => writeFile(join(directory, 'ledger'), marker))
    expect(await refused(await tableWith())).toContain('but the marker expects the ledger led_l')
  })

  test('a move refuses a ledger in use', async () => {
    const { env } = await startAws()
    const { code, err } = await whileNotServed(directory, 'npm run backup', () =>
      runHere('restore', ['--to', 'units'], { DATA_DIR: directory, ...env }),
    )
    expect([code, err]).toEqual([1, expect.stringContaining('another Unit Guard is using')])
  })

  test.each<[string, { open?: readonly string[]; changes?: number }, string]>([
    ['is requested', { open: ['requested'] }, '1 update is requested.'],
    ['runs', { open: ['running', 'running'] }, '2 updates are running.'],
    ['is in doubt', { open: ['in-doubt'] }, '1 update is in doubt.'],
    ['is unread', { changes: 3 }, '3 changes are unread.'],
    [
      'is of several kinds',
      { open: ['requested', 'in-doubt'], changes: 1 },
      '1 update is requested, 1 update is in doubt and 1 change is unread.',
    ],
  ])('a move refuses a ledger in which an update or task %s', async (_name, { open = [], changes = 0 }, sentence) => {
    const folder = await newFolder()
    const { file, store } = await makeSmallLedger(folder)
    for (const [place, as] of ['awaiting-approval', ...open].entries()) {
      const item = { pk: `update#upd_${place}`, sk: 'update', openAs: as, openSince: `2026-11-20#${place}` }
      await store.transact([{ kind: 'put', item, when: [] }], `open-${place}`)
    }
    file.db.exec('DELETE FROM changes')
    for (let id = 0; id < changes; id++)
      file.db.exec(`INSERT INTO changes (change, at, people) VALUES ('{}', 0, ${id - 1})`)
    const before = itemsOfFile(file.db)
    const { table } = await createLocalTable()
    const { env } = await startAws()
    const { code, out, err } = await runHere('restore', ['--to', table], { DATA_DIR: folder, ...env })
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain(`The ledger cannot move now: ${sentence} Let Unit Guard finish them`)
    expect(itemsOfFile(file.db)).toEqual(before)
    file.db.close()
  })
})
