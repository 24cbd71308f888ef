import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('docs/api.md says which local times a schedule in UTC has where clocks are turned', () => {
  const text = readFileSync('docs/api.md', 'utf8')
  const [, minutes, hours, winter, summer] =
    /`cron\((\d+) (\d+) \* \* \? \*\)` is ([\d:]+) in Berlin in winter and ([\d:]+) in summer/.exec(text) ?? []
  const inBerlin = (month: number) =>
    new Date(Date.UTC(2026, month, 1, Number(hours), Number(minutes))).toLocaleTimeString('en-GB', {
      timeZone: 'Europe/Berlin',
      hour: '2-digit',
      minute: '2-digit',
    })
  expect([winter, summer]).toEqual([inBerlin(0), inBerlin(6)])
})
