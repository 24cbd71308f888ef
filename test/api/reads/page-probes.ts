import type { openBrowser, Shown } from '../../support/browser/browser.ts'
import type { Product } from '../../support/product.ts'
import { membersOfQuery } from './asked-once.ts'

// A request to every page. The routes come from the app, so no page is forgotten.

export type Names = Readonly<
  Record<'budget' | 'project' | 'caller' | 'plan' | 'update' | 'entry' | 'id' | 'cursor', string>
>

type Browser = ReturnType<typeof openBrowser>
type Fields = Record<string, string | string[]>
export interface PageProbe {
  readonly what: string
  readonly route: string
  readonly members: readonly string[]
  send(browser: Browser, names: Names): Promise<Shown>
}

/** Pages without the name of a budget, plan or update have one address for all names. */
function targetOf(route: string, { budget, caller, plan, project, update, entry }: Names): string {
  const [, , room] = route.split('/')
  const name = { plans: plan, people: caller, projects: project }[room ?? ''] ?? budget
  return route
    .replace(':id', room === 'activity' ? entry : update)
    .replace(':name', name)
    .replace('*', 'unknown')
}

/** The filters of all pages. A page refuses the filters that it does not know. */
const queriesOf = ({ budget, project, caller, plan, update, entry, cursor, id }: Names): readonly string[] => [
  '',
  'window=month:2026-11-01',
  'window=month:2026-10-01',
  'window=all',
  'sort=name',
  'sort=spent',
  'show=frozen',
  ...['budget', 'project', 'caller'].map((by) => `by=${by}&price=0.01`),
  ...['settled', 'refused', 'in-doubt', 'awaiting-approval', 'rejected'].map((state) => `state=${state}`),
  `budget=${budget}`,
  `project=${project}`,
  `project=${id}`,
  `caller=${caller}`,
  `plan=${plan}`,
  `by=${caller}`,
  ...[project, budget, plan, caller, update, id, 'zed', 'store', 'shop', 'both'].map((text) => `q=${text}`),
  ...[project, 'e'].map((text) => `search=${text}`),
  ...['bookings', 'settings'].map((kind) => `kind=${kind}`),
  `kind=ranking&project=${project}`,
  `kind=ranking&project=${id}`,
  `kind=keyword-difficulty&project=${id}`,
  `kind=ranking&project=shop&budget=${budget}`,
  'kind=ranking&project=shared',
  'kind=ranking&project=dear',
  `sub=${caller}`,
  `corrects=${entry}`,
  'time=2026-11-20T09:55:00Z',
  'choose=approvals',
  'decide=',
  `cursor=${cursor}`,
  'since=2026-11-01',
  'until=2026-11-30',
]

