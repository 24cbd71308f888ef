import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { defaults, localSettings, servedSettings } from '../../infra/local/settings.ts'
import { settingNames, settingsOfConstructs } from '../../infra/props.ts'
import { usualAccount } from '../../shared/ledger/identity.ts'
import { usualPrefix } from '../../shared/platform/prefix.ts'
import { openingSettings } from '../../shared/platform/settings.ts'

const page = readFileSync('docs/settings.md', 'utf8')
const rowsIn = (text: string) =>
  [...text.matchAll(/^\| (`[A-Z].*?`) \| (.*?) \| .* \|$/gm)].map(([, names = '', usual = '']) => ({
    names: [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
    usual: usual.replaceAll('`', ''),
  }))
const listed = rowsIn(page).flatMap(({ names }) => names)

/** Settings that users do not set: every program that reads them has a default. */
const unlisted = ['SANDBOX_TABLE', ...settingsOfConstructs.filter((name) => !listed.includes(name))]
const shape = { ...localSettings.shape, ...servedSettings.shape }

const { unitsPerMonth, usedAtStart, renewal } = usualAccount
const usually: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(
    Object.entries(shape).flatMap(([name, { _zod }]) =>
      'defaultValue' in _zod.def ? [[name, _zod.def.defaultValue]] : [],
    ),
  ),
  ...defaults,
  GUARD_PREFIX: usualPrefix,
  ACCOUNT_UNITS_PER_MONTH: unitsPerMonth,
  ACCOUNT_UNITS_USED_AT_START: usedAtStart,
  ACCOUNT_RENEWAL_DAY: renewal.day,
  ACCOUNT_RENEWAL_TIME: renewal.time,
  ACCOUNT_TIME_ZONE: renewal.zone,
}

test('docs/settings.md has one row for each setting of the schemas, and no other row', () => {
  const taken = [...Object.keys(shape), ...settingNames, 'GUARD_PREFIX', 'EVENTS_…']
  expect(listed.toSorted()).toEqual([...new Set(taken)].filter((name) => !unlisted.includes(name)).toSorted())
})

test('docs/settings.md begins with the settings that a real service needs', () => {
  const [, must = ''] = page.split(/^## /m)
  const needed = Object.entries({ ...servedSettings.shape, ...openingSettings.shape })
    .filter(([, { _zod }]) => !['optional', 'default'].includes(_zod.def.type))
    .map(([name]) => name)
  expect(rowsIn(must).flatMap(({ names }) => names)).toEqual(needed)
})

test.each(rowsIn(page))('the default of $names is that of the code', ({ names, usual }) => {
  const known = names.map((name) => usually[name])
  if (known.some((value) => value !== undefined))
    expect(usual.split(', ')).toEqual(known.map((value) => String(value ?? 'none')))
})
