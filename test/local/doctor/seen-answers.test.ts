import { describe, expect, test } from 'vitest'
import { examineAnswers } from '../../../infra/local/commands/doctor/seen-answers.ts'
import { type GuardSettings, guardSettings } from '../../../shared/guard/options.ts'
import { parseSettings } from '../../../shared/platform/settings.ts'
import { days, hours } from '../../support/clock.ts'
import { json, type Product, startProduct } from '../../support/product.ts'
import type { Answer } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const settingsOf = (env: Record<string, string> = {}): GuardSettings =>
  parseSettings(guardSettings, { TABLE_NAME: 't', TRACKING_BASE_URL: 'https://service.example/v3', ...env })

/** @param answers the answers to run, by project. `dates` are the dates that the service lists for a project. */
async function start(answers: Readonly<Record<string, Answer>>) {
  const dates: Record<string, readonly string[]> = {}
  const product = await startProduct({
    store: createMemoryStore(),
    stream: false,
    service({ url }) {
      const [, , , project = '', operation] = new URL(url, 'http://x').pathname.split('/')
      if (operation === 'dates') return json({ dates: dates[project] ?? ['2026-11-13'] })
      return operation === 'run' ? answers[project] : undefined
    },
  })
  return { product, dates }
}

async function examine({ guard, clock }: Product, env: Record<string, string> = {}, maxUpdates?: number) {
  const { definitions } = await guard.ledger.view([])
  const known = { ledger: guard.ledger, definitions, now: clock.now() }
  return examineAnswers(settingsOf(env), maxUpdates === undefined ? known : { ...known, maxUpdates })
}

async function run(product: Product, project: string, kind = 'ranking') {
  const { body } = await product.update({ kind, project, reason: 'test' })
  product.clock.advance(1_000)
  return body.updates[0]
}

const short = json({ response_code: 26, message: 'not enough keyword units' })
const started = json({ status_code: 20100, tasks: [{ id: '0911' }] })
const sign = 'response_code 26 at /response_code'
const toDo = `say in the settings what ${sign} means: 2 updates have been in doubt for it; see "Answers of the last seven days"`

const ran = ['    RUN_STARTED=/response_code=26', '    ANSWERS_WELL=/response_code=26']
const refused = '    RUN_REFUSED=/response_code=26'
const settingsIn = (lines: readonly string[]) => lines.filter((line) => /^ {4}[A-Z_]+=/.test(line))

test('the doctor counts the updates of each sign, and names RUN_REFUSED only after three days without data', async () => {
  const { product } = await start({ a: short, b: short, c: started })
  expect((await run(product, 'a')).state).toBe('in-doubt')
  await run(product, 'b')
  await run(product, 'c')
  const early = await examine(product)
  expect(early.lines.filter((line) => !line.startsWith(' '))).toEqual([
    `${sign}: 2 updates, 0 got new data, 0 had none within three days`,
    'status_code 20100 at /status_code: 1 update, 0 got new data, 0 had none within three days',
  ])
  expect(early.toDo).toContain(toDo)
  product.clock.advance(days(3) - 2_001)
  expect(settingsIn((await examine(product)).lines)).not.toContain(refused)
  product.clock.advance(1)
  const { lines } = await examine(product)
  expect(lines.slice(0, 2)).toEqual([
    `${sign}: 2 updates, 0 got new data, 2 had none within three days`,
    `  the last answer's shape: {"response_code": number, "message": string}`,
  ])
  // One update alone speaks for no refusal.
  const other = ['    RUN_STARTED=/status_code=20100', '    ANSWERS_WELL=/status_code=20100']
  expect(settingsIn(lines)).toEqual([...ran, refused, ...other])
})

describe('a sign of which one update got data', () => {
  const isLater = ['2026-11-13', '2026-11-20']

  async function startDoubts() {
    const { product, dates } = await start({ a: short, b: short, c: short })
    const [a] = [await run(product, 'a'), await run(product, 'b'), await run(product, 'c')]
    product.clock.advance(hours(1))
    return { product, dates, a }
  }

  const tallyOf = ([line = '']: readonly string[]) => line.slice(sign.length + 2)

  test('a sign with evidence for one update is named in no RUN_REFUSED', async () => {
    const { product, dates } = await startDoubts()
    dates.a = isLater
    await product.triggers.sweep(product.endsAt())
    product.clock.advance(days(4))
    const { lines } = await examine(product)
    expect(tallyOf(lines)).toBe('3 updates, 1 got new data, 2 had none within three days')
    expect(settingsIn(lines)).toEqual(ran)
  })

  test('a sign with evidence against a person’s "did not run" is named in no RUN_REFUSED', async () => {
    const { product, dates, a } = await startDoubts()
    const said = { body: { outcome: 'did-not-run', reason: 'nothing on the screen' } }
    expect((await product.call('POST', `/updates/${a.id}/resolve`, said)).body.state).toBe('released')
    dates.a = isLater
    await product.triggers.sweep(product.endsAt())
    product.clock.advance(days(4))
    const { lines } = await examine(product)
    expect(tallyOf(lines)).toBe('3 updates, 1 got new data, 2 had none within three days')
    expect(settingsIn(lines)).toEqual(ran)
  })

  test('a sign with data that only a later update saw is named in no RUN_REFUSED', async () => {
    const { product, dates } = await startDoubts()
    product.clock.advance(days(1))
    dates.a = isLater
    await run(product, 'a')
    product.clock.advance(days(4))
    const { lines } = await examine(product)
    expect(tallyOf(lines)).toBe('4 updates, 1 got new data, 3 had none within three days')
    expect(settingsIn(lines)).toEqual(ran)
  })
})

