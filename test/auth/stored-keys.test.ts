import { describe, expect, test } from 'vitest'
import { issuerKeys } from '../../shared/auth/stored-keys.ts'
import { at, openInMemory } from '../support/store/open-small.ts'

describe('keys of an issuer', () => {
  const keys = { name: 'okta', issuer: 'https://acme.okta.com', jwks: '{"keys":[]}', fetchedAt: at }

  test('keys of an issuer are read as they were stored, with members of later versions', async () => {
    const { ledger, damage } = openInMemory()
    expect(await ledger.item(issuerKeys).read('okta')).toBeNull()
    expect(await ledger.item(issuerKeys).keep(keys)).toBe('kept')
    damage('issuer-keys', { later: true })
    expect(await ledger.item(issuerKeys).read('okta')).toMatchObject(keys)
  })

  test('damaged keys of an issuer are not used', async () => {
    const { ledger, damage } = openInMemory()
    await ledger.item(issuerKeys).keep(keys)
    damage('issuer-keys', { fetchedAt: 'now' })
    await expect(ledger.item(issuerKeys).read('okta')).rejects.toThrow(
      'issuer-keys#okta (issuer-keys) is damaged: fetchedAt',
    )
  })
})
