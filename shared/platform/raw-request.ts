import type { IncomingMessage } from 'node:http'

/** What a platform hands over with a request. */
export interface Platform {
  /** On one machine. */
  readonly incoming?: IncomingMessage
  /** On Lambda. */
  readonly event?: { readonly rawPath: string; readonly rawQueryString: string }
}

/** The target exactly as it came over the wire: URL parsers tidy both paths and queries (`/v3/../updates`, `%7e`). */
export function rawTargetOf({ url }: Request, { incoming, event }: Platform = {}) {
  const [path = '', ...rest] = (incoming?.url ?? targetOf(event) ?? withoutOrigin(url)).split('?')
  return { path, search: rest.join('?') }
}

/** For `getPath` of a router: an encoded letter is the same letter, and a path that has to be tidied is another one. */
export function rawPathOf(request: Request, { env }: { readonly env?: Platform } = {}): string {
  const { path } = rawTargetOf(request, env)
  try {
    // What stands for a name is decoded once more, when it is read.
    return path.includes('%') ? decodeURI(path.replaceAll('%25', '%2525')) : path
  } catch {
    return path
  }
}

function targetOf(event: Platform['event']): string | undefined {
  return event?.rawQueryString ? `${event.rawPath}?${event.rawQueryString}` : event?.rawPath
}

const withoutOrigin = (url: string): string => url.replace(/^[a-z]+:\/\/[^/]*/, '').replace(/#.*$/, '')

interface Received {
  readonly req: { readonly raw: Request }
  /** On Lambda a body is there before its request is. */
  readonly env?: Platform
}

/** The bytes of a body; `cut` where the sender broke off, whose half of a body may not be taken for a whole one. */
export async function readWhole({ req, env }: Received, maxBytes: number): Promise<Uint8Array | 'too-large' | 'cut'> {
  const { headers, body } = req.raw
  if (Number(headers.get('content-length') ?? 0) > maxBytes) return 'too-large'
  const isCut = () => body !== null && env?.incoming?.complete === false
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of body ?? []) {
      length += chunk.length
      if (length > maxBytes) return 'too-large'
      chunks.push(chunk)
    }
  } catch (error) {
    if (isCut()) return 'cut'
    throw error
  }
  // A body that was cut before it was read ends like an empty one.
  return isCut() ? 'cut' : Buffer.concat(chunks)
}
