import type { BudgetDifference } from '../../shared/guard/applying.ts'
import { parseStrictJson } from '../../shared/tracking/strict-json.ts'
import type { BudgetsFile, ShownBudget } from './budgets-file.ts'
import type { OwnedProject } from './budgets-ids.ts'
import { projectsIn } from './doctor-reading.ts'
import { CannotGoOn, hintFor, reasonOf } from './failures.ts'

/** What a file made, or would make. */
export interface Applied {
  readonly revision: number
  readonly differences: readonly BudgetDifference[]
}

/** What the lists add is a help: a service that hangs must not hold up the budgets. */
const listsWithinMs = 10_000

const wrongToken =
  'UNIT_GUARD_TOKEN is not valid there: source the env file again, or make a token with npm run --silent token.'

/** The budgets of a Unit Guard that runs somewhere, by its own HTTP API. */
export function createBudgetsService({ url, token }: { url: string; token: string }) {
  const origin = url.replace(/\/$/, '')

  async function send(method: 'GET' | 'PUT', path: string, etag?: string, body?: object) {
    const response = await fetch(`${origin}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(etag !== undefined && { 'if-match': etag }),
      },
      ...(body && { body: JSON.stringify(body) }),
    }).catch((cause) => {
      throw new CannotGoOn(`Unit Guard at ${url} does not answer: ${reasonOf(cause)}${hintFor(reasonOf(cause))}`, {
        cause,
      })
    })
    const answer = (await response.json().catch(() => ({}))) as Applied & Refused & { budgets: readonly ShownBudget[] }
    return { status: response.status, etag: response.headers.get('etag') ?? '', answer }
  }

  /** @throws CannotGoOn */
  async function read(): Promise<{ budgets: readonly ShownBudget[]; etag: string }> {
    const { status, etag, answer } = await send('GET', '/budgets')
    if (status === 401) throw new CannotGoOn(wrongToken)
    if (status !== 200) throw new CannotGoOn(sentenceOf(status, answer))
    return { budgets: answer.budgets, etag }
  }

  /** @throws CannotGoOn also where somebody has changed anything since the revision of `etag`. */
  async function apply(
    file: BudgetsFile,
    how: { etag: string; dryRun: boolean; prune?: boolean; reason?: string },
  ): Promise<Applied> {
    const reason = how.reason ?? file.reason
    const body = { budgets: file.budgets, ...(reason !== undefined && { reason }) }
    const query = new URLSearchParams(how.dryRun ? { 'dry-run': 'true' } : {})
    for (const member of how.prune ? file.prunable : []) query.append('prune', member)
    const { status, answer } = await send('PUT', `/budgets?${query}`, how.etag, body)
    if (status === 200) return answer
    if (status === 412)
      throw new CannotGoOn('Somebody has changed something meanwhile, and nothing was applied; run it again.')
    throw new CannotGoOn(sentenceOf(status, answer, file))
  }

  /**
   * The projects of the service, by its free lists; `null` where it or the guard does not show them.
   *
   * @see The interface, "Market share": the second list has ids where the first may not.
   */
  async function listProjects(): Promise<readonly (readonly OwnedProject[])[] | null> {
    const first = await list('/v3/projects')
    if (first === null || first.some(({ id }) => id !== undefined)) return first && [first]
    return [first, (await list('/v3/marketshare/projects')) ?? []]
  }

  async function list(path: string): Promise<readonly OwnedProject[] | null> {
    const response = await fetch(`${origin}${path}`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(listsWithinMs),
    }).catch(() => null)
    const json = parseStrictJson((await response?.text().catch(() => '')) ?? '')
    return response?.ok && json.ok ? projectsIn(json.value) : null
  }

  return { read, apply, listProjects }
}

interface Refused {
  readonly detail?: string
  readonly errors?: readonly { readonly path: string; readonly message: string }[]
}

/** Every fault at the place in the file that it is about. */
function sentenceOf(status: number, { detail, errors }: Refused, file?: BudgetsFile): string {
  if (!file || !errors) return detail ?? `Unit Guard answers with status ${status}.`
  const lines = errors.map(({ path, message }) => {
    const [, position, member] = /^budgets\.(\d+)\.?(.*)$/.exec(path) ?? []
    const place = position === undefined ? path : [file.placeOf(Number(position)), member].filter(Boolean).join(', ')
    return `${place}: ${message}`
  })
  return `Nothing was applied:\n  ${lines.join('\n  ')}`
}
