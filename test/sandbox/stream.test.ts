import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { sandbox } from '../support/sandbox.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

function memoryInUse(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

const days = 30
const big = {
  keywords: Array.from({ length: 1000 }, (_, index) => ({ name: `keyword ${index}` })),
  searchengines: ['US', 'DE', 'FR', 'IT'].map((country) => ({ name: 'example search', country })),
  websites: [{ name: 'big.example' }],
}
const everything = '/v3/projects/big/export-rankings?startDate=2026-10-01'

async function exporting() {
  const world = sandbox()
  world.at('2026-10-22T10:00:00Z')
  await world.post('/v3/projects/big/create?frequency=daily', big)
  world.at('2026-11-20T10:00:00Z')
  return world
}

const countRows = (text: string) => text.split('"keyword"').length - 1

describe('sandbox: an export of 1,000 keywords × 4 engines × 30 days', () => {
  it('an export is streamed: the first byte at once, all rows, and constant memory', async () => {
    const { send } = await exporting()
    const started = performance.now()
    const { body } = await send(everything)
    if (!body) throw new Error('there is a body')
    let first: number | undefined
    let longestChunk = 0
    let bytes = 0
    let rows = 0
    let chunks = 0
    let end = ''
    let memoryEarly = 0
    for await (const chunk of body) {
      first ??= performance.now() - started
      longestChunk = Math.max(longestChunk, chunk.length)
      bytes += chunk.length
      // A chunk may end within a row.
      const text = `${end}${Buffer.from(chunk)}`
      rows += countRows(text) - countRows(end)
      end = text.slice(-20)
      if (++chunks === 100) memoryEarly = memoryInUse()
    }
    const whole = performance.now() - started
    const memoryAtEnd = memoryInUse()
    expect(chunks).toBeGreaterThan(300)
    // Both measurements take longer on a busy machine.
    expect(first).toBeLessThan(whole / 4)
    expect(rows).toBe(1000 * 4 * days)
    expect(end).toMatch(/}\n\]\n$/)
    expect(bytes).toBeGreaterThan(15_000_000)
    expect(longestChunk).toBeLessThan(100_000)
    expect(memoryAtEnd - memoryEarly).toBeLessThan(2_000_000)
  }, 60_000)

  it('an export does not block other answers, and ends when its reader leaves', async () => {
    const { send, json } = await exporting()
    const { body } = await send(everything)
    const reader = body?.getReader()
    await reader?.read()
    await reader?.read()
    const [, other] = await Promise.all([reader?.read(), json('/v3/projects')])
    expect(other.status).toBe(200)
    expect(await reader?.read()).toMatchObject({ done: false })
    await reader?.cancel()
    expect(await reader?.read()).toEqual({ done: true, value: undefined })
  })

  it('HEAD of an export computes nothing', async () => {
    const { send } = await exporting()
    const answer = await send(everything, { method: 'HEAD' })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  })
})
