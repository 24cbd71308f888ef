import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { createTestClock } from '../../support/clock.ts'
import { startProduct } from '../../support/product.ts'
import { startProvider } from '../../support/provider.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const aws = { 'https://sts.amazonaws.com/': { aws_account: '123456789012', principal_tags: { team: 'seo' } } }
const pod = { 'kubernetes.io': { namespace: 'seo', serviceaccount: { name: 'reports', uid: 'x' } } }
const ref = 'repo:acme@123456/reports@456789:ref:refs/heads/main'

/** Claims as the providers document them. */
test.each<[string, Record<string, unknown>, string]>([
  [
    'okta',
    { ver: 1, sub: 'ada@acme.com', uid: '00u1', caller: 'ada@acme.com', groups: ['seo', 'staff'] },
    'ada@acme.com',
  ],
  [
    'entra',
    { ver: '2.0', sub: 'pairwise', oid: '0f3c', azp: 'x', roles: ['Units.Run'], scp: 'user_impersonation' },
    '0f3c',
  ],
  ['github', { sub: ref, repository: 'acme/reports', ref: 'refs/heads/main', run_attempt: '1' }, ref],
  [
    'kubernetes',
    { ...pod, aud: ['unit-guard'], sub: 'system:serviceaccount:seo:reports' },
    'system:serviceaccount:seo:reports',
  ],
  ['aws', { ...aws, sub: 'arn:aws:iam::123456789012:role/reports' }, 'arn:aws:iam::123456789012:role/reports'],
])('the file of docs/identity accepts a token of %s from the mapped caller only', async (file, claims, subject) => {
  const [entry] = JSON.parse(await readFile(`docs/identity/${file}.json`, 'utf8'))
  const clock = createTestClock()
  const provider = await startProvider({ clock, alg: 'RS256' })
  const issuers = [{ ...entry, issuer: provider.issuer }]
  const product = await startProduct({ store: createMemoryStore(), clock, issuers })
  const token = provider.sign({ aud: entry.audience, ...claims })
  expect((await product.call('GET', '/budgets', { token })).status).toBe(200)
  const { body } = await product.call('GET', '/callers', { token })
  expect(body.detail).toContain(`${entry.name}:${subject} needs the scope admin for this, and has: read run.`)
  const { claim } = entry.scopes
  const other = provider.sign({
    aud: entry.audience,
    ...claims,
    [claim]: claim === 'sub' ? `${subject}-other` : ['other'],
  })
  expect((await product.call('GET', '/budgets', { token: other })).status).toBe(403)
})
