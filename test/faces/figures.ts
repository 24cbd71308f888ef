import type { openBrowser, Shown } from '../support/browser/browser.ts'
import type { listenForAgents } from '../support/mcp.ts'
import { json, type Product } from '../support/product.ts'
import { textsOf } from '../support/slack/slack.ts'

/** One figure as one face shows it. Faces that show the same `about` must show the same `value`. */
export interface Figure {
  readonly face: string
  readonly about: string
  readonly value: number
}

export interface Faces {
  readonly product: Product
  readonly browser: ReturnType<typeof openBrowser>
  /** A session lasts less than a month. */
  readonly logIn: () => Promise<unknown>
  readonly agent: Awaited<ReturnType<Awaited<ReturnType<typeof listenForAgents>>['connect']>>
}

/** Everything that the faces show of the month now. @param budget is read on pages of its own. */
export async function readFaces(faces: Faces, budget: string): Promise<readonly Figure[]> {
  const all: Figure[] = []
  for (const read of [budgetsOfHttp, budgetsOfCsv, pages, budgetPage, slack, agents, statements, updates, waiting])
    all.push(...(await read(faces, budget)))
  return all
}

/** The figures that two faces show differently, as sentences. */
export function differencesIn(figures: readonly Figure[]): readonly string[] {
  const seen = new Map<string, Map<number, string[]>>()
  for (const { face, about, value } of figures) {
    const values = seen.get(about) ?? new Map<number, string[]>()
    values.set(value, [...(values.get(value) ?? []), face])
    seen.set(about, values)
  }
  return [...seen].flatMap(([about, values]) =>
    values.size === 1
      ? []
      : `${about}: ${[...values].map(([value, faces]) => `${value} (${faces.join(', ')})`).join(' but ')}`,
  )
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read as callers read them, without knowing our types.
type Body = any

const number = (text: string): number => Number(text.replaceAll(',', '').replaceAll('−', '-'))

const figure = (face: string, about: string, value: number): Figure => ({ face, about, value })

let readers = 0

/** Each file is read by a caller of its own, because their number is limited for each caller. */
const csvOf = async (
  { call, signed, inDays }: Product,
  path: string,
): Promise<readonly Readonly<Record<string, string>>[]> => {
  const token = signed({ sub: `csv-${++readers}`, scope: 'read', budgets: '*', exp: inDays(1) })
  const { status, text } = await call('GET', path, { token, headers: { ...json, accept: 'text/csv' } })
  if (status !== 200) throw new Error(`${path}: ${status}`)
  const [head = '', ...lines] = text.trim().split('\r\n')
  const names = head.split(',')
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, at) => [names[at] ?? '', cell])))
}

/** The cells of each table's rows by their column, and the row's name as `''`. */
const rowsIn = ({ html }: Shown): readonly Readonly<Record<string, string>>[] =>
  [...html.matchAll(/<tr[^>]*><th scope="row">(.*?)<\/th>(.*?)<\/tr>/gs)].map(([, head = '', cells = '']) => ({
    '': head.replace(/<[^>]+>/g, ''),
    ...Object.fromEntries(
      [...cells.matchAll(/<td data-name="([^"]*)"[^>]*>(.*?)<\/td>/gs)].map(([, name = '', cell = '']) => [
        name,
        cell.replace(/<span class="note.*/s, '').replace(/<[^>]+>/g, ''),
      ]),
    ),
  }))

const ofWindow = (face: string, { name, windows }: Body): Figure[] => {
  const {
    window: _window,
    start: _start,
    end: _end,
    resetsAt: _at,
    childrenLimit: _children,
    ...figures
  } = windows.find(({ window }: Body) => window === 'month')
  const limited: Body = { ...figures, 'limit and grants': figures.limit + figures.granted }
  return Object.entries(limited).flatMap(([what, value]) =>
    typeof value === 'number' && !Number.isNaN(value) ? figure(face, `${name} ${what}`, value) : [],
  )
}

