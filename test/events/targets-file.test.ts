import { describe, expect, test } from 'vitest'
import { parseTargets, readTargets } from '../../shared/events/targets-file.ts'
import { WrongFile } from '../../shared/platform/settings-file.ts'
import { writeFileOf } from '../support/written-file.ts'

const warehouse = {
  name: 'warehouse',
  url: 'https://hooks.example/units',
  secret: 'unit-guard/events/warehouse',
  types: ['update.*', 'budget.frozen'],
}

const faultsOf = (rows: unknown): string => {
  try {
    parseTargets(typeof rows === 'string' ? rows : JSON.stringify(rows))
    return 'none'
  } catch (error) {
    return String(error)
  }
}

describe('the targets file', () => {
  test('a targets file lists webhooks', () => {
    expect(parseTargets(JSON.stringify([warehouse]))).toEqual([warehouse])
    expect(parseTargets('[]')).toEqual([])
  })

  test.each<[string, object]>([
    ['http to this machine', { url: 'http://127.0.0.1:9000/x' }],
    ['https to this machine', { url: 'https://localhost:9000/x?team=seo' }],
    ['a public address', { url: 'https://93.184.215.14/x' }],
    ['one type', { types: ['update.settled'] }],
  ])('a targets file accepts %s', (_name, own) => {
    expect(faultsOf([{ ...warehouse, ...own }])).toBe('none')
  })

  test.each<[path: string, own: object]>([
    ...['', 'Warehouse', '1st', 'w'.repeat(32), 'a b', null].map((name): [string, object] => ['name', { name }]),
    ...[
      '',
      'hooks.example',
      'ftp://hooks.example',
      'http://hooks.example',
      'https://ada:pw@hooks.example',
      'https://hooks.example/#x',
      'https://hooks.example/ x',
      'https://10.0.0.1/',
      'https://[::ffff:10.0.0.1]/',
      'https://169.254.169.254/latest',
      'https://0x7f.1.2.3/',
      'https://[fd00::1]/',
      'https://0.0.0.0/',
      `https://hooks.example/${'x'.repeat(1_000)}`,
    ].map((url): [string, object] => ['url', { url }]),
    ...['', 'warehouse', 'unit-guard/service-token', 'unit-guard/events/', 'unit-guard/events/../service-token'].map(
      (secret): [string, object] => ['secret', { secret }],
    ),
    ...[
      [],
      ['*'],
      ['update'],
      ['unit-guard.update.*'],
      ['update.settle'],
      ['nothing.*'],
      ['update.*', 7],
      'update.*',
    ].map((types): [string, object] => ['types', { types }]),
    ['more', { more: 1 }],
  ])('a targets file refuses a wrong %s: %j', (path, own) => {
    expect(faultsOf([{ ...warehouse, ...own }])).toMatch(`WrongFile: 0.${path}`)
  })

  test('a targets file must be a list of at most five targets with different names', () => {
    expect(faultsOf('{')).toBe('WrongFile: it is not valid, unambiguous JSON: not JSON at line 1, column 2')
    expect(faultsOf({})).toBe('WrongFile: must be a list of targets')
    expect(faultsOf([warehouse, warehouse])).toBe('WrongFile: 1.name: is the name of entry 0 too')
    const six = Array.from({ length: 6 }, (_, index) => ({ ...warehouse, name: `target-${index}` }))
    expect(faultsOf(six)).toBe('WrongFile: must have at most 5 targets')
  })

  test('without a file there are no targets', () => {
    expect(readTargets({})).toEqual([])
  })

  test('a fault names the file but not its folder', async () => {
    const EVENT_TARGETS = await writeFileOf('targets', [{ ...warehouse, name: '' }])
    expect(() => readTargets({ EVENT_TARGETS })).toThrow(/^the targets file targets\.json: 0\.name: /)
    expect(() => readTargets({ EVENT_TARGETS })).toThrow(WrongFile)
    expect(() => readTargets({ EVENT_TARGETS: '/nowhere/mine.json' })).toThrow(
      /^the targets file mine\.json is not there$/,
    )
  })
})
