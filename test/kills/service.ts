import type { Choose } from '../simulation/step.ts'
import { type Answer, type Recorded, startScriptedService } from '../support/scripted-service.ts'
import type { Trap } from './steps.ts'

export interface Run {
  readonly kind: 'ranking' | 'keyword-difficulty'
  readonly project: string
  readonly ask: string
  /** The units of the run, which may have cost them after its sender was dead. */
  consumed: number
  /** The status of the answer said that the run did not happen. */
  readonly refused: boolean
}

export type Mood = 'kind' | 'well' | 'doubtful'

export const unitsOf = (project: string): number => (project.startsWith('dear') ? 640 : 40)

/** More than the estimate, as real vendors charge sometimes. */
const overrunOf = (project: string): number => (project.startsWith('over') ? unitsOf(project) + 5 : unitsOf(project))

const json = (body: object) => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

type End = 'ran' | 'ran-empty' | 'refused' | 'status' | 'html' | 'reset' | 'close' | 'reset-in-body' | 'hang'
const usual: readonly End[] = ['ran', 'ran', 'ran', 'ran', 'ran', 'ran', 'ran-empty', 'refused', 'status', 'reset']
const odd: readonly End[] = ['html', 'close', 'reset-in-body', 'hang', 'status', 'reset']
const moods: Readonly<Record<Mood, readonly End[]>> = {
  kind: ['ran'],
  well: [...usual, ...usual, ...odd],
  doubtful: odd,
}

/** A tracking service over real sockets with its own account of runs, and with faults below HTTP. */
export async function startService({ chance, trap }: { chance: Choose; trap: Trap }) {
  const runs: Run[] = []
  const today = () => new Date().toISOString().slice(0, 10)
  let mood: Mood = 'well'

  const service = await startScriptedService({ fallback: answerTo })

  function answerTo({ url }: Recorded): Answer {
    const { pathname, searchParams } = new URL(url, 'http://service')
    const [, , family, segment = '', operation] = pathname.split('/')
    const project = decodeURIComponent(segment)
    switch (operation) {
      case 'estimate':
        return trap.passes('estimate', 'before')
          ? { kind: 'reset' }
          : json({ response_code: 0, data: { keyword_units: unitsOf(project) } })
      case 'dates':
        return json({ dates: ['2026-01-02', ...(hasRun(project) ? [today()] : [])] })
      case 'run':
        return run(family === 'on-demand' ? 'ranking' : 'keyword-difficulty', project, searchParams.get('ask') ?? '')
      default:
        return { status: 404 }
    }
  }

  const hasRun = (project: string) =>
    runs.some((each) => each.kind === 'ranking' && each.project === project && each.consumed > 0)

  function run(kind: Run['kind'], project: string, ask: string): Answer {
    const ends = moods[mood]
    const end = ends[chance(ends.length)] ?? 'ran'
    const mine: Run = { kind, project, ask, consumed: 0, refused: end === 'refused' }
    runs.push(mine)
    const happens = end.startsWith('ran') || (end !== 'refused' && chance(2) === 0)
    const delayMs = chance(40)
    const take = () => {
      if (happens) mine.consumed = overrunOf(project)
    }
    if (chance(2) === 0) take()
    else setTimeout(take, delayMs)
    if (trap.passes('run', 'before')) return { kind: 'reset' }
    setTimeout(() => trap.passes('run', 'during'), delayMs / 2)
    return { ...answers[end](project), delayMs }
  }

  const written = () => void trap.passes('run', 'answered')
  const answers: Readonly<Record<End, (project: string) => Answer>> = {
    ran: (project) => ({ ...json({ response_code: 0, data: { keyword_units: overrunOf(project) } }), written }),
    'ran-empty': () => ({ status: 204, written }),
    refused: () => ({ status: 402, written }),
    status: () => ({ status: 503, body: 'busy', written }),
    html: () => ({ headers: { 'content-type': 'text/html' }, body: '<h1>Maintenance</h1>', written }),
    reset: () => ({ kind: 'reset' }),
    close: () => ({ kind: 'close' }),
    'reset-in-body': () => ({ kind: 'reset-in-body' }),
    hang: () => ({ kind: 'hang' }),
  }

  return {
    baseUrl: service.baseUrl,
    runs: runs as readonly Run[],
    tokens: () => new Set(service.requests.map(({ headers }) => headers.authorization)),
    setMood: (now: Mood) => {
      mood = now
    },
    close: service.close,
  }
}