async function budgetsOfHttp({ product: { call } }: Faces, budget: string): Promise<Figure[]> {
  const { body } = await call('GET', '/budgets')
  const one = (await call('GET', `/budgets/${budget}`)).body
  return [
    ...body.budgets.flatMap((each: Body) => ofWindow('GET /budgets', each)),
    ...ofWindow('GET /budgets/{name}', one),
  ]
}

const budgetsOfCsv = async ({ product }: Faces): Promise<Figure[]> =>
  (await csvOf(product, '/budgets')).map(({ name, left = '' }) =>
    figure('CSV of budgets', `${name} available`, Number(left)),
  )

const columns: Readonly<Record<string, string>> = {
  Left: 'available',
  Spent: 'spent',
  'Limit and grants': 'limit and grants',
  'Left at reset': 'left at the reset',
  'Plans to come': 'committed',
}

async function pages({ browser }: Faces): Promise<Figure[]> {
  const all: Figure[] = []
  for (const path of ['/', '/dashboard/budgets']) {
    for (const { '': name = '', ...cells } of rowsIn(await browser.get(path)))
      for (const [column, what] of Object.entries(columns)) {
        const shown = /^−?[\d,]+$/.exec(cells[column] ?? '')?.[0]
        if (shown !== undefined) all.push(figure(`page ${path}`, `${name} ${what}`, number(shown)))
      }
  }
  return all
}

async function budgetPage({ browser }: Faces, budget: string): Promise<Figure[]> {
  const { text } = await browser.get(`/dashboard/budgets/${budget}`)
  const found = (pattern: RegExp, what: string) => {
    const shown = pattern.exec(text)?.[1]
    return shown === undefined ? [] : figure('page of the budget', `${budget} ${what}`, number(shown))
  }
  return [
    found(/(−?[\d,]+) of [\d,]+ units left/, 'available'),
    found(/ Spent (−?[\d,]+) /, 'spent'),
    found(/ Held ([\d,]+) /, 'held'),
    found(/ In doubt ([\d,]+) /, 'inDoubt'),
    found(/ Plans to come ([\d,]+) /, 'committed'),
  ].flat()
}

async function slack({ product }: Faces, budget: string): Promise<Figure[]> {
  const all: Figure[] = []
  product.slack.news()
  for (const text of ['', budget]) {
    await product.slack.command(text, { user: 'U1BEA' })
    await product.deliver()
    const shown = product.slack.news().flatMap(textsOf).join('\n\n')
    for (const paragraph of shown.split('\n\n')) {
      const [, name = '', left = ''] = /\*([\w-]+)\* · (−?[\d,]+) of [\d,]+ units left this month/.exec(paragraph) ?? []
      const line = /^.*% used · .*$/m.exec(paragraph)?.[0] ?? ''
      if (name === '') continue
      all.push(figure(`/units ${text}`, `${name} available`, number(left)))
      // The budgets that come last have only a title.
      if (line === '') continue
      for (const [word, what] of [
        ['spent', 'spent'],
        ['held', 'held'],
        ['in doubt', 'inDoubt'],
      ]) {
        const units = new RegExp(`(−?[\\d,]+) ${word}`).exec(line)?.[1]
        all.push(figure(`/units ${text}`, `${name} ${what}`, units === undefined ? 0 : number(units)))
      }
    }
  }
  return all
}

async function agents({ agent, product: { call } }: Faces, budget: string): Promise<Figure[]> {
  const { data } = await agent.call('list_budgets')
  const one = (await agent.call('get_budget', { name: budget })).data
  const forecasts = async (face: string, { budgets }: Body) =>
    budgets.flatMap((each: Body) =>
      each.window !== 'month'
        ? []
        : [
            figure(face, `${each.budget} available`, each.available),
            figure(face, `${each.budget} committed`, each.committed),
            figure(face, `${each.budget} left at the reset`, each.available - each.committed),
          ],
    )
  return [
    ...data.budgets.flatMap((each: Body) => ofWindow('agent list_budgets', each)),
    ...ofWindow('agent get_budget', one),
    ...(await forecasts('agent forecast', (await agent.call('forecast')).data)),
    ...(await forecasts('GET /forecast', (await call('GET', '/forecast')).body)),
  ]
}

