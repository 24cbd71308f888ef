import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { namesOfKinds, notCompared } from '../../../infra/local/commands/ledger/items-in-words.ts'
import { backUp } from '../../../infra/local/database/backup.ts'
import { openForCommand } from '../../../infra/local/database/open.ts'
import { connect } from '../../../shared/ledger/store/sqlite-file.ts'
import type { Path, Store, Value } from '../../../shared/ledger/store/store.ts'
import { definitionsKey } from '../../../shared/ledger/store/stored.ts'
import { runHere } from '../../support/process/here.ts'
import { startProduct } from '../../support/product.ts'
import { begun, disable, newFolder, spend } from './ledger.ts'

const month = (units: number) => [{ window: 'month', units }]
const plan = { name: 'morning', schedule: 'cron(0 5 * * ? *)', kind: 'ranking', projects: ['globex'] }

/** A ledger with budgets and updates in a file, and its backup. */
async function backedUp() {
  const folder = await newFolder()
  const { store, file } = await openForCommand(folder)
  const product = await startProduct({ store, stream: false, plans: [plan] })
  const put = async (path: string, body: object) =>
    expect((await product.call('PUT', path, { body })).status, path).toBeLessThan(300)
  const post = async (path: string, body: object) => {
    const answer = await product.call('POST', path, { body: { reason: 'r', ...body } })
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
    return answer.body
  }
  await put('/budgets/acme', { limits: month(100), projects: [{ name: 'a' }, { name: 'b' }] })
  await put('/budgets/team', { parent: 'acme', limits: month(50) })
  await put('/budgets/old', { limits: month(5) })
  await put('/callers/bob', { scopes: ['read', 'run'], budgets: ['acme'] })
  await product.update({ kind: 'ranking', project: 'globex' })
  const backup = `${folder}-backup.db`
  const { at } = await backUp(file, backup)
  const path = join(folder, 'ledger.db')
  const compare = (...args: string[]) => runHere('compare', args.length > 0 ? args : [backup], { DATA_DIR: folder })
  return { folder, path, backup, at: new Date(at).toISOString(), store, file, product, put, post, compare }
}

/** The lines of the differences, without the first line and the advice. */
async function differencesOf(compared: Promise<{ code: number | null; out: string; err: string }>) {
  const { code, out, err } = await compared
  expect([code, err]).toEqual([1, ''])
  return out.split('\n').flatMap((line) => (line.startsWith('  ') ? line.trim() : []))
}

const set = (store: Store, path: Path, value: Value) =>
  store.transact([{ kind: 'update', key: definitionsKey, set: [[path, value]], add: [], when: [] }], path.join())

