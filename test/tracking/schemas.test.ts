import { describe, expect, it, test } from 'vitest'
import {
  checkCreateProject,
  checkCreateQuery,
  checkUpdateProject,
  countries,
  frequencies,
  languages,
  searchEngineTypes,
} from '../../shared/tracking/projects.ts'

/** The rows of the interface, copied from its tables. */
const countryRows = `
  US, UK, DE, FR, IT, JP, RO, ES, GR, BE
  MT, NL, TH, AU, SE, SG, AR, IN, ID, CA
  BR, DK, MX, RU, KR, BH, CY, EG, AE, IL
  JO, KW, LB, OM, QA, SA, TR, AT, CH, HU
  NZ, CZ, PH, MY, IE, ZA, CO, DO, FI, RS
  ME, BA, HR, PL, PT, TW, PE, CL, VE, MA
  NO, SI, SK, LV, UA, PR, BO, CR, EE, LU
  LT, BG, GT, HN, NG, KE, UG, MU, GH, BD
  LK, VN, IS, EC, UY, KZ, LY, PK, CI, TZ
  CD, PA, ZM, MD, BY, SV, NI, PY, BW, ZW
  AO, MZ, CM, ET, AZ, KH, NP, RW, SN, TN
  MM, DZ, JM, GA, GE, PG, IM, BN, TG, BT
  BJ, BF, GM, BI, LA, GG, JE, MN, IQ, PS
  FJ, AF, ML, NE, MV, DJ, GP, AL, LS, AS
  FM, GL, LI, MS, MW, PN, SH, SM, UZ, TD
  VG, CV, VC, DM, MK, KG, TJ, TM, MG, NA
  SC, BS, BZ, GI, AM, AG, AD, CU, TT
`
const languageRows = `
  en, fr, de, es, ca, gl, eu, ar, ko, et
  ru, sw, da, fo, ja, pt, pl, vi, zh-TW, cs
  qu, it, hi, bn, te, mr, ta, gu, kn, ml
  pa, rm, iw, ga, id, uk, el, tr, bg, zh-CN
  no, nl, bs, sr, hr, ha, yo, th, af, st
  zu, xh, ur, fa, ak, sk, sl, sv, lv, lt
  fi, ro, hu, hy
`
const typeRows = `
  desktop universal
  desktop organic
  desktop organic and places
  desktop places
  desktop adwords
  desktop images
  desktop video
  desktop maps
  desktop news
  desktop shopping
  desktop jobs
  mobile universal
  mobile organic
  mobile images
  mobile video
  mobile news
`
const codesOf = (rows: string) => rows.trim().split(/[,\s]+/)
const linesOf = (rows: string) =>
  rows
    .trim()
    .split('\n')
    .map((line) => line.trim())

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
const engine = (members: object) => ({ keywords: [], searchengines: [{ name: 'web', ...members }], websites: [] })
const site = (members: object) => ({ keywords: [], searchengines: [], websites: [{ name: 'a.example', ...members }] })
const faultsOf = (
  checked: ReturnType<typeof checkCreateProject | typeof checkUpdateProject | typeof checkCreateQuery>,
) => (checked.ok ? [] : checked.faults.map(({ path }) => path))

describe('enumerations', () => {
  test('enumerations equal the enumerations of the interface', () => {
    expect([countries.length, languages.length, searchEngineTypes.length]).toEqual([169, 64, 16])
    expect(countries).toEqual(codesOf(countryRows))
    expect(languages).toEqual(codesOf(languageRows))
    expect(searchEngineTypes).toEqual(linesOf(typeRows))
    expect(frequencies).toEqual(['ondemand', 'daily', 'weekly'])
    for (const list of [countries, languages, searchEngineTypes]) expect(new Set(list).size).toBe(list.length)
  })

  test.each([
    ['country', codesOf(countryRows)],
    ['language', codesOf(languageRows)],
    ['se_type', linesOf(typeRows)],
  ])('the enumeration %s accepts each of its values', (member, values) => {
    for (const value of values) {
      expect(checkCreateProject(bytes(engine({ [member]: value })))).toMatchObject({
        ok: true,
        value: { searchengines: [{ [member]: value }] },
      })
    }
  })

  test.each([
    ['country', ['GB', 'us', 'XX', '', 'USA', ' US', null, 1, ['US']]],
    ['language', ['he', 'EN', 'zh', 'zh-tw', '', null, 0]],
    ['se_type', ['desktop', 'Desktop Universal', 'mobile maps', 'desktop  universal', '', null, {}]],
  ])('the enumeration %s refuses every other value', (member, values) => {
    for (const value of values) {
      expect(faultsOf(checkCreateProject(bytes(engine({ [member]: value }))))).toEqual([`searchengines.0.${member}`])
    }
  })
})