async function statements({ product, browser }: Faces): Promise<Figure[]> {
  const all: Figure[] = []
  for (const by of ['budget', 'project', 'caller'] as const) {
    const { body } = await product.call('GET', `/statements?by=${by}`)
    const face = `GET /statements?by=${by}`
    if (body.book.addsUp !== true)
      all.push(figure(face, 'the statement adds up', 0), figure('book', 'the statement adds up', 1))
    all.push(figure(face, 'account spent', body.total.charged + body.total.external))
    all.push(figure(face, 'settled updates', body.total.updates), figure(face, 'charged', body.total.charged))
    const rows = await csvOf(product, `/statements?by=${by}`)
    const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name] ?? 0), 0)
    all.push(figure(`CSV by ${by}`, 'account spent', sum('charged') + sum('external')))
    all.push(figure(`CSV by ${by}`, 'settled updates', sum('updates')))
    const page = rowsIn(await browser.get(`/dashboard/statements?by=${by}`))
    const total = page.find((row) => row[''] === 'Total')
    if (total) all.push(figure(`page by ${by}`, 'charged', number(total.Charged ?? '')))
    if (by !== 'project') continue
    for (const { project, updates } of body.rows as Body[])
      if (project !== null) all.push(figure(face, `settled updates of ${project}`, updates))
  }
  return all
}

async function updates({ product: { call, guard }, browser }: Faces, budget: string): Promise<Figure[]> {
  const { month } = await guard.ledger.view()
  const all: Figure[] = []
  let [charged, count] = [0, 0]
  let cursor = ''
  const since = new Date(month.start - 8 * 86_400_000).toISOString()
  do {
    const { body } = await call('GET', `/updates?limit=100&since=${since}${cursor}`)
    for (const update of body.updates) {
      if (update.window !== month.name) continue
      charged += update.units.charged ?? 0
      if (update.state !== 'settled') continue
      count++
    }
    cursor = body.next === undefined ? '' : `&cursor=${encodeURIComponent(body.next)}`
  } while (cursor !== '')
  all.push(figure('GET /updates', 'charged', charged), figure('GET /updates', 'settled updates', count))
  // A row of a statement, and the list that it opens.
  const project = `${budget}.example`
  const listed = await call('GET', `/updates?limit=100&state=settled&project=${project}&since=${since}`)
  const ofMonth = listed.body.updates.filter((update: Body) => update.window === month.name)
  all.push(figure('GET /updates?project=', `settled updates of ${project}`, ofMonth.length))
  const page = await browser.get(`/dashboard/updates?state=settled&project=${project}&window=all`)
  const rows = page.text.match(
    new RegExp(`${project.replace('.', '\\.')} \\d+ (?:ranking|keyword-difficulty) ✓ settled`, 'g'),
  )
  if (listed.body.updates.length < 25)
    all.push(figure('page of updates', `settled updates of all time of ${project}`, rows?.length ?? 0))
  all.push(figure('GET /updates?project=', `settled updates of all time of ${project}`, listed.body.updates.length))
  return all
}

async function waiting({ product, browser }: Faces): Promise<Figure[]> {
  const { body } = await product.call('GET', '/status')
  const { awaitingApproval, inDoubt } = body.waiting
  const inbox = /To decide: ([\d,]+)/.exec((await browser.get('/dashboard/inbox')).text)?.[1] ?? ''
  const overview = /To decide ([\d,]+)/.exec((await browser.get('/')).text)?.[1] ?? ''
  return [
    figure('GET /status', 'to decide', awaitingApproval + inDoubt),
    figure('page Inbox', 'to decide', number(inbox)),
    figure('page Overview', 'to decide', number(overview)),
  ]
}