describe('npm run compare', () => {
  test('a backup lacks nothing of a ledger that only swept since', async () => {
    const { backup, path, at, compare, product, file } = await backedUp()
    await product.triggers.sweep(product.endsAt())
    const before = await Promise.all([backup, path].map((name) => readFile(name)))
    expect(await compare()).toEqual({ code: 0, err: '', out: `${backup} as of ${at} lacks nothing of ${path}.\n` })
    expect(await Promise.all([backup, path].map((name) => readFile(name)))).toEqual(before)
    file.db.close()
  })

  test('a backup lacks settings, freezes, bookings, callers and updates, which have a line each', async () => {
    const { backup, path, at, compare, product, put, post } = await backedUp()
    const limits = [...month(250), { window: 'day', units: 60 }]
    await put('/budgets/acme?release=true', { limits, projects: [{ name: 'b' }] })
    const five = ['c', 'd', 'e', 'f', 'g'].map((name) => ({ name }))
    await put('/budgets/late', { limits: month(500), projects: five, approvalAbove: 30 })
    await product.call('DELETE', '/budgets/old')
    await put('/callers/bob', { scopes: ['read'], budgets: ['acme'] })
    await put('/callers/slack:U02ADA', { scopes: ['approve'], person: 'ada' })
    await put('/callers/*', { perUpdate: 70 })
    await post('/budgets/team/freeze', { reason: 'a cron job has gone wild' })
    await post('/plans/morning/pause', { reason: 'the vendor is down' })
    await post('/budgets/team/entries', { type: 'grant', units: 40, wholeChain: true, reason: 'bought' })
    await post('/budgets/acme/entries', { type: 'transfer', to: 'team', units: 10 })
    await post('/budgets/late/entries', { type: 'external-spend', units: 7 })
    await product.update({ kind: 'ranking', project: 'initech' })
    const waits = (await product.update({ kind: 'ranking', project: 'c' })).body.updates[0]

    const time = '2026-11-20T10:00:00.000Z'
    const { out } = await compare()
    expect(out.split('\n')[0]).toBe(`${backup} as of ${at}, compared with ${path}:`)
    expect(waits.state).toBe('awaiting-approval')
    expect(await differencesOf(compare())).toEqual([
      'budget acme: month 100 → 250, day none → 60, 2 → 1 project (− a)',
      'budget late: new: approvalAbove 30, 500 a month, below account, 5 projects (c, d, e, f, g)',
      'budget old: removed',
      'caller *: new: perUpdate 70',
      'caller bob: scopes read and run → read',
      'caller slack:U02ADA: new: person ada, scopes approve',
      `budget team: frozen by ada at ${time}: a cron job has gone wild`,
      `plan morning: paused by ada at ${time}: the vendor is down`,
      `grant: 40 units on team, acme and account, month:2026-11-01, by ada at ${time}: bought`,
      `transfer: 10 units from acme to team, month:2026-11-01, by ada at ${time}: r`,
      `external spend: 7 units on late, month:2026-11-01 and day:2026-11-20, by ada at ${time}: r`,
      'entries of changes: 1 limit, 1 budget created, 1 budget deleted, 3 caller, 1 freeze and 1 pause',
      '2 updates: 1 settled (40 units) and 1 awaiting approval',
    ])
  })

  test('an update of the backup that has changed since is named with its approval and its charge', async () => {
    const { backup, compare, product, put, file } = await backedUp()
    await put('/budgets/acme', { projects: [{ name: 'a' }, { name: 'b' }], approvalAbove: 10, limits: month(20) })
    const body = { kind: 'ranking', project: 'a', whenShort: 'ask' }
    const { id } = (await product.update(body)).body.updates[0]
    await rm(backup)
    await backUp(file, backup)
    const bob = { token: product.signed({ sub: 'eve', scope: 'approve', budgets: '*' }) }
    expect((await product.call('POST', `/updates/${id}/approve`, bob)).body.state).toBe('settled')
    expect(await differencesOf(compare())).toEqual([
      expect.stringMatching(/^one-time grant: 20 units on acme, month:2026-11-01, by eve at \S+: /),
      `${id}: awaiting approval → settled (40 units), approved by eve`,
    ])
  })

  test('unknown members and kinds of items are compared, too, but not what has expired', async () => {
    const { backup, compare, store, file } = await backedUp()
    const memo = (id: string, text: string) =>
      store.transact([{ kind: 'put', item: { pk: `memo#${id}`, sk: 'memo', text }, when: [] }], `${id} ${text}`)
    for (const id of ['changed', 'gone']) await memo(id, 'before')
    const expired = { pk: 'memo#expired', sk: 'memo', expiresAt: Date.parse('2026-11-20T10:00:00Z') / 1_000 }
    await store.transact([{ kind: 'put', item: expired, when: [] }], 'expired')
    await rm(backup)
    await backUp(file, backup)
    await set(store, ['holidays'], { closed: { from: '2026-12-24', days: 3 } })
    await set(store, ['budgets', 'acme', 'colour'], { hue: 3 })
    await memo('changed', 'after')
    await memo('new', 'after')
    file.db.exec("DELETE FROM items WHERE pk IN ('memo#gone', 'memo#expired')")
    expect(await differencesOf(compare())).toEqual([
      'budget acme: colour none → hue 3',
      'holidays: none → closed from 2026-12-24, days 3',
      `items of the kind memo: 1 missing, 1 different and 1 only in ${backup.split('/').at(-1)}`,
    ])
  })

  test('each kind of items that compare names is in the table of the ledger’s room', async () => {
    const table = await readFile('shared/ledger/README.md', 'utf8')
    const kinds = [...table.matchAll(/^\| [^|]+ \| `([a-z-]+)[#`]/gm)].map(([, kind = '']) => kind)
    expect(kinds).toContain('definitions')
    expect([...notCompared, ...Object.keys(namesOfKinds)].filter((kind) => !kinds.includes(kind))).toEqual([])
  })
})

