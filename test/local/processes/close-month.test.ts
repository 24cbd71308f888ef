import { expect, onTestFinished, test } from 'vitest'
import { createListener } from '../../../infra/local/listener.ts'
import { minutes } from '../../support/clock.ts'
import { runHere } from '../../support/process/here.ts'
import { temporaryDirectory } from '../../support/process/local.ts'
import { json, startProduct } from '../../support/product.ts'
import { accept } from '../../support/store/copy.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

test('npm run account -- close asks for the doubts, shows the difference, and books it', {
  timeout: 60_000,
}, async () => {
  const product = await startProduct({
    store: createMemoryStore(),
    service: ({ url }) => {
      if (/stuck.*run$/.test(url)) return { status: 503 }
      return /(run|estimate)$/.test(url) ? json({ keyword_units: 10 }) : undefined
    },
  })
  product.clock.set('2026-11-30T18:00:00Z')
  const listener = await createListener({ port: 0 })
  listener.open(product.api)
  const { directory: DATA_DIR, remove } = await temporaryDirectory()
  const token = await product.signed({ sub: 'ada', scope: 'read admin approve', budgets: '*' })
  const close = (...args: string[]) =>
    runHere('account', ['close', ...args], { UNIT_GUARD_URL: listener.url, UNIT_GUARD_TOKEN: token, DATA_DIR })
  const update = async (project: string): Promise<string> => {
    product.clock.advance(1)
    return (await product.update({ kind: 'ranking', project })).body.updates[0].id
  }
  const [ran, not] = [await update('stuck-1'), await update('stuck-2')]

  const early = await close('--left', '49,976', '--ran')
  expect([early.code, early.err]).toEqual([
    1,
    `The figure may lack ${not}, ${ran}, so it cannot close the month. Reconcile after 30 Nov 2026 18:10 UTC, with the figure of then.\n`,
  ])
  product.clock.advance(minutes(10))
  const steps = await close()
  expect(steps.out).toContain('1. Doubts: these updates run or are in doubt.')
  expect(steps.out).toContain(`${ran}  stuck-1, 10 units`)
  expect(steps.out).toContain('2. The vendor’s figure: none was booked this month.')
  expect(steps.out).toContain('3. What keeps it from final: its end on 2026-12-01T00:00:00.000Z, and these updates.')
  const unsaid = await close('--left', '49,976', '--did-not-run', not)
  expect([unsaid.code, unsaid.out]).toEqual([
    1,
    expect.stringContaining(`   ${ran}  stuck-1, 10 units\nSay --did-not-run`),
  ])
  const said = ['--left', '49,976', '--did-not-run', not, '--ran']
  expect((await close(...said)).out).toBe(
    [
      'The vendor shows 49,976, the book 49,990: 14 were used outside.',
      `   first: ${ran} (stuck-1, 10 units) ran`,
      `   first: ${not} (stuck-2, 10 units) did not run`,
      'Nothing was booked. Repeat the command with --difference=14 to book it.\n',
    ].join('\n'),
  )
  expect(await product.figures()).toMatchObject({ inDoubt: 20, spent: 0 })
  const wrong = await close(...said, '--difference', '13')
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('The difference is not 13 any more')])
  const booked = await close(...said, '--difference', '14')
  expect(booked.out).toMatch(/^Booked: 14 units were used outside\.\n1\. Doubts: no update runs or is in doubt\./)
  expect(booked.out).toContain(
    '2. The vendor’s figure: the last one is of 2026-11-30T18:10:00.002Z: 14 units were used outside.',
  )
  expect(booked.out).toContain('4. The statement of month:2026-11-01: 24 units spent, open.')
  expect(booked.out).not.toContain('frozen')
  await product.call('POST', '/budgets/account/freeze', { body: { reason: 'restored' } })
  expect((await close()).out).toContain('The account is frozen (restored), so no update starts.')
  expect((await close('--left', 'none')).code).toBe(2)

  // The words of the output, copied, also if units come back.
  product.clock.advance(minutes(10))
  const [, copied = ''] = /(--difference.*) to book it/.exec((await close('--left', '49,980')).out) ?? []
  expect(await close('--left', '49,980', ...copied.split(' '))).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringMatching(/^Booked: 4 units came back\./),
  })
  await listener.close(Promise.resolve())
  await remove()
})

test('npm run account -- close books no figure that may lack updates from before a restore, and says when it can', async () => {
  const store = createMemoryStore()
  const service = ({ url }: { url: string }) => (/(run|estimate)$/.test(url) ? json({ keyword_units: 10 }) : undefined)
  const lost = await startProduct({ store, service })
  await lost.update({ kind: 'ranking', project: 'globex' })
  lost.clock.set('2026-11-20T12:00:00Z')
  await accept(store, lost.clock)
  const product = await startProduct({ store, service, clock: lost.clock })
  const listener = await createListener({ port: 0 })
  listener.open(product.api)
  const { directory: DATA_DIR, remove } = await temporaryDirectory()
  onTestFinished(async () => {
    await listener.close(Promise.resolve())
    await remove()
  })
  const token = await product.signed({ sub: 'ada', scope: 'read admin approve', budgets: '*' })
  const close = (...args: string[]) =>
    runHere('account', ['close', '--left', '49,980', ...args], {
      UNIT_GUARD_URL: listener.url,
      UNIT_GUARD_TOKEN: token,
      DATA_DIR,
    })

  const refused = {
    code: 1,
    out: '',
    err: 'The figure may lack updates that were running at the restore, so it cannot close the month. Reconcile after 20 Nov 2026 12:05 UTC, with the figure of then.\n',
  }
  product.clock.advance(minutes(5) - 1)
  expect(await close()).toEqual(refused)
  expect(await close('--difference', '10')).toEqual(refused)
  expect(await product.figures()).toMatchObject({ spent: 10 })
  product.clock.advance(1)
  expect((await close('--difference', '10')).out).toMatch(/^Booked: 10 units were used outside\./)
  const unfrozen = await product.call('POST', '/budgets/account/unfreeze', { body: { reason: 'reconciled' } })
  expect(unfrozen.status).toBe(200)
})
