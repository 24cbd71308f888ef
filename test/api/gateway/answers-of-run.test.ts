import fc from 'fast-check'
import { expect, test } from 'vitest'
import { serviceToken, startProduct } from '../../support/product.ts'
import type { Answer } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

/** The statuses that prove a refusal. */
const refusals: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 405, 410, 422, 429])
const maxStoredBytes = 16 * 1024

interface RunAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

const piece = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom(serviceToken, serviceToken.slice(0, 9), '\ufeff', '\u0000', '\r\n\r\n', '{"response_code":26}'),
)
const text = fc.oneof(
  fc.constantFrom('', '{}', '[]', '{"response_code":0,"data":{"keyword_units":40}}', '{"error":"x"}', '<h1>Bad</h1>'),
  fc.json({ maxDepth: 2 }),
  fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')),
  fc.integer({ min: maxStoredBytes - 2, max: maxStoredBytes + 2 }).map((length) => 'x'.repeat(length)),
)
const body = fc.oneof(
  { weight: 5, arbitrary: text.map((each) => Buffer.from(each)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)) },
)
const some = (...values: string[]) => fc.option(fc.constantFrom(...values), { nil: undefined, freq: 1 })
const headers = fc
  .record({
    'Content-Type': some('application/json', 'text/html; charset=utf-8', 'text/plain;x="\xe9"', serviceToken, ' ,;='),
    Age: some('0', '7', 'old', serviceToken),
    'Content-Encoding': some('identity', 'none', 'utf-8', 'gzip', 'zstd'),
    'Retry-After': some('9', 'soon'),
    Location: some('/v3/on-demand/other/run', `/?t=${serviceToken}`),
    'Set-Cookie': some('a=b'),
    'Unit-Guard-Update': some('upd_theirs'),
    'Unit-Guard-State': some('settled'),
  })
  .map((all) =>
    Object.fromEntries(Object.entries(all).filter((each): each is [string, string] => each[1] !== undefined)),
  )
const status = fc.oneof(
  fc.integer({ min: 200, max: 599 }),
  fc.constantFrom(200, 200, 201, 202, 204, 205, 206, 302, 304, 408, 409, 421, 429, 500, 502, 503, 600, 999),
)
const runAnswer: fc.Arbitrary<RunAnswer> = fc.record({ status, headers, body })

const hasBody = (code: number): boolean => code !== 204 && code !== 304

/** Written byte by byte, because Node would refuse or complete some of these answers. */
function written({ status: code, headers: all, body: content }: RunAnswer): Answer {
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = hasBody(code) ? `Content-Length: ${content.length}\r\n` : ''
  const head = `HTTP/1.1 ${code} -\r\n${lines.join('')}${length}Connection: close\r\n\r\n`
  return { kind: 'raw', bytes: Buffer.concat([Buffer.from(head, 'latin1'), ...(hasBody(code) ? [content] : [])]) }
}

/** What the caller reads of the service's body; `null` if the guard could not store it whole. */
function readable({ status: code, headers: all, body: content }: RunAnswer): string | null {
  if (['gzip', 'zstd'].includes(all['Content-Encoding'] ?? '')) return null
  if (!hasBody(code)) return ''
  const sent = content.toString('utf8')
  if (!Buffer.from(sent).equals(content)) return null
  const redacted = sent.replaceAll(serviceToken, '[redacted]')
  if (Buffer.byteLength(redacted) > maxStoredBytes) return null
  return code === 205 ? '' : redacted
}

test('whatever the service answers to a run, the gateway hands on what is whole, sends once and hides the token', async () => {
  const answers = new Map<string, RunAnswer>()
  const product = await startProduct({
    store: createMemoryStore(),
    service: ({ url }) => {
      const answer = url.endsWith('/run') ? answers.get(url.split('/')[3] ?? '') : undefined
      return answer && written(answer)
    },
  })
  const authorization = `Bearer ${await product.signed({ sub: 'tool', scope: 'read run', budgets: '*' })}`
  await fc.assert(
    fc.asyncProperty(runAnswer, async (answer) => {
      const project = `site-${answers.size}`
      answers.set(project, answer)
      const seen = await product.api.request(`/v3/on-demand/${project}/run`, { headers: { authorization } })
      const bytes = Buffer.from(await seen.arrayBuffer())
      const id = seen.headers.get('unit-guard-update')
      const update = id === null ? null : await product.guard.ledger.update(id)

      expect(product.seen('run').filter(({ url }) => url.includes(`/${project}/`))).toHaveLength(1)
      const everything = JSON.stringify([...seen.headers]) + bytes.toString('latin1')
      expect(everything).not.toContain(serviceToken)
      expect(['location', 'set-cookie', 'retry-after'].filter((name) => seen.headers.has(name))).toEqual(
        answer.status === 429 && answer.headers['Retry-After'] === '9' && !isOld(answer) ? ['retry-after'] : [],
      )
      if (refusals.has(answer.status) && !isOld(answer)) {
        expect([seen.status, seen.headers.get('content-type')]).toEqual([502, 'application/problem+json'])
        return
      }
      expect(['settled', 'in-doubt']).toContain(update?.state)
      expect(seen.headers.get('unit-guard-state')).toBe(update?.state === 'in-doubt' ? 'in-doubt' : null)
      const whole = answer.status > 599 ? null : readable(answer)
      if (whole === null) {
        expect(seen.status).toBe(update?.state === 'settled' ? 200 : 202)
        return
      }
      expect(seen.status).toBe(answer.status)
      expect(bytes.equals(Buffer.from(whole))).toBe(true)
    }),
    { numRuns: 120 },
  )
  expect(product.seen('run')).toHaveLength(answers.size)
  expect(await product.audit()).toBe(true)
})

/** A cache answered, so that even a refusal proves nothing. */
const isOld = ({ headers: { Age } }: RunAnswer): boolean => Age !== undefined && Age !== '0'
