import { expect, onTestFinished } from 'vitest'
import type { Store } from '../../shared/ledger/store/store.ts'

/**
 * Every secret of the tests begins like this, so that one search finds it anywhere. Texts shaped like a token or a signature key count as
 * secrets, too.
 */
const canary =
  /canary-(?:service|caller|quote|origin|login|slack|webhook|response|new|newest|rotated)[\w-]*|whsec_[\w+/=]+|eyJ[\w-]{5,}\.[\w-]{2,}\.[\w-]+/g

/** An exception: Slack's response URL is stored until the answer is sent. */
type Allowed = 'canary-response'

export const secretsIn = (text: string, allowed?: Allowed): string[] =>
  [...new Set(text.match(canary) ?? [])].filter((secret) => secret !== allowed)

/** Searches all output of a product, and fails the test at its end if it contains a secret. */
export function watchForSecrets() {
  const found: string[] = []
  const pending: Promise<void>[] = []
  onTestFinished(async () => {
    await Promise.all(pending)
    expect(found, 'secrets came out').toEqual([])
  })

  const look = (place: string, text: string, allowed?: Allowed): void => {
    for (const secret of secretsIn(text, allowed)) {
      const at = text.indexOf(secret)
      found.push(`${secret} in ${place}: …${text.slice(Math.max(0, at - 80), at + secret.length + 20)}…`)
    }
  }

  return {
    look,
    /** Searches an app's answers, except gateway streams, which have a filter and tests of their own. */
    answers: <App extends { fetch: (request: Request, ...rest: never[]) => Response | Promise<Response> }>(
      app: App,
    ): App => {
      const { fetch } = app
      app.fetch = async (request, ...rest) => {
        const answer = await fetch(request, ...rest)
        const { pathname } = new URL(request.url)
        const named = [...answer.headers].filter(([name]) => name !== 'set-cookie')
        look(`the headers of ${pathname}`, JSON.stringify(named))
        if (!pathname.startsWith('/v3/') && answer.body !== null)
          pending.push(
            answer
              .clone()
              .text()
              .then((text) => look(`the answer of ${pathname}`, text))
              .catch(() => {}),
          )
        return answer
      }
      return app
    },
    /** Searches items as they are written. */
    items: (store: Store): Store => ({
      ...store,
      transact: (writes, ...rest) => {
        look('an item', JSON.stringify(writes), 'canary-response')
        return store.transact(writes, ...rest)
      },
    }),
  }
}
