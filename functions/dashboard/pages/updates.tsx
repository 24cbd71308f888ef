import * as z from 'zod/mini'
import { answerCsv, csvPage } from '../../../shared/api/csv.ts'
import { updateColumns, updateFilterOf } from '../../../shared/api/updates.ts'
import { zoneOf } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { isTerminal, states, type Update, vias } from '../../../shared/ledger/updates/update.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { dayMs, toInstant } from '../../../shared/platform/clock.ts'
import { type Kinds, namesOf } from '../../../shared/tracking/kinds.ts'
import { Pages, type Paging, pagingFields } from '../components/cursor-links.tsx'
import { askForUpdate } from '../components/first-steps.tsx'
import { addressOf, budgetAddress, CallerName, InZone, StateName, Time, Units, words } from '../components/parts.tsx'
import { readFields } from '../forms.ts'
import type { PageRoutes, Visit } from '../session.tsx'

const rowsOfPage = 50

const isDate = (text: string) =>
  /^\d{4}-\d\d-\d\d$/.test(text) && new Date(Date.parse(text) || 0).toISOString().startsWith(text)
const date = z.string().check(z.refine(isDate, 'takes a date such as 2026-11-20'))

const part = z.string().check(z.maxLength(200, 'takes at most 200 characters'))
/** As for the API, but for dates instead of instants, and parts of names: people look for days, and know a name by half. */
function pageFilterOf(kinds: Kinds) {
  const { limit: _limit, cursor: _cursor, since: _since, until: _until, ...same } = updateFilterOf(kinds).shape
  return z.strictObject({
    ...same,
    search: z.exactOptional(part),
    since: z.exactOptional(date),
    until: z.exactOptional(date),
    ...pagingFields,
  })
}
type ListQuery = Omit<z.output<ReturnType<typeof pageFilterOf>>, keyof Paging>

const path = '/dashboard/updates'

export function addUpdateList({ page }: PageRoutes, { guard, kinds }: Services): void {
  const pageFilter = pageFilterOf(kinds)

  page(path, {
    GET: async ({ c, mustHave, show }) => {
      mustHave('read')
      const { cursor, trail, ...asked } = readFields(queryOf(c), pageFilter)
      const view = await guard.ledger.view()
      const { rows, next } = await guard.ledger.updates(toFilter(asked, zoneOf(view)), rowsOfPage, cursor)
      const paging = { ...(cursor !== undefined && { cursor }), ...(trail !== undefined && { trail }) }
      return show(
        'Updates',
        <>
          <Filters asked={asked} view={view} kinds={kinds} />
          {rows.length === 0 ? (
            <Nothing asked={asked} isEnd={next === undefined} />
          ) : (
            <Table rows={rows} zone={zoneOf(view)} />
          )}
          <Pages path={path} asked={asked} paging={paging} next={next} />
          <InZone zone={zoneOf(view)} />
        </>,
      )
    },
  })

  page(`${path}.csv`, {
    GET: async ({ c, mustHave, session }) => {
      mustHave('read')
      const { cursor: _, trail: _trail, ...asked } = readFields(queryOf(c), pageFilter)
      const filter = toFilter(asked, zoneOf(await guard.ledger.view()))
      c.get('expensiveReads').admit(session.sub)
      return answerCsv(c, 'updates', updateColumns, (after) => guard.ledger.updates(filter, csvPage, after))
    },
  })
}

const queryOf = (c: Visit['c']) => new URL(c.req.url).searchParams

/** From the first instant of the one day to the last of the other, both in the account's zone. */
function toFilter({ since, until, ...filter }: ListQuery, zone: string) {
  return {
    ...filter,
    ...(since !== undefined && { since: beginning(since, zone) }),
    ...(until !== undefined && { until: beginning(dayAfter(until), zone) - 1 }),
  }
}

function beginning(day: string, zone: string): number {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return toInstant({ year, month, day: date }, zone)
}

const dayAfter = (day: string) => new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10)

