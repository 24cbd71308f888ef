import { expect, onTestFinished } from 'vitest'
import type { Store } from '../../shared/ledger/store/store.ts'

/**
 * Every secret of the tests has a name that begins like this, so that one search finds each of them wherever it should
 * not be; and whatever has the form of a token is one.
 */
const canary =
  /canary-(?:service|caller|slack|webhook|response|new|newest|rotated)[\w-]*|eyJ[\w-]{5,}\.[\w-]{2,}\.[\w-]+/g

/** Where a secret may be all the same: what Slack is answered at is kept until it was answered. */
type Allowed = 'canary-response'

/** The secrets in a text, each once. */
export const secretsIn = (text: string, allowed?: Allowed): string[] =>
  [...new Set(text.match(canary) ?? [])].filter((secret) => secret !== allowed)

/** Looks through everything that comes out of a product; the test in which a secret is among it fails at its end. */
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
    /** An app whose answers are looked through; what the gateway streams is cut by its own filter, and tested there. */
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
          // A test that reads what breaks off on purpose looks at it itself.
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
    /** A store whose items are looked through as they are written. */
    items: (store: Store): Store => ({
      ...store,
      transact: (writes, ...rest) => {
        look('an item', JSON.stringify(writes), 'canary-response')
        return store.transact(writes, ...rest)
      },
    }),
  }
}
