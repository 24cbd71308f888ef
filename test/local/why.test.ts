import { expect, test } from 'vitest'
import { createListener } from '../../infra/local/listener.ts'
import { runHere } from '../support/process/here.ts'
import { temporaryDirectory } from '../support/process/local.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const month = (units: number) => ({ limits: [{ window: 'month', units }] })

test('npm run why prints every check and one sentence, and exits with 1 for an update that would not run', async () => {
  const product = await startProduct({ store: createMemoryStore(), units: { dear: 80 } })
  const listener = await createListener({ port: 0 })
  listener.open(product.api)
  const { directory: DATA_DIR, remove } = await temporaryDirectory()
  const token = await product.signed({ sub: 'ada', scope: 'read run admin', budgets: '*' })
  const why = (...args: string[]) =>
    runHere('why', args, { UNIT_GUARD_URL: listener.url, UNIT_GUARD_TOKEN: token, DATA_DIR })
  const acme = { ...month(60), approvalAbove: 30, projects: [{ name: 'shop' }, { name: 'dear' }] }
  await product.call('PUT', '/budgets/acme', { body: acme })
  await product.call('PUT', '/callers/bob', { body: { scopes: ['run'], perUpdate: 20 } })
  const [free, waits, refused, asBob, unknownKind, noCaller] = await Promise.all([
    why('other'),
    why('shop'),
    why('dear', '--kind', 'ranking', '--budget', 'acme'),
    why('shop', '--as', 'bob'),
    why('shop', '--kind', 'rank'),
    why('shop', '--as', 'b b'),
  ])
  expect(free.out.split('\n')).toEqual([
    '✔ passes  same work   no such update runs or is in doubt, and none ran today',
    '✔ passes  caller      ada is not disabled',
    '✔ passes  name        listed by: none',
    '✔ passes  permission  the scope run, and a budget that the caller may charge',
    '✔ passes  payer       paid by: account',
    '✔ passes  rules       not frozen, and open to this kind of update: account',
    '✔ passes  used up     every limit that can refuse it has something left',
    '✔ passes  estimate    40 units',
    '✔ passes  one update  limits: none',
    '✔ passes  fresh       the service shows no ranking data of today',
    '✔ passes  counter     account has 50,000 of 50,000 units left this month, this needs 40',
    '✔ passes  approval    needed above: none',
    '',
    'It would run: account has 50,000 of 50,000 units left this month, this needs 40.',
    '',
  ])
  expect([free.code, waits.code, refused.code, asBob.code]).toEqual([0, 0, 1, 1])
  expect(waits.out).toMatch(/\n● asks +approval .*\n\nIt would wait for approval: it needs 40 units, and acme .*\.\n$/)
  expect(refused.out).toMatch(
    /\n✖ refuses {2}counter {5}acme has 60 .*\n\nIt would be refused: acme has 60 of 60 .*\n$/s,
  )
  expect(asBob.out).toMatch(/its token is not known here.*\nIt would be refused: This update needs 40 units, and bob/s)
  expect([unknownKind.code, unknownKind.err]).toEqual([
    2,
    "There is no kind 'rank'; did you mean ranking? (npm run why -- --help)\n",
  ])
  expect([noCaller.code, noCaller.err]).toEqual([
    1,
    'The request is not valid: as: must have 1 to 256 visible characters without #.\n',
  ])
  await product.update({ kind: 'ranking', project: 'other' })
  const again = await why('other')
  expect([again.code, again.out]).toEqual([1, expect.stringMatching(/\nIt would not run again: .* was done at /)])
  await listener.close(Promise.resolve())
  await remove()
}, 60_000)