function Filters({ asked, view, kinds }: { asked: ListQuery; view: View; kinds: Kinds }) {
  const budgets = Object.keys(view.definitions.budgets)
  return (
    <form method="get" action={path} class="filters" aria-label="Which updates">
      <Choice name="state" label="State" options={states} chosen={asked.state} />
      <Choice name="kind" label="Kind" options={namesOf(kinds)} chosen={asked.kind} />
      <Choice name="budget" label="Budget" options={budgets} chosen={asked.budget} />
      <Choice name="via" label="Via" options={vias} chosen={asked.via} />
      <Text name="search" label="Project, or a part of it" value={asked.search} />
      <Text name="plan" label="Plan" value={asked.plan} />
      <Text name="caller" label="Caller" value={asked.caller} />
      <Text name="since" label="From" value={asked.since} type="date" />
      <Text name="until" label="To" value={asked.until} type="date" />
      {asked.project === undefined ? null : <Text name="project" label="Project, in full" value={asked.project} />}
      <p class="buttons">
        <button type="submit" class="primary">
          Show
        </button>
        <a href={path}>All updates</a>
      </p>
    </form>
  )
}

function Choice({
  name,
  label,
  options,
  chosen,
}: {
  name: string
  label: string
  options: readonly string[]
  chosen: string | undefined
}) {
  const isGone = chosen !== undefined && !options.includes(chosen)
  return (
    <p>
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        <option value="">any</option>
        {[...options, ...(isGone ? [chosen] : [])].map((option) => (
          <option value={option} selected={option === chosen}>
            {name === 'state' ? words(option) : option}
          </option>
        ))}
      </select>
    </p>
  )
}

const Text = (of: { name: string; label: string; value: string | undefined; type?: 'text' | 'date' }) => (
  <p>
    <label for={of.name}>{of.label}</label>
    <input id={of.name} name={of.name} type={of.type ?? 'text'} value={of.value ?? ''} autocomplete="off" />
  </p>
)

function Nothing({ asked, isEnd }: { asked: ListQuery; isEnd: boolean }) {
  if (!isEnd)
    return (
      <p class="empty">None of those that were looked at so far is like this; “Older” looks at those before them.</p>
    )
  return Object.keys(asked).length > 0 ? (
    <p class="empty">
      No update is like this. Plans and callers have to be named in full. <a href={path}>All updates</a>
    </p>
  ) : (
    <div class="empty">
      <p>
        Nobody has asked for an update yet. In a terminal, after <code>source .local/env</code>, or with an address and
        a token of yours:
      </p>
      <pre>
        <code>{askForUpdate()}</code>
      </pre>
    </div>
  )
}

const Table = ({ rows, zone }: { rows: readonly Update[]; zone: string }) => (
  <div class="wide">
    <table class="rows">
      <caption>Updates, the newest first; units as estimated and as charged</caption>
      <thead>
        <tr>
          <th scope="col">Asked for</th>
          <th scope="col">Project</th>
          <th scope="col">State</th>
          <th scope="col" class="number">
            Estimated
          </th>
          <th scope="col" class="number">
            Charged
          </th>
          <th scope="col">Budget</th>
          <th scope="col">Caller</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((update) => (
          <tr>
            <td data-name="Asked for">
              <Time at={update.createdAt} zone={zone} />
            </td>
            <th scope="row">
              <a href={addressOf(update.id)}>{update.project}</a>
              <span class="note">{update.kind}</span>
            </th>
            <td data-name="State">
              <StateName of={update.state} />
            </td>
            <td data-name="Estimated" class="number">
              <Units of={update.estimated} />
            </td>
            <td data-name="Charged" class="number">
              <Units of={update.charged ?? (isTerminal(update.state) ? 0 : null)} />
            </td>
            <td data-name="Budget">
              <a href={budgetAddress(update.budget)}>{update.budget}</a>
            </td>
            <td data-name="Caller">
              <CallerName of={update.caller} />
              <span class="note">via {update.via}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
