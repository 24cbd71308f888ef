import { tokenForms } from './service-token.ts'

/** Watches a stream of bytes for the service's token; keeps at most one token's length of them. */
export interface TokenFilter {
  /** What may go on of everything so far; null as soon as the token is there, of which then no byte went on. */
  pass(chunk: Buffer): Buffer | null
  /** What was kept back, because it might have become the token. */
  end(): Buffer
}

export function createTokenFilter(token: string): TokenFilter {
  const forms = tokenForms(token).map((form) => Buffer.from(form))
  let kept: Buffer = Buffer.alloc(0)
  return {
    pass(chunk) {
      const bytes = kept.length === 0 ? chunk : Buffer.concat([kept, chunk])
      if (forms.some((form) => bytes.includes(form))) return null
      const end = Math.min(...forms.map((form) => startOfPart(bytes, form)))
      kept = Buffer.from(bytes.subarray(end)) // a copy: a view would hold on to the whole chunk
      return bytes.subarray(0, end)
    },
    end: () => kept,
  }
}

/** Where the end of `bytes` begins to be the beginning of `form`; the length of `bytes` where it does not. */
function startOfPart(bytes: Buffer, form: Buffer): number {
  const first = form.readUInt8()
  let at = bytes.indexOf(first, Math.max(0, bytes.length - form.length + 1))
  while (at !== -1) {
    if (bytes.compare(form, 0, bytes.length - at, at) === 0) return at
    at = bytes.indexOf(first, at + 1)
  }
  return bytes.length
}

/** For texts that are whole, such as the headers of an answer. */
export function holdsToken(text: string, token: string): boolean {
  return tokenForms(token).some((form) => text.includes(form))
}
