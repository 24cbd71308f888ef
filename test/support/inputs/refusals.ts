import { expect } from 'vitest'
import { keyOf, type Store, type Write } from '../../../shared/ledger/store/store.ts'
import { type Called, json, startProduct } from '../product.ts'
import type { Recorded } from '../scripted-service.ts'
import { createMemoryStore } from '../store/memory-store.ts'

export type Fault = readonly [path: string, message: string]

const titles = {
  400: ['/problems/invalid-request', 'The request is not valid'],
  413: ['/problems/too-large', 'The body is too large'],
  415: ['/problems/unsupported-media-type', 'The body is not JSON'],
} as const

/** Every project costs 40 under any name. */
export const anyProject = ({ url }: Recorded) =>
  /\/(estimate|run)(\?|$)/.test(url) ? json({ keyword_units: 40 }) : json({ dates: ['2026-11-13'] })

/** A product in which a refused request must cause no write and no request to the service. */
export async function startRefusing() {
  const written: Write[] = []
  const real = createMemoryStore()
  const isFirst = (write: Write) =>
    keyOf(write).pk === 'definitions' && write.when.some(({ kind }) => kind === 'absent-item')
  const transact: Store['transact'] = (writes, token) => {
    written.push(...writes.filter((write) => !isFirst(write)))
    return real.transact(writes, token)
  }
  const product = await startProduct({ store: { ...real, transact }, service: anyProject })

  function expectRefused(called: Called, status: 400 | 413 | 415, faults?: readonly Fault[]) {
    const [type, title] = titles[status]
    if (faults) expect(called.body.errors).toEqual(faults.map(([path, message]) => ({ path, message })))
    expect(called.body).toMatchObject({ type, title, status, detail: expect.stringMatching(/^\S.*\.$/s) })
    expect(called.status).toBe(status)
    expect(called.headers.get('content-type')).toBe('application/problem+json')
    expect(called.body.requestId).toMatch(/^[0-9a-z]{26}$/)
    expect(called.headers.get('x-request-id')).toBe(called.body.requestId)
    expect(called.text.length).toBeLessThan(4_096)
    expect(product.service.requests).toEqual([])
    expect(written).toEqual([])
  }

  /** Forgets the requests to the service so far, which were those of answered reads. */
  const forget = () => {
    ;(product.service.requests as Recorded[]).length = 0
  }

  return { product, expectRefused, forget }
}
