import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { type Advice, adviceFor } from '../../../infra/local/commands/doctor/advice.ts'
import { type Asked, interpret } from '../../../infra/local/commands/doctor/interpret.ts'
import { type GuardSettings, guardSettings } from '../../../shared/guard/options.ts'
import { parseSettings } from '../../../shared/platform/settings.ts'
import { realisticAnswers } from '../../tracking/realistic-answers.ts'

const settingsOf = (env: Record<string, string> = {}): GuardSettings =>
  parseSettings(guardSettings, { TABLE_NAME: 't', TRACKING_BASE_URL: 'https://service.example/v3', ...env })

const askedOf = (body: string): Asked => ({
  call: 'run',
  kind: 'ranking',
  exchange: { kind: 'answered', status: 200, headers: {}, body: Buffer.from(body) },
})

/** The values of lines such as `RUN_STARTED='/a=1 /b=2'`, as a shell reads them. */
function readByShell(lines: readonly string[]): Record<string, string>[] {
  const script = lines.map((line) => `${line}; printf '%s\\0' "$${line.split('=')[0]}"`).join('\n')
  const values = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).split('\0')
  return lines.map((line, at) => ({ [line.split('=')[0] ?? '']: values[at] ?? '' }))
}

const readings = { ran: 'ran', 'did not run': 'did-not-run' } as Readonly<Record<string, string>>

test('each setting that the doctor advises for a realistic answer, copied into a shell, has the effect that it names', () => {
  const rows = realisticAnswers.flatMap(({ body }) =>
    adviceFor(settingsOf(), askedOf(body)).map((advice): Advice & { body: string } => ({ body, ...advice })),
  )
  const copied = readByShell(rows.map(({ lines }) => lines.join(' ')))
  const read = rows.map(({ body }, at) => interpret(settingsOf(copied[at]), askedOf(body)).reading.kind)
  expect(read).toEqual(rows.map(({ verdict }) => readings[verdict] ?? 'ran'))
  expect(new Set(rows.map(({ setting }) => setting))).toEqual(new Set(['RUN_STARTED', 'ANSWERS_WELL', 'RUN_REFUSED']))
})

test('the doctor advises RUN_REFUSED last, and only for an answer that is unknown', () => {
  for (const { body } of realisticAnswers) {
    const advice = adviceFor(settingsOf(), askedOf(body)).map(({ setting }) => setting)
    if (!advice.includes('RUN_REFUSED')) continue
    expect(advice.indexOf('RUN_REFUSED')).toBe(advice.length - 1)
    expect(interpret(settingsOf(), askedOf(body)).reading.kind).toBe('unknown')
  }
})
