import { describe, expect, test } from 'vitest'
import { startProduct } from '../support/product.ts'
import { listPeople, textsOf } from '../support/slack/slack.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const month = [{ window: 'month', units: 1_000 }]

/** `acme` owns the project `shop`, and the parent of `acme` is `clients`. Bob may run and charge all budgets. */
async function slackProduct(mayChargeAncestors = true) {
  const product = await startProduct({ slack: true, store: createMemoryStore() })
  const put = (name: string, body: object) =>
    product.call('PUT', `/budgets/${name}?release=true`, { body: { limits: month, ...body } })
  await put('clients', {})
  await put('acme', { parent: 'clients', projects: [{ name: 'shop' }] })
  await put('globex', {})
  const listBob = (may: boolean) =>
    product.call('PUT', '/callers/slack:U2BOB', {
      body: { scopes: ['read', 'run'], budgets: '*', mayChargeAncestors: may },
    })
  await listBob(mayChargeAncestors)
  await product.deliver()
  product.slack.news()
  const type = async (text: string) => {
    await product.slack.command(text, { user: 'U2BOB' })
    await product.deliver()
    return product.slack.news()
  }
  const confirm = async () => {
    const [button] = product.slack.buttons()
    if (button?.action !== 'confirm') throw new Error('there is nothing to confirm')
    await product.slack.press('confirm', button.value, { user: 'U2BOB' })
    await product.deliver()
    return product.slack.news().map(({ text }) => text)
  }
  return { product, put, listBob, type, confirm }
}

describe('/units run with a budget above the project’s owner', () => {
  test('a run with a budget above the owner shows owner and payer, and charges the payer', async () => {
    const { product, type, confirm } = await slackProduct()
    const [told] = await type('run ranking shop budget=clients')
    expect(told && textsOf(told)).toContain('• `shop` belongs to `acme`, and `clients` pays')
    await confirm()
    expect((await product.call('GET', '/updates')).body.updates).toMatchObject([
      { state: 'settled', budget: 'clients' },
    ])
  })

  test('a run without the right to charge the budget above has no Confirm button', async () => {
    const { product, type } = await slackProduct(false)
    const [told] = await type('run ranking shop budget=clients')
    expect(told?.text).toMatch(/^⛔ .*may not charge clients for shop/)
    expect(product.slack.buttons()).toEqual([])
  })

  test('the right to charge the budget above is checked again at Confirm', async () => {
    const { product, listBob, type, confirm } = await slackProduct()
    await type('run ranking shop budget=clients')
    await listBob(false)
    expect(await confirm()).toEqual([expect.stringContaining('may not charge clients for shop')])
    expect(product.seen('run')).toEqual([])
  })
})

describe('an approval in the channel', () => {
  test('an approval in the channel names the owner only if another budget pays', async () => {
    for (const [budget, sentence] of [
      ['clients', 'It would spend 40 units of clients, for acme.'],
      ['acme', 'It would spend 40 units of acme.'],
    ] as const) {
      const { product, put } = await slackProduct()
      await put('acme', { parent: 'clients', projects: [{ name: 'shop' }], approvalAbove: 10 })
      await product.update({ kind: 'ranking', project: 'shop', budget })
      await product.deliver()
      const [told] = product.slack.news()
      expect(told?.text).toContain(`ada asks for a ranking update of shop. ${sentence}`)
    }
  })
})

describe('Confirm after a change of owner', () => {
  test.each([
    ['by default', 'run ranking shop'],
    ['with a budget', 'run ranking shop budget=account'],
  ])('Confirm charges nothing if the project has another owner now: %s', async (_how, text) => {
    const { product, put, type, confirm } = await slackProduct()
    await type(text)
    await put('acme', { parent: 'clients', projects: [] })
    await put('globex', { projects: [{ name: 'shop' }] })
    expect(await confirm()).toContain('The payer or owner of shop has changed since it was shown. Ask again.')
    expect([product.seen('run'), (await product.call('GET', '/updates')).body.updates]).toEqual([[], []])
  })

  test('a second press by a disabled user does not show the outcome of the first', async () => {
    const { product, type, confirm } = await slackProduct()
    await type('run ranking shop')
    const [button] = product.slack.buttons()
    await confirm()
    await listPeople(product, { U2BOB: { scopes: ['run'], disabled: true } })
    await product.deliver()
    product.slack.news()
    await product.slack.press('confirm', button?.value ?? '', { user: 'U2BOB' })
    await product.deliver()
    expect(product.slack.news().map(({ text }) => text)).toEqual([expect.stringContaining('slack:U2BOB is disabled')])
  })
})