describe('CreateProjectInput', () => {
  it('CreateProjectInput has defaults', () => {
    expect(checkCreateProject(bytes(engine({})))).toEqual({
      ok: true,
      value: {
        keywords: [],
        websites: [],
        searchengines: [
          {
            name: 'web',
            country: 'US',
            location: 'San Francisco, CA',
            language: 'en',
            se_type: 'desktop universal',
          },
        ],
      },
    })
  })

  it.each<[name: string, body: object]>([
    ['empty lists', { keywords: [], searchengines: [], websites: [] }],
    ['an unknown member', { keywords: [{ name: 'a', more: 1 }], searchengines: [], websites: [], also: null }],
    ['colors at their limits', site({ color_r: 0, color_g: 255, color_b: 1 })],
    ['pages of any shape', site({ pages: [{}, { url: 'x', more: [1] }] })],
    ['aliases and an index', site({ aliases: '*.a.example', index: -1 })],
  ])('CreateProjectInput accepts %s', (_name, body) => {
    expect(checkCreateProject(bytes(body))).toEqual({ ok: true, value: body })
  })

  it.each<[name: string, body: unknown, paths: string[]]>([
    ['nothing', {}, ['keywords', 'searchengines', 'websites']],
    ['no object', [], ['']],
    ['null', null, ['']],
    ['text', '"x"', ['']],
    [
      'values that are not lists',
      { keywords: 'a', searchengines: {}, websites: null },
      ['keywords', 'searchengines', 'websites'],
    ],
    ['a keyword that is text', { keywords: ['a'], searchengines: [], websites: [] }, ['keywords.0']],
    ['a keyword without name', { keywords: [{ name: 'a' }, {}], searchengines: [], websites: [] }, ['keywords.1.name']],
    ['a name that is no text', { keywords: [{ name: 1 }], searchengines: [], websites: [] }, ['keywords.0.name']],
    ['an engine without name', { keywords: [], searchengines: [{}], websites: [] }, ['searchengines.0.name']],
    ['a location that is no text', engine({ location: null }), ['searchengines.0.location']],
    ['a site without name', { keywords: [], searchengines: [], websites: [{}] }, ['websites.0.name']],
    ['color -1', site({ color_r: -1 }), ['websites.0.color_r']],
    ['color 256', site({ color_g: 256 }), ['websites.0.color_g']],
    ['color 1.5', site({ color_b: 1.5 }), ['websites.0.color_b']],
    ['color "5"', site({ color_b: '5' }), ['websites.0.color_b']],
    ['an index that is not whole', site({ index: 0.5 }), ['websites.0.index']],
    ['aliases that are a list', site({ aliases: ['a'] }), ['websites.0.aliases']],
    ['pages that are no list', site({ pages: {} }), ['websites.0.pages']],
    ['pages that are text', site({ pages: [{}, 'x'] }), ['websites.0.pages.1']],
    [
      'everything at once',
      { keywords: [{}], searchengines: [{ name: 'a', country: 'XX' }], websites: [{ name: 'a', color_r: 999 }] },
      ['keywords.0.name', 'searchengines.0.country', 'websites.0.color_r'],
    ],
  ])('CreateProjectInput refuses %s', (_name, body, paths) => {
    expect(faultsOf(checkCreateProject(bytes(body)))).toEqual(paths)
  })

  it.each<[name: string, body: Buffer, message: RegExp]>([
    ['no bytes', bytes(''), /not JSON/],
    ['{', bytes('{'), /not JSON/],
    ['a byte order mark', bytes('\ufeff{}'), /not JSON/],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), /not UTF-8/],
    ['a name twice', bytes('{"keywords":[],"keywords":[{"name":"a"}]}'), /twice/],
    ['a name twice, once escaped', bytes('{"a":1,"\\u0061":2}'), /twice/],
    ['a nesting of 100,000', bytes('['.repeat(100_000)), /nested deeper/],
    ['1e400 for a color', bytes(JSON.stringify(site({ color_r: 7 })).replace('7', '1e400')), /0 to 255/],
  ])('CreateProjectInput refuses %s', (_name, body, message) => {
    const checked = checkCreateProject(body)
    expect(checked).toEqual({
      ok: false,
      faults: [{ path: expect.any(String), message: expect.stringMatching(message) }],
    })
  })

  it('CreateProjectInput does not let __proto__ change anything', () => {
    const body =
      '{"keywords":[{"name":"a","__proto__":{"hit":1}}],"searchengines":[],"websites":[],"__proto__":{"hit":1}}'
    expect(checkCreateProject(bytes(body)).ok).toBe(true)
    expect('hit' in {}).toBe(false)
  })

  it('CreateProjectInput does not repeat the input in its errors', () => {
    const checked = checkCreateProject(bytes(engine({ country: 'secret', more: 'secret' })))
    expect(JSON.stringify(checked)).not.toContain('secret')
  })
})

