import { count, few } from '../../guard/sentences.ts'
import { onTheWall } from '../../platform/clock.ts'
import type { Verdict } from './verdict.ts'

/** `37 of 40 run; acme, initech and shop do not: seo has too little` */
export function verdictInWords(verdict: Verdict, zone: string): string {
  switch (verdict.kind) {
    case 'passes':
      return 'yes'
    case 'unknown':
      return 'unknown'
    case 'never':
      return `no: ${verdict.why}`
    case 'fails': {
      const { isNext, at } = verdict
      const failing = failingInWords(verdict)
      return isNext ? failing : `until ${onTheWall(at, zone)}, then ${failing.replace(/^no: /, '')}`
    }
  }
}

type Failing = Extract<Verdict, { kind: 'fails' }>

function failingInWords({ runs, of, groups }: Failing): string {
  const isAlike = groups.every(({ waits }) => waits === groups[0]?.waits)
  const failed = groups.reduce((sum, { projects }) => sum + projects.length, 0)
  if (isAlike && failed === of)
    return `${groups[0]?.waits ? 'asks for approval' : 'no'}: ${together(groups.map(({ why }) => why))}`
  const each = groups.map(({ projects, waits, why }) => `${few(projects)} ${doNot(projects.length, waits)}: ${why}`)
  return together([`${count(runs)} of ${count(of)} ${runs === 1 ? 'runs' : 'run'}`, ...each])
}

/** Some reasons are sentences. Their full stops go. */
const together = (parts: readonly string[]): string => parts.map((part) => part.replace(/\.$/, '')).join('; ')

function doNot(projects: number, waits: boolean): string {
  if (waits) return projects === 1 ? 'waits for approval' : 'wait for approval'
  return projects === 1 ? 'does not' : 'do not'
}