/** The fields that the form of each route sends for these names. A new form needs a line here. */
const formsOf: Readonly<Record<string, (names: Names) => readonly Fields[]>> = {
  '/logout': () => [],
  '/dashboard/ask': ({ budget, project, id }) =>
    [
      { project, payer: 'acme', owner: 'acme' },
      { project: id, payer: 'acme', owner: 'acme' },
      { project: 'shop', budget, payer: budget },
      { project, budget, payer: budget, owner: budget },
      { project: 'fresh', budget, payer: budget },
    ].flatMap((fields) =>
      ['ask', 'ask-approval', 'force'].map((button) => ({
        kind: 'ranking',
        units: '40',
        key: `page-${'0'.repeat(26)}`,
        do: button,
        reason: 'mine',
        ...fields,
      })),
    ),
  '/dashboard/decide': ({ update }) =>
    ['update', 'inbox'].flatMap((from) =>
      ['approve', 'reject', 'cancel', 'ran', 'did-not-run'].flatMap((action): Fields[] => [
        { do: action, id: update, from, reason: 'mine', shown: `${update} 7321` },
        { one: `${action} ${update}`, from, [`note-${update}`]: 'mine', [`units-${update}`]: '9000' },
      ]),
    ),
  '/dashboard/decide-by-answers': ({ update }) =>
    ['ran 7321', 'did-not-run 0'].map((shown) => ({ proposed: `${update} ${shown}`, because: 'mine' })),
  '/dashboard/plans/:name/pause': () => [{ reason: 'mine' }],
  '/dashboard/plans/:name/resume': () => [{ reason: 'mine' }],
  '/dashboard/plans/:name/unsent': () => [{ time: '2026-11-20T09:55:00Z', version: '1', confirm: 'yes' }],
  '/dashboard/plans/:name/refused': () => [{ time: '2026-11-20T09:55:00Z', version: '1', confirm: 'yes' }],
  '/dashboard/updates/:id/charge': () => [
    { step: 'confirm', key: `page-${'1'.repeat(26)}`, units: '1', reason: 'mine' },
  ],
  '/dashboard/updates/:id/delivery': () => [
    { outcome: 'came', reason: 'mine' },
    { outcome: 'given-back', units: '1', reason: 'mine' },
  ],
  '/dashboard/activity/audit': () => [{}],
  '/dashboard/budgets': ({ budget }) => [{ name: budget, parent: 'acme', month: '5', day: 'unlimited' }],
  '/dashboard/budgets/:name/edit': () => [{ step: 'confirm', month: '5', reason: 'mine' }],
  '/dashboard/budgets/:name/book': ({ budget, entry }) => {
    const booking = { step: 'confirm', key: `page-${'1'.repeat(26)}`, reason: 'mine', units: '1', window: 'month' }
    return [
      { ...booking, type: 'grant' },
      { ...booking, type: 'transfer', to: budget },
      { ...booking, type: 'correction', corrects: entry },
    ]
  },
  '/dashboard/budgets/:name/projects': ({ project }) => [
    { do: 'add', name: project },
    { do: 'remove', project },
  ],
  '/dashboard/budgets/:name/freeze': () => [{ revision: '1', reason: 'mine' }],
  '/dashboard/budgets/:name/unfreeze': () => [{ revision: '1', reason: 'mine' }],
  '/dashboard/budgets/:name/delete': () => [{ revision: '1', reason: 'mine' }],
  '/dashboard/callers': ({ caller }) => [{ do: 'disable', sub: caller, reason: 'mine' }],
  '/dashboard/callers/edit': ({ caller }) => [{ step: 'confirm', sub: caller, disabled: 'yes', reason: 'mine' }],
  '/dashboard/callers/delete': ({ caller }) => [{ sub: caller, revision: '1', reason: 'mine' }],
}

const open = ['/docs', '/docs.css', '/openapi.json', '/problems/*', '/login']

/** The pages that need a session, each with its allowed methods. */
async function pagesOf({ dashboard }: Pick<Product, 'dashboard'>, browser: Browser) {
  const paths = new Set(dashboard.routes.map(({ path }) => path))
  const found: { route: string; allowed: readonly string[] }[] = []
  for (const route of paths) {
    if (open.includes(route) || /^\/?\*$|\.(css|svg)$/.test(route)) continue
    const at = route.replace(/:\w+/g, 'x').replace('*', 'x')
    const response = await dashboard.request(`http://localhost${at}`, {
      method: 'PUT',
      headers: { cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    found.push({ route, allowed: (response.headers.get('allow') ?? 'GET').split(', ') })
  }
  return found
}

/** @param none names that distinguish the probes. */
export async function pageProbesOf(
  product: Pick<Product, 'dashboard'>,
  browser: Browser,
  none: Names,
): Promise<readonly PageProbe[]> {
  const pages = await pagesOf(product, browser)
  const { formToken } = await browser.get('/dashboard/inbox')
  return pages.flatMap(({ route, allowed }) => {
    const gets = queriesOf(none).map((query, index) => ({
      what: `GET ${route} ${index}`,
      route,
      members: membersOfQuery(query),
      send: (b: Browser, names: Names) => b.get(`${targetOf(route, names)}?${queriesOf(names)[index]}`),
    }))
    const forms = allowed.includes('POST') ? formsOf[route] : () => []
    if (!forms) throw new Error(`the probe knows no form of ${route}`)
    const posts = forms(none).map((_, index) => ({
      what: `POST ${route} ${index}`,
      route: `POST ${route}`,
      members: [`${index}`],
      send: async (b: Browser, names: Names) => {
        const sent = await b.post(targetOf(route, names), { form: formToken, ...forms(names)[index] })
        if (sent.location === null) return sent
        const shown = await b.get(sent.location)
        return { ...shown, html: `${shown.html} ${sent.location}` }
      },
    }))
    return [...(allowed.includes('GET') ? gets : []), ...posts]
  })
}
