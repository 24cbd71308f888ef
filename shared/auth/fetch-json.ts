import { fromUtf8, isObject, type Json, parseStrictJson } from '../platform/json.ts'

export type JsonObject = { readonly [name: string]: Json }

const maxBytes = 256 * 1024

/**
 * Reads one small JSON object and follows no redirect.
 *
 * @throws Error for any other answer. Its message quotes nothing of the body.
 */
export async function fetchJson(url: string, signal: AbortSignal): Promise<JsonObject> {
  // A kept connection may be closed already, if Lambda froze the process.
  const headers = { accept: 'application/json', connection: 'close' }
  const answer = await fetch(url, { headers, redirect: 'manual', signal })
  if (answer.status !== 200) {
    await answer.body?.cancel()
    throw new Error(`${url} answered with the status ${answer.status}`)
  }
  const text = fromUtf8(await readBounded(answer, url))
  const read = text === null ? { ok: false as const, reason: 'not UTF-8' } : parseStrictJson(text)
  if (!read.ok) throw new Error(`${url} answered with a body that cannot be read: ${read.reason}`)
  if (!isObject(read.value)) throw new Error(`${url} answered with something other than a JSON object`)
  return read.value
}

/** @throws Error */
export async function readBounded(answer: Response, url: string): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of answer.body ?? []) {
    length += chunk.length
    if (length > maxBytes) throw new Error(`${url} answered with more than ${maxBytes / 1024} KB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
