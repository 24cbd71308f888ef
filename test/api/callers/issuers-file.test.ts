import { readdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { parseIssuers, readTrustedIssuers } from '../../../shared/auth/issuers-file.ts'
import { writeFileOf } from '../../support/written-file.ts'

const okta = {
  name: 'okta',
  issuer: 'https://acme.okta.com/oauth2/default',
  audience: 'unit-guard',
  algorithms: ['RS256'],
  scopes: ['read'],
}

const faultsOf = (rows: unknown): string => {
  try {
    parseIssuers(typeof rows === 'string' ? rows : JSON.stringify(rows))
    return 'none'
  } catch (error) {
    return String(error)
  }
}

describe('the issuers file', () => {
  test('an entry of the issuers file gets its defaults', () => {
    expect(parseIssuers(JSON.stringify([okta]))).toEqual([
      { ...okta, subject: 'sub', trustUnverifiedEmail: false, maxLifetime: 12 * 3600_000 },
    ])
  })

  test('the issuers file accepts the example of docs/identity.md', async () => {
    const [, example = ''] =
      /```json\n(\[\{"name": "okta".*?)\n```/s.exec(await readFile('docs/identity.md', 'utf8')) ?? []
    expect(parseIssuers(example)).toMatchObject([{ name: 'okta', person: 'email', budgets: { mayBeAll: false } }])
  })

  test.each(readdirSync('docs/identity'))(
    'the issuers file accepts docs/identity/%s, and docs/identity.md explains it',
    async (file) => {
      const [entry, ...others] = parseIssuers(await readFile(`docs/identity/${file}`, 'utf8'))
      expect([`${entry?.name}.json`, others]).toEqual([file.replace('kubernetes', 'kube'), []])
      // A list of scopes would admit everyone who can get a token from such a provider.
      expect(entry?.scopes).toHaveProperty('claim')
      expect(await readFile('docs/identity.md', 'utf8')).toContain(`(identity/${file})`)
    },
  )

  test.each<[string, object]>([
    ['loopback by http', { issuer: 'http://127.0.0.1:9000' }],
    ['a slash at the end', { issuer: 'https://acme.auth0.com/' }],
    ['days', { maxLifetime: '31d' }],
    ['no scopes', { scopes: [] }],
    ['all budgets', { budgets: '*' }],
    ['a claim that is an address', { subject: 'https://acme.com/id' }],
  ])('the issuers file accepts %s', (_name, own) => {
    expect(faultsOf([{ ...okta, ...own }])).toBe('none')
  })

  test.each<[path: string, own: object]>([
    ...[
      '',
      'Okta',
      '1okta',
      'o'.repeat(32),
      'okta:x',
      'slack',
      'schedule',
      'caller',
      'guard',
      'sweep',
      'service',
      'setup',
      'mcp',
      7,
    ].map((name): [string, object] => ['0.name', { name }]),
    ...[
      'http://acme.com',
      'ftp://acme.com',
      'acme.com',
      'https://a@acme.com',
      'https://acme.com?x',
      'https://acme.com#x',
      'https://acme.com/ x',
      null,
    ].map((issuer): [string, object] => ['0.issuer', { issuer }]),
    ['0.audience', { audience: '' }],
    ['0.audience', { audience: ['unit-guard'] }],
    ['0.algorithms', { algorithms: [] }],
    ['0.algorithms', { algorithms: 'RS256' }],
    ...['HS256', 'none', 'rs256', 'dir'].map((alg): [string, object] => ['0.algorithms.0', { algorithms: [alg] }]),
    ['0.subject', { subject: '' }],
    ['0.subject', { subject: '__proto__' }],
    ['0.person', { person: 'two words' }],
    ['0.trustUnverifiedEmail', { trustUnverifiedEmail: 'yes' }],
    ...['12', '0h', '32d', '-1h', '1.5h', '1w', 12].map((maxLifetime): [string, object] => [
      '0.maxLifetime',
      { maxLifetime },
    ]),
    ['0.scopes', { scopes: undefined }],
    ['0.scopes', { scopes: ['owner'] }],
    ['0.scopes', { scopes: { claim: 'groups' } }],
    ['0.budgets', { budgets: 'acme' }],
    ['0.budgets', { budgets: { claim: 'b', mayBeAll: 'yes' } }],
    ['0.readsBudgets', { readsBudgets: '*' }],
    ['0.nmae', { nmae: 'x' }],
  ])('a fault is named by its path %s: %j', (path, own) => {
    expect(faultsOf([{ ...okta, ...own }])).toMatch(new RegExp(`^WrongFile: ${path.replaceAll('.', '\\.')}[:.]`))
  })

  test.each<[string, unknown, string]>([
    ['not JSON', '[', 'it is not valid, unambiguous JSON: not JSON at line 1, column 2'],
    ['a member twice', '[{"name":"a","name":"b"}]', 'the same name twice in one object'],
    ['not a list', {}, 'must be a list of issuers'],
    ['a name twice', [okta, { ...okta, audience: 'x' }], '1.name: is the name of entry 0 too'],
    [
      'an audience twice',
      [okta, { ...okta, name: 'b' }],
      '1.audience: is, with its issuer, the audience of entry 0 too',
    ],
    [
      '21 issuers',
      Array.from({ length: 21 }, (_, at) => ({ ...okta, name: `o${at}`, audience: `a${at}` })),
      'must have at most 20 issuers',
    ],
  ])('%s is a fault in the issuers file', (_name, rows, fault) => {
    expect(faultsOf(rows)).toContain(fault)
  })

  test('all faults of the issuers file are named at once', () => {
    const faults = faultsOf([
      { ...okta, name: 'slack', algorithms: ['HS256'] },
      { ...okta, subject: 7 },
    ])
    expect(faults.match(/\d\.\w+/g)).toEqual(['1.audience', '0.name', '0.algorithms', '1.subject'])
  })
})

describe('the login settings beside the issuers file', () => {
  const login = { LOGIN_ISSUER: 'okta', LOGIN_CLIENT_ID: 'client' }
  test.each<[string, object, string | null]>([
    ['no login', {}, null],
    ['an issuer and a client', login, null],
    [
      'another issuer',
      { ...login, LOGIN_ISSUER: 'entra' },
      'LOGIN_ISSUER: must be the name of an issuer in the file that TRUSTED_ISSUERS names',
    ],
    ['an issuer without a client', { LOGIN_ISSUER: 'okta' }, 'LOGIN_CLIENT_ID: is needed with LOGIN_ISSUER'],
    ['a client without an issuer', { LOGIN_CLIENT_ID: 'client' }, 'LOGIN_CLIENT_ID: needs LOGIN_ISSUER too'],
    [
      'the audience as the client',
      { ...login, LOGIN_CLIENT_ID: 'unit-guard' },
      'LOGIN_CLIENT_ID: must not be the audience of okta in the issuers file',
    ],
    [
      'the audience of another entry of the issuer',
      { ...login, LOGIN_CLIENT_ID: 'ci' },
      'LOGIN_CLIENT_ID: must not be the audience of okta-ci in the issuers file',
    ],
  ])('the issuers file is checked against the settings of the login: %s', async (_name, settings, fault) => {
    const file = await writeFileOf('issuers', [okta, { ...okta, name: 'okta-ci', audience: 'ci' }])
    const read = () => readTrustedIssuers({ TRUSTED_ISSUERS: file, ...settings })
    if (fault === null) expect(read().map(({ name }) => name)).toEqual(['okta', 'okta-ci'])
    else expect(read).toThrow(fault)
  })

  test('a login without an issuers file is refused', () => {
    expect(() => readTrustedIssuers(login)).toThrow('LOGIN_ISSUER')
    expect(readTrustedIssuers({})).toEqual([])
  })

  test('the faults of an issuers file name the file, never its folder', async () => {
    const file = await writeFileOf('issuers', [{}])
    expect(() => readTrustedIssuers({ TRUSTED_ISSUERS: file })).toThrow(/^the issuers file issuers\.json: 0\.name: /)
    await writeFile(file, Buffer.from([0xff]))
    expect(() => readTrustedIssuers({ TRUSTED_ISSUERS: file })).toThrow('the issuers file issuers.json is not UTF-8')
    const missing = () => readTrustedIssuers({ TRUSTED_ISSUERS: '/nowhere/mine.json' })
    expect(missing).toThrow('the issuers file mine.json is not there')
  })
})
