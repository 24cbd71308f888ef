import * as z from 'zod/mini'
import { parseSettings } from '../../shared/platform/settings.ts'
import { isUsableToken } from '../../shared/tracking/transport.ts'
import { CannotContinue, hintFor, reasonOf } from './failures.ts'
import { commandEnvironment } from './where.ts'

export const apiSettings = z.object({
  UNIT_GUARD_URL: z.url('must be the address of Unit Guard'),
  UNIT_GUARD_TOKEN: z
    .string('must be a bearer token')
    // The error of `fetch` would show a token with other characters.
    .check(z.refine(isUsableToken, 'must be a bearer token alone, as npm run --silent token prints it')),
})

interface Options extends Pick<RequestInit, 'redirect' | 'signal'> {
  readonly body?: object
  readonly key?: string | undefined
  readonly etag?: string | undefined
}

/** The address and the token of the guard that a command calls. @throws WrongSettings */
export function apiAccess() {
  const { UNIT_GUARD_URL: url, UNIT_GUARD_TOKEN: token } = parseSettings(apiSettings, commandEnvironment())
  return { url, token }
}

export interface Refused {
  readonly type?: string
  readonly detail?: string
  readonly errors?: readonly { readonly path: string; readonly message: string }[]
  readonly asWritten?: boolean
}

/** @throws CannotContinue that says why the guard refuses. */
export async function answerOf(response: Response, inWords = ({ detail }: Refused) => detail): Promise<unknown> {
  const answer = (await response.json().catch(() => ({}))) as Refused
  if (response.ok) return answer
  throw new CannotContinue(inWords(answer) ?? `Unit Guard answers with status ${response.status}.`)
}

type Fetch = (address: string, how: RequestInit) => Promise<Response>

export function createSend({ url, token, ask = fetch }: { url: string; token?: string; ask?: Fetch }) {
  const origin = url.replace(/\/$/, '')
  return (method: string, path: string, { body, key, etag, ...how }: Options = {}): Promise<Response> =>
    ask(`${origin}${path}`, {
      ...how,
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(etag !== undefined && { 'if-match': etag }),
      },
      ...(body && { body: JSON.stringify(body) }),
    }).catch((cause) => {
      const reason = reasonOf(cause)
      throw new CannotContinue(`Unit Guard at ${url} does not answer: ${reason}${hintFor(reason)}`, { cause })
    })
}
