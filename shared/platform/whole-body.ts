import type { Platform } from './raw-path.ts'

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