test('the doctor names no RUN_REFUSED for a sign of which a person said that one update ran', async () => {
  const { product } = await start({ a: short, b: short, c: short })
  const updates = [await run(product, 'a'), await run(product, 'b'), await run(product, 'c')]
  await product.call('POST', `/updates/${updates[0].id}/resolve`, { body: { outcome: 'ran', reason: 'seen' } })
  product.clock.advance(days(4))
  expect(settingsIn((await examine(product)).lines)).toEqual(ran)
})

test('of keyword-difficulty updates no data can show that they ran', async () => {
  const { product } = await start({ '1': short, '2': short })
  await run(product, '1', 'keyword-difficulty')
  await run(product, '2', 'keyword-difficulty')
  product.clock.advance(days(4))
  const { lines } = await examine(product)
  expect(lines[0]).toBe(`${sign}: 2 updates, 0 got new data, 0 had none within three days, of 2 no data can show it`)
  expect(settingsIn(lines)).toEqual(ran)
})

test('the doctor reads stored answers with the settings of now', async () => {
  const { product } = await start({ a: short, b: short })
  await run(product, 'a')
  await run(product, 'b')
  const { lines, toDo } = await examine(product, { RUN_STARTED_RANKING: '/response_code=26' })
  expect(lines.at(-1)).toBe('  with the settings of now, it is read as: ran')
  expect(toDo).toEqual([])
})

test('the doctor tries no setting on an answer that was cut', async () => {
  const { product } = await start({ a: json({ response_code: 26, message: 'x'.repeat(20_000) }) })
  await run(product, 'a')
  expect(await examine(product)).toEqual({
    lines: [
      `${sign}: 1 update, 0 got new data, 0 had none within three days`,
      '  its answers were cut, cached or could not be decoded, so no setting can be tried on them',
    ],
    toDo: [],
  })
})

test('the doctor lists figures of runs that are not read, by kind and place', async () => {
  const balance = (total: number) => json({ status: 'queued', total })
  const { product } = await start({
    a: balance(48_210),
    b: balance(48_170),
    c: json({ status: 'queued' }),
    '1': balance(9),
  })
  for (const project of ['a', 'b', 'c']) await run(product, project)
  await run(product, '1', 'keyword-difficulty')
  const { lines, toDo } = await examine(product)
  expect(toDo).toEqual([])
  expect(lines).toEqual([
    'units that are not read: 1 answer also states units, keyword-difficulty at /total; the last: 9, of a hold of 40',
    '  if 9 units is the cost of the update:',
    '    RUN_POINTER_DIFFICULTY=/total',
    '    reads it as: ran, at a cost of 9 units. What stands there is then charged, even if it is less than the hold.'.replace(
      '    ',
      '    ',
    ),
    'units that are not read: 2 answers also state units, ranking at /total; the last: 48,170, of a hold of 40',
    '  if 48,170 units is the cost of the update:',
    '    RUN_POINTER_RANKING=/total',
    '    reads it as: ran, at a cost of 48,170 units. What stands there is then charged, even if it is less than the hold.',
  ])
  expect((await examine(product, { RUN_POINTER_RANKING: '/total', RUN_POINTER_DIFFICULTY: '/total' })).lines).toEqual(
    [],
  )
})

test('the doctor looks at the last seven days', async () => {
  const { product } = await start({ a: short, b: started })
  await run(product, 'a')
  product.clock.advance(days(6))
  await run(product, 'b')
  expect((await examine(product)).toDo).toHaveLength(2)
  product.clock.advance(days(1) + 1)
  expect((await examine(product)).toDo).toEqual([
    expect.stringContaining('what status_code 20100 at /status_code means'),
  ])
})

test('the doctor says how many updates it has not looked at', async () => {
  const { product } = await start({ a: short, b: started })
  await run(product, 'a')
  await run(product, 'b')
  const line = 'of the last seven days, only the newest 1 update was looked at'
  const { lines } = await examine(product, {}, 1)
  expect([lines[0], lines.at(-1)]).toEqual([expect.stringMatching(/^status_code 20100/), line])
  expect((await examine(product, {}, 2)).lines).not.toContain(line)
})
