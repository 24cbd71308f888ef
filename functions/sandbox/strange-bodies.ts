/** Chooses one of the options. The stand-in draws by a hash, tests draw by chance. */
export type Draw = <Option>(options: readonly [Option, ...Option[]]) => Option

type Members = Readonly<Record<string, unknown>>

/** Two of three times the first option, so that many answers are strange in one way only. */
const mostlyFirst = <Option>(draw: Draw, options: readonly [Option, ...Option[]]): Option =>
  draw([false, false, true]) ? draw(options) : options[0]

/** What an answer is about. The answer shows it, hides it, or says something else. */
export interface Facts {
  readonly project: string
  /** The units that the service takes for the update. */
  readonly units: number
  /** A scheduled date that is no data yet. */
  readonly next: string
}

/** More than an update costs. Some names of balances are also names of costs. */
const balance = 48_210

const besidesUnits: readonly [Members, ...Members[]] = [
  {},
  { balance },
  { account: { units_left: balance } },
  { limit: 100_000, used: 51_790 },
  { money: { cost_in_usd: 0.06 } },
  { cost: 0.06, currency: 'USD' },
]

/** They look like a price. No reader could tell if the price itself had a name that no one knows. */
const besidesKnownUnits: readonly [Members, ...Members[]] = [
  {},
  ...besidesUnits,
  { queue: { total: 321 } },
  { total: balance },
  { plan: { units: balance } },
]

/** An update may have started whatever these say, but the first ones do not deny it. */
const signs = ({ project }: Facts): readonly [Members, ...Members[]] => [
  {},
  { response_code: 0 },
  { response_code: '00', message: 'queued' },
  { response_code: 200, message: 'queued' },
  { success: true },
  { ok: true },
  { status: 'ok' },
  { status: `Update of ${project} queued` },
  { error: null, errors: [] },
  { error: 'none' },
  { error: '0', status: 'queued' },
  { error: { code: 0, message: 'Success' } },
  { queued: 12, failed: 0 },
  { status_code: 20_000, tasks: [{ id: '1' }] },
  { error: '2 keywords have no search volume and were skipped' },
  { search_metadata: { status: 'Success', credits: 1 }, error: 'no results' },
  { response_code: 10, message: 'already scheduled' },
  { success: true, error: 'Already scheduled for today' },
  { success: false },
  { ok: false, task: 7 },
  { status: 'error' },
  { status: '402' },
  { statusCode: 400, message: 'bad' },
  { result: null, errors: [{ code: 1, string: 'no rights' }] },
  { details: { error: 'quota' } },
  { rows: [{ project, error: 'unknown' }] },
]

type Wrap = (inside: unknown) => unknown

const wraps: readonly [Wrap, ...Wrap[]] = [
  (inside) => inside,
  (data) => ({ data }),
  (result) => ({ result }),
  (response) => ({ response }),
  (inside) => ({ results: [inside] }),
  (inside) => [inside],
  (attributes) => ({ data: { type: 'update', attributes } }),
  (body) => ({ payload: { body } }),
]

/** Signs stand at the top, or beside what the answer is about. */
function compose(draw: Draw, members: Members, besides: Members): unknown {
  const wrap = mostlyFirst(draw, wraps)
  if (draw([true, false])) return wrap(withMembers(members, besides))
  const wrapped = wrap(members)
  return isMembers(wrapped) ? withMembers(besides, wrapped) : wrapped
}

const withMembers = (first: Members, second: Members): Members => ({ ...first, ...second })

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const knownNames = ['keyword_units', 'units', 'estimated_units', 'requiredUnits', 'estimate', 'cost', 'total'] as const
const otherNames = ['price', 'credits', 'needed', 'Keyword Units', 'unit_count'] as const

/** The name of the units, and what else stands beside them. */
function drawUnits(draw: Draw): { readonly name: string; readonly besides: Members } {
  if (draw([false, false, false, true])) return { name: draw(otherNames), besides: mostlyFirst(draw, besidesUnits) }
  return { name: mostlyFirst(draw, knownNames), besides: mostlyFirst(draw, besidesKnownUnits) }
}

const spellings: readonly [(units: number) => unknown, ...((units: number) => unknown)[]] = [
  (units) => units,
  (units) => String(units),
  (units) => `${units} units`,
  (units) => `${units}.00`,
  (units) => units.toLocaleString('en-US'),
  (units) => [units],
]

