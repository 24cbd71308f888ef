import type { Estimate } from '../../../shared/client/answers.ts'
import { units as inUnits } from '../../../shared/guard/sentences.ts'
import { namesOf, productKinds } from '../../../shared/tracking/kinds.ts'
import { answerOf, apiAccess, createSend } from '../api-client.ts'
import { mustBeOneOf } from './command.ts'
import type { Run } from './table.ts'

type Check = NonNullable<Estimate['projects'][number]['checks']>[number]

const marks: Readonly<Record<Check['verdict'], string>> = {
  passes: '✔',
  refuses: '✖',
  asks: '●',
  'would-refuse': '○',
  unknown: '?',
}

export const run: Run<'why'> = async ({ as, kind: typed, budget }, project = '') => {
  const kinds = namesOf(productKinds)
  const kind = typed === undefined ? kinds[0] : mustBeOneOf(typed, kinds, 'kind')
  const query = {
    kind,
    project,
    explain: 'true',
    ...(as !== undefined && { as }),
    ...(budget !== undefined && { budget }),
  }
  const response = await createSend(apiAccess())('GET', `/estimates?${new URLSearchParams(query)}`)
  const answer = (await answerOf(response)) as Estimate
  const checks = answer.projects[0]?.checks ?? []
  for (const line of linesOf(checks)) console.log(line)
  console.log(`\n${verdictOf(answer, checks)}`)
  return answer.allowed
}

function linesOf(checks: readonly Check[]): string[] {
  const rows = checks.map(({ check, verdict, figure }) => [verdict.replace('-', ' '), check.replace('-', ' '), figure])
  const width = (at: number) => Math.max(0, ...rows.map((row) => row[at]?.length ?? 0))
  const [first, second] = [width(0), width(1)]
  return rows.map(([verdict = '', check = '', figure = ''], at) => {
    const mark = marks[checks[at]?.verdict ?? 'unknown']
    return `${mark} ${verdict.padEnd(first)}  ${check.padEnd(second)}  ${figure}`
  })
}

function verdictOf({ problem, approval, units }: Estimate, checks: readonly Check[]): string {
  if (problem?.type === '/problems/already-updated') return `It would not run again: ${problem.detail}`
  if (problem) return `It would be refused: ${problem.detail}`
  if (approval !== undefined) return `It would wait for approval: ${approval}.`
  const limited = checks.filter(({ verdict, available }) => verdict === 'passes' && typeof available === 'number')
  const tightest = limited.toSorted((a, b) => (a.available ?? 0) - (b.available ?? 0))[0]
  return `It would run: ${tightest?.figure ?? `it needs ${inUnits(units)}, and no budget limits it`}.`
}
