import { rawPathOf } from '../../shared/platform/http.ts'
import type { App } from './listener.ts'

const metricsPath = '/metrics'

/** Version 0.0.4 of Prometheus' text format. */
const contentType = 'text/plain; version=0.0.4; charset=utf-8'

/** Answers `GET /metrics` from what the caller's own token reads at `/budgets` and `/status`; other requests go on to the API. */
export const withMetrics = (api: App): App => ({
  fetch: (request, env) =>
    rawPathOf(request, { env }) === metricsPath ? answer(api, request) : api.fetch(request, env),
})

async function answer(api: App, request: Request): Promise<Response> {
  if (request.method !== 'GET') return new Response('only GET\n', { status: 405, headers: { allow: 'GET' } })
  const authorization = request.headers.get('authorization')
  const headers = { accept: 'application/json', ...(authorization !== null && { authorization }) }
  const read = (path: string) => api.fetch(new Request(new URL(path, request.url), { headers }), {})
  const [budgets, status] = await Promise.all([read('/budgets'), read('/status')])
  if (!budgets.ok) return budgets
  // Callers who read only some budgets may not read the status.
  if (!status.ok && status.status !== 403) return status
  const seen = status.ok ? ((await status.json()) as Status) : null
  const text = metricsText((await budgets.json()) as Budgets, seen, Date.now())
  return new Response(text, { headers: { 'content-type': contentType, 'cache-control': 'no-store' } })
}

interface Budgets {
  readonly budgets: readonly {
    readonly name: string
    readonly windows: readonly (Readonly<Record<Figure, number | 'unlimited' | null>> & { readonly window: string })[]
  }[]
}

interface Status {
  readonly version: string
  readonly troubles: readonly { readonly slug: string }[]
  readonly sweptAt: string | null
  readonly backedUpAt: string | null
  readonly waiting: Readonly<Record<'requested' | 'awaitingApproval' | 'inDoubt', number>>
}

type Labels = Readonly<Record<string, string>>
type Sample = readonly [labels: Labels, value: number]

const figures = {
  limit: 'Units that the window allows, without grants. Absent without a limit.',
  available: 'Units left. Absent without a limit.',
  held: 'Units held for running updates.',
  inDoubt: 'Units of updates in doubt.',
  spent: 'Units spent.',
} as const
type Figure = keyof typeof figures

const states = { requested: 'requested', awaitingApproval: 'awaiting-approval', inDoubt: 'in-doubt' } as const

/** @param status `null`: hidden from the caller. */
export const metricsText = ({ budgets }: Budgets, status: Status | null, now: number): string =>
  [...budgetMetrics(budgets), ...(status ? statusMetrics(status, now) : [])].join('')

function budgetMetrics(budgets: Budgets['budgets']): string[] {
  const rows = budgets.flatMap(({ name, windows }) => windows.map((of) => ({ budget: name, of })))
  return Object.entries(figures).map(([figure, help]) =>
    gauge(
      `units_${figure === 'inDoubt' ? 'in_doubt' : figure}`,
      help,
      rows.flatMap(({ budget, of }): Sample[] => {
        const value = of[figure as Figure]
        return typeof value === 'number' ? [[{ budget, window: of.window }, value]] : []
      }),
    ),
  )
}

function statusMetrics(status: Status, now: number): string[] {
  const ages = { sweep: status.sweptAt, backup: status.backedUpAt }
  return [
    gauge('info', 'The version that answers.', [[{ version: status.version }, 1]]),
    gauge(
      'updates_waiting',
      'Updates that have not ended, by state.',
      Object.entries(states).map(([name, state]): Sample => [{ state }, status.waiting[name as keyof typeof states]]),
    ),
    ...Object.entries(ages).map(([what, at]) =>
      gauge(
        `${what}_age_seconds`,
        `Time since the last ${what}. Absent before the first one.`,
        at === null ? [] : [[{}, Math.max(0, now - Date.parse(at)) / 1000]],
      ),
    ),
    gauge(
      'trouble',
      'A trouble that lasts now; /status has its sentence.',
      [...new Set(status.troubles.map(({ slug }) => slug))].map((slug): Sample => [{ slug }, 1]),
    ),
  ]
}

function gauge(name: string, help: string, samples: readonly Sample[]): string {
  const full = `unit_guard_${name}`
  const lines = samples.map(([labels, value]) => `${full}${labelsText(labels)} ${value}\n`)
  return `# HELP ${full} ${help}\n# TYPE ${full} gauge\n${lines.join('')}`
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' }

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (character) => escapes[character] ?? '')}"`,
  )
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}