/** @returns the text of a body. */
export function strangeEstimate(draw: Draw, facts: Facts): string {
  const { project, units } = facts
  const { name, besides } = drawUnits(draw)
  const price = mostlyFirst(draw, spellings)(units)
  const noPrice = { units: 0, message: 'not enough keyword units' }
  const forms: readonly [Members, ...Members[]] = [
    { [name]: price },
    { project, [name]: price },
    { projects: [{ project, [name]: price }] },
    { projects: { [project]: { [name]: price } } },
    { projects: [{ project, [name]: price }], total: 1 },
    { [name]: price, keywords: Array.from({ length: 3 }, (_, index) => ({ name: `keyword ${index}` })) },
    draw<Members>([noPrice, { success: false, cost: 0 }, { units: 0 }]),
  ]
  const members = withMembers(besides, mostlyFirst(draw, forms))
  const whole = mostlyFirst(draw, ['members', 'number', 'text', 'page'] as const)
  if (whole === 'number') return JSON.stringify(price)
  if (whole === 'text') return `${project} needs ${units} keyword units\n`
  if (whole === 'page') return `<!doctype html><p>${units} keyword units</p>\n`
  return JSON.stringify(compose(draw, members, mostlyFirst(draw, signs(facts))))
}

/** What a run answers whose units were taken. @returns the text of a body. */
export function strangeRun(draw: Draw, facts: Facts): string {
  const { project, units } = facts
  const { name, besides } = drawUnits(draw)
  const stated: readonly [Members, ...Members[]] = [
    { project, status: 'queued' },
    { [name]: mostlyFirst(draw, spellings)(units) },
    { task: 7 },
    { units: 0 },
    { units: 94_000 },
    { units_after: balance, [name]: units },
  ]
  const members = withMembers(besides, mostlyFirst(draw, stated))
  const body = JSON.stringify(compose(draw, members, mostlyFirst(draw, signs(facts))))
  return mostlyFirst(draw, [body, ...bareBodies, '<!doctype html><p>Queued</p>\n', '{"a":1,"a":2}', '{"status":'])
}

const bareBodies = ['', '{}', '[]', 'null', 'true', 'false', '[false]', '7', '"queued"', '"failed"'] as const

/** What a run answers that took nothing, with the service's status or with 200. @returns the text of a body. */
export const strangeRefusal = (draw: Draw, { project }: Facts, reason: string): string =>
  JSON.stringify(
    draw<unknown>([
      { response_code: 26, message: reason },
      { success: false, message: reason },
      { result: null, errors: [{ code: 1, string: reason }] },
      [{ project, error: reason }],
      `failed - ${reason}`,
      false,
    ]),
  )

const dateForms: readonly [(date: string) => unknown, ...((date: string) => unknown)[]] = [
  (date) => date,
  (date) => `${date}T05:00:00Z`,
  (date) => ({ date }),
  (date) => ({ day: `${date}T05:00:00+00:00`, keywords: 12 }),
  (date) => `${date} 05:00:00`,
  (date) => date.replaceAll('-', ''),
  (date) => Date.parse(date) / 1000,
  (date) => `${date.slice(5, 7)}/${date.slice(8)}/${date.slice(0, 4)}`,
]

/** @param dates oldest first. @returns the text of a body. */
export function strangeDates(draw: Draw, facts: Facts, dates: readonly string[]): string {
  const ordered = mostlyFirst(draw, [dates, dates.toReversed()])
  const list = ordered.map(mostlyFirst(draw, dateForms))
  const byDate = Object.fromEntries(ordered.map((date) => [date, { keywords: 12 }]))
  const shown = mostlyFirst<unknown>(draw, [list, byDate])
  const name = mostlyFirst(draw, ['dates', 'available', 'days', 'history'] as const)
  const besides = mostlyFirst<Members>(draw, [{}, { next_update: facts.next }, { schedule: { next: facts.next } }])
  if (mostlyFirst(draw, [false, true])) return JSON.stringify(shown)
  return JSON.stringify(compose(draw, withMembers(besides, { [name]: shown }), mostlyFirst(draw, signs(facts))))
}