describe('UpdateProjectInput', () => {
  it.each<[name: string, body: object]>([
    ['nothing at all', {}],
    ['the four members of the example', { keywords: [], websites: [], addSearchengines: [], removeSearchengines: [] }],
    ['one of them', { removeSearchengines: [{ svc_id: 3 }] }],
    ['searchengines, which nothing defines', { searchengines: 'anything' }],
    ['unknown members', { more: 1, removeSearchengines: [{ svc_id: 0, more: 1 }] }],
  ])('UpdateProjectInput accepts %s', (_name, body) => {
    expect(checkUpdateProject(bytes(body))).toEqual({ ok: true, value: body })
  })

  it('UpdateProjectInput sets the defaults of added search engines', () => {
    expect(checkUpdateProject(bytes({ addSearchengines: [{ name: 'web' }] }))).toMatchObject({
      value: { addSearchengines: [{ country: 'US', language: 'en', se_type: 'desktop universal' }] },
    })
  })

  it.each<[name: string, body: unknown, paths: string[]]>([
    ['no object', [], ['']],
    [
      'an engine in another country',
      { addSearchengines: [{ name: 'a', country: 'GB' }] },
      ['addSearchengines.0.country'],
    ],
    ['an engine to remove by name', { removeSearchengines: [{ name: 'a' }] }, ['removeSearchengines.0.svc_id']],
    ['svc_id as text', { removeSearchengines: [{ svc_id: '3' }] }, ['removeSearchengines.0.svc_id']],
    ['svc_id 1.5', { removeSearchengines: [{ svc_id: 1.5 }] }, ['removeSearchengines.0.svc_id']],
    [
      'everything at once',
      { keywords: [1], websites: [{}], addSearchengines: null, removeSearchengines: {} },
      ['keywords.0', 'websites.0.name', 'addSearchengines', 'removeSearchengines'],
    ],
  ])('UpdateProjectInput refuses %s', (_name, body, paths) => {
    expect(faultsOf(checkUpdateProject(bytes(body)))).toEqual(paths)
  })
})

describe('the query of creation', () => {
  it.each<[search: string, value: object]>([
    ['', {}],
    ['frequency=ondemand', { frequency: 'ondemand' }],
    ['frequency=daily&country=DE', { frequency: 'daily', country: 'DE' }],
    ['%66requency=week%6cy', { frequency: 'weekly' }],
    ['more=1&more=2&%zz=%zz&&=', {}],
  ])('the query of creation accepts %j', (search, value) => {
    expect(checkCreateQuery(search)).toEqual({ ok: true, value })
  })

  it.each<[search: string, paths: string[]]>([
    ['frequency=hourly', ['frequency']],
    ['frequency=', ['frequency']],
    ['frequency', ['frequency']],
    ['frequency=Daily', ['frequency']],
    ['frequency=%zz', ['frequency']],
    ['frequency=daily&frequency=daily', ['frequency']],
    ['frequency=daily&FREQUENCY=ondemand', ['frequency']],
    ['country=GB', ['country']],
    ['country=us', ['country']],
    ['country=US&country=DE&frequency=x', ['country', 'frequency']],
  ])('the query of creation refuses %j', (search, paths) => {
    expect(faultsOf(checkCreateQuery(search))).toEqual(paths)
  })
})
