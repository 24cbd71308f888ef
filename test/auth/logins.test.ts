import { describe, expect, test } from 'vitest'
import { logins } from '../../shared/auth/logins.ts'
import { days } from '../support/clock.ts'
import { at, openInMemory } from '../support/store/open-small.ts'

describe('a code to log in with', () => {
  test('a login code works for its caller once', async () => {
    const { ledger } = openInMemory()
    const code = await ledger.item(logins).issue('slack:U1', at)
    expect(code).toMatch(/^[0-9a-z]{26}$/)
    expect(await ledger.item(logins).isOpen(code, at)).toBe(true)
    expect(await ledger.item(logins).redeem(code, at)).toEqual({ caller: 'slack:U1' })
    expect(await ledger.item(logins).redeem(code, at)).toBeNull()
    expect(await ledger.item(logins).isOpen(code, at)).toBe(false)
  })

  test('a login code works for one of two concurrent users', async () => {
    const { ledger } = openInMemory()
    const code = await ledger.item(logins).issue('slack:U1', at)
    const came = await Promise.all([ledger.item(logins).redeem(code, at), ledger.item(logins).redeem(code, at)])
    expect(came.map((login) => login?.caller ?? '').toSorted()).toEqual(['', 'slack:U1'])
  })

  test.each([
    [299_999, 'slack:U1'],
    [300_000, null],
  ])('a login code after %i ms works for %s', async (ms, caller) => {
    const { ledger } = openInMemory()
    const code = await ledger.item(logins).issue('slack:U1', at)
    expect((await ledger.item(logins).redeem(code, at + ms))?.caller ?? null).toBe(caller)
  })

  test('a login code can carry the rights of a token', async () => {
    const { ledger, damage } = openInMemory()
    const token = { scopes: ['read', 'admin'], budgets: '*' } as const
    const login = { caller: 'local-admin', token }
    expect(await ledger.item(logins).redeem(await ledger.item(logins).issue('local-admin', at, token), at)).toEqual(
      login,
    )
    const code = await ledger.item(logins).issue('local-admin', at, token)
    damage('login', { token: { scopes: ['everything'], budgets: '*' } })
    expect(await ledger.item(logins).redeem(code, at)).toBeNull()
  })

  test('a login code is stored as its digest, and deleted after a day', async () => {
    const { ledger, stored } = openInMemory()
    const code = await ledger.item(logins).issue('slack:U1', at)
    await ledger.item(logins).issue('slack:U1', at)
    const [item, other] = stored('login')
    expect(JSON.stringify(item)).not.toContain(code)
    expect(item?.pk).toMatch(/^login#/)
    expect(item?.pk).not.toBe(other?.pk)
    expect(item?.expiresAt).toBe((at + days(1)) / 1000)
  })

  test('a malformed or unknown login code works for no one', async () => {
    const { ledger, damage } = openInMemory()
    const code = await ledger.item(logins).issue('slack:U1', at)
    for (const bad of [`${code}x`, `x${code}`, code.slice(1), code.toUpperCase(), '', 'a'.repeat(26)])
      expect(await ledger.item(logins).redeem(bad, at)).toBeNull()
    damage('login', { caller: 7 })
    expect(await ledger.item(logins).redeem(code, at)).toBeNull()
  })
})
