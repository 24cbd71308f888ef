import { expect, test } from 'vitest'
import { one } from '../simulation/workloads/chance.ts'
import { openAgency } from './agency.ts'
import { differencesIn, readFaces } from './figures.ts'
import { step } from './steps.ts'

// `npm run faces` plays longer months. Each seed repeats its month.
const seeds = (process.env.FACES_SEEDS ?? '7').split(',').map(Number)
const steps = Number(process.env.FACES_STEPS ?? 40)

test.each(seeds)('all faces show the same figures after each step of an agency’s month, seed %s', async (seed) => {
  const agency = await openAgency({ seed })
  const { faces, names, chance, owed } = agency
  const done: string[] = []
  for (let at = 1; at <= steps; at++) {
    done.push(`${at}. ${await step(agency)}`)
    const figures = await readFaces(faces, one(chance, names))
    const vendors = { face: 'the vendor’s count', about: 'account spent', value: await owed() }
    expect([differencesIn([...figures, vendors]), done.slice(-3)]).toEqual([[], done.slice(-3)])
    expect(figures.length).toBeGreaterThan(names.length * 10)
  }
  if (process.env.FACES_STEPS) process.stdout.write(`${done.join('\n')}\n`)
})

test('a figure that two faces show differently is named with both', () => {
  const figure = (face: string, value: number) => ({ face, about: 'acme spent', value })
  expect(differencesIn([figure('page', 1), figure('CSV', 1), figure('Slack', 2)])).toEqual([
    'acme spent: 1 (page, CSV) but 2 (Slack)',
  ])
})