describe('npm run compare with a damaged ledger', () => {
  test('a damaged item is named, and the others are compared', async () => {
    const { compare, path, post, file } = await backedUp()
    const entry = await post('/budgets/acme/entries', { type: 'grant', units: 40 })
    await post('/budgets/acme/entries', { type: 'grant', units: 41 })
    file.db.exec(`UPDATE items SET item = CAST('nothing' AS BLOB) WHERE pk = 'entry#${entry.id}'`)
    expect(await differencesOf(compare())).toEqual([
      expect.stringContaining('grant: 41 units on acme'),
      `${path}: entry#${entry.id} (entry): its checksum does not match its content`,
    ])
  })

  test('a damaged page hides only its own items', async () => {
    const { compare, path, put, post, file } = await backedUp()
    for (let each = 0; each < 60; each++) await post('/budgets/acme/entries', { type: 'grant', units: 100 + each })
    await put('/budgets/acme', { limits: month(300), projects: [{ name: 'a' }, { name: 'b' }] })
    file.db.close()
    const bytes = await readFile(path)
    const pageBytes = bytes.readUInt16BE(16)
    const page = Math.floor(bytes.indexOf('"units":130,') / pageBytes)
    await writeFile(path, bytes.fill(0xff, page * pageBytes, (page + 1) * pageBytes))
    const lines = await differencesOf(compare())
    expect(lines[0]).toMatch(/^budget acme: month 100 → 300/)
    const granted = lines.flatMap((line) => /^grant: (\d+) units/.exec(line)?.[1] ?? [])
    expect(granted).not.toContain('130')
    expect(granted).toEqual(expect.arrayContaining(['100', '159']))
    expect(lines.at(-1)).toBe(`${path}: some pages of the file`)
  })

  test('a ledger with the journal of a killed process is compared as it was before, and both files stay', async () => {
    const { backup, compare, path, post, file } = await backedUp()
    await post('/budgets/acme/entries', { type: 'grant', units: 40, reason: 'whole' })
    file.db.close()
    const db = connect(path)
    db.pragma('cache_size = 2')
    db.exec('BEGIN IMMEDIATE')
    db.exec("UPDATE items SET item = replace(hex(zeroblob(3000)), '00', 'torn')")
    const killed = `${path}.before-2026-11-20T10-00-00-000Z`
    for (const end of ['', '-journal']) await copyFile(`${path}${end}`, `${killed}${end}`)
    db.exec('ROLLBACK')
    db.close()
    const files = () => Promise.all(['', '-journal'].map((end) => readFile(`${killed}${end}`)))
    const before = await files()
    expect(before[0]?.includes('torn')).toBe(true)
    expect(await differencesOf(compare(backup, '--with', killed))).toEqual([expect.stringContaining(': whole')])
    expect(await files()).toEqual(before)
  })
})

describe('npm run compare of other files', () => {
  test('after a restore, the ledger that was set aside shows what the new one lacks', async () => {
    const folder = await begun()
    const { file } = await openForCommand(folder)
    const backup = `${folder}-backup.db`
    await backUp(file, backup)
    file.db.close()
    await spend(folder, 50, 'spent after')
    await disable(folder, 'bob')
    const restored = await runHere('restore', ['from', backup], { DATA_DIR: folder })
    const [, copied = ''] = /npm run compare -- (.*) says/.exec(restored.out) ?? []
    const compare = (...args: string[]) => differencesOf(runHere('compare', args, { DATA_DIR: folder }))
    const spent = expect.stringMatching(/^external spend: 50 units on account, .*: spent after$/)
    const bob = ['caller bob: new: disabled', spent, 'entries of changes: 1 caller']
    expect(await compare(...copied.split(' '))).toEqual(bob)
    const [, ...withAside] = copied.split(' ')
    expect(await compare(join(folder, 'ledger.db'), ...withAside)).toEqual([
      'caller bob: new: disabled',
      'budget account: frozen: no longer',
      spent,
      'entries of changes: 1 caller',
      // The restore has the number of the other change.
      'entries: 1 only in ledger.db',
    ])
    expect(await compare(backup)).toEqual([
      expect.stringMatching(/^budget account: frozen by setup at .*/),
      'entries of changes: 1 restore',
    ])
  })

  test.each<[string, (of: Awaited<ReturnType<typeof backedUp>>) => Promise<readonly string[]>, RegExp]>([
    [
      'the ledger of another service',
      async ({ backup }) => [backup, '--with', join(await begun(), 'ledger.db')],
      /has the ledger led_\w+, but \S+ has led_\w+: only one ledger is compared\.\n$/,
    ],
    ['a missing file', async ({ backup }) => [`${backup}.no`], /\.no cannot be read: it is not there\n$/],
    [
      'a file of something else',
      async ({ backup }) => {
        await writeFile(`${backup}.text`, 'spend '.repeat(1_000))
        return [`${backup}.text`]
      },
      /\.text cannot be read \(file is not a database\)\n$/,
    ],
    [
      'the file of the stand-in',
      async ({ folder, backup }) => {
        const db = connect(join(folder, 'other.db'))
        db.exec('CREATE TABLE t (x)')
        db.close()
        return [backup, '--with', join(folder, 'other.db')]
      },
      /other\.db cannot be read \(it is not a ledger\)\n$/,
    ],
    [
      'a folder without a ledger',
      async ({ path, backup, file }) => {
        file.db.close()
        await rename(path, `${path}.away`)
        return [backup]
      },
      /^There is no ledger in \S+ to compare with: set DATA_DIR, or name its file \(--with <file>\)\./,
    ],
  ])('compare refuses %s', async (_name, make, sentence) => {
    const made = await backedUp()
    const { code, out, err } = await made.compare(...(await make(made)))
    expect([code, out, err]).toEqual([1, '', expect.stringMatching(sentence)])
  })
})
