import { describe, expect, test } from 'vitest'
import { unknownFacts } from '../../../shared/guard/troubles/table.ts'
import { openBrowser } from '../../support/browser/browser.ts'
import { minutes } from '../../support/clock.ts'
import { type Product, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

// Each place that shows the table of troubles, with one trouble that all readers see and one that they do not.

const refused = 'The service refuses its token.'
const setAside = '1 change was not passed on, so updates may wait and messages may be missing.'

async function start(how: Partial<Parameters<typeof startProduct>[0]> = {}) {
  const facts = { ...unknownFacts, setAside: 1 }
  const product = await startProduct({ store: createMemoryStore(), machine: async () => ({ ...facts }), ...how })
  const end = () => {
    facts.setAside = 0
    product.service.script(() => true, { body: '{"projects": []}' })
    return product.triggers.sweep(product.endsAt())
  }
  product.service.script(() => true, { status: 401 })
  await product.update({ kind: 'ranking', project: 'a.example' })
  return { product, end }
}

const present = (text: string) => [text.includes(refused), text.includes(setAside)]

describe('every page', () => {
  const paths = ['/', '/dashboard/updates', '/dashboard/inbox', '/dashboard/plans', '/dashboard/budgets/account']
  async function pages(product: Product, sub: string, scope: string) {
    const browser = openBrowser(product)
    await browser.logIn(product.signed({ sub, scope, exp: product.inDays(1) }))
    return async (path: string) => {
      product.clock.advance(minutes(0.1))
      return (await browser.get(path)).html
    }
  }

  test.each(paths)('%s begins with a red line for each trouble until it ends', async (path) => {
    const { product, end } = await start()
    const page = await pages(product, 'ada', 'read approve')
    const html = await page(path)
    expect(present(html)).toEqual([true, true])
    expect(html.indexOf(refused)).toBeLessThan(html.indexOf('<h1>'))
    await end()
    expect(present(await page(path))).toEqual([false, false])
    expect(await page(path)).not.toContain('class="troubles"')
  })

  test('a reader of some budgets sees only the troubles that name no other budget', async () => {
    const { product } = await start()
    await product.call('PUT', '/budgets/acme', { body: { limits: [{ window: 'month', units: 9 }] } })
    await product.call('PUT', '/callers/mia', { body: { readsBudgets: ['acme'] } })
    const page = await pages(product, 'mia', 'read')
    expect(present(await page('/dashboard/updates'))).toEqual([true, false])
  })

  test('a CSV has no line about troubles', async () => {
    const { product } = await start()
    const page = await pages(product, 'ada', 'read')
    expect(present(await page('/dashboard/updates.csv'))).toEqual([false, false])
  })
})

describe('Slack', () => {
  test('App Home begins with the troubles that its user may see, until they end', async () => {
    const { product, end } = await start({ bot: true, slack: true })
    const home = async (user: string) => {
      product.clock.advance(minutes(1))
      await product.slack.event({ type: 'app_home_opened', user, tab: 'home' })
      await product.deliver()
      return JSON.stringify(product.slack.recorder?.homes.get(user))
    }
    await product.call('PUT', '/budgets/acme', { body: { limits: [{ window: 'month', units: 9 }] } })
    await product.call('PUT', '/callers/slack:U1ADA', { body: { scopes: ['read'] } })
    await product.call('PUT', '/callers/slack:U2BOB', { body: { scopes: ['read'], readsBudgets: ['acme'] } })
    expect(present(await home('U1ADA'))).toEqual([true, true])
    expect(present(await home('U2BOB'))).toEqual([true, false])
    await end()
    expect(present(await home('U1ADA'))).toEqual([false, false])
  })

  test('the digest names the troubles, also of a day on which nothing happened', async () => {
    const { product, end } = await start({ slack: true })
    const digest = async () => {
      await product.triggers.handle({ task: 'digest' }, product.endsAt())
      await product.deliver()
      return JSON.stringify(product.slack.posted().at(-1)?.body)
    }
    product.clock.set('2026-11-22T06:00:00Z')
    expect(present(await digest())).toEqual([true, true])
    await end()
    product.clock.set('2026-11-23T06:00:00Z')
    const quiet = await digest()
    expect(present(quiet)).toEqual([false, false])
    expect(quiet).toContain('nothing happened in 24 hours')
  })
})
