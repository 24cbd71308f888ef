import { setImmediate as turn } from 'node:timers/promises'
import type { Context } from 'hono'

/** `undefined`: nothing to write yet. */
export type Rows = Iterable<object | undefined>

const chunkLength = 32_768
const longestMs = 15

/**
 * A JSON array, written row by row: a chunk is computed when the one before was taken, and other requests are answered
 * in between. A caller that goes away ends it.
 */
export function streamRows(c: Context, rows: Rows): Response {
  const iterator = rows[Symbol.iterator]()
  let separator = ''
  const nextChunk = (start: string): { text: string; done: boolean } => {
    const until = performance.now() + longestMs
    let text = start
    while (text.length < chunkLength && performance.now() < until) {
      const { value, done } = iterator.next()
      if (done) return { text: `${text}\n]\n`, done }
      if (value === undefined) continue
      text += `${separator}\n${JSON.stringify(value)}`
      separator = ','
    }
    return { text, done: false }
  }

  const encoder = new TextEncoder()
  let isFirst = true
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        await turn()
        let { text, done } = isFirst ? { text: '[', done: false } : nextChunk('')
        isFirst = false
        // A stream that was pulled and given nothing is not pulled again.
        while (text === '' && !done) {
          await turn()
          ;({ text, done } = nextChunk(''))
        }
        controller.enqueue(encoder.encode(text))
        if (done) controller.close()
      },
      cancel: () => void iterator.return?.(),
    },
    // HEAD has no use for a body: nothing is computed before the first read.
    { highWaterMark: 0 },
  )
  return c.body(body, 200, { 'content-type': 'application/json' })
}
