import type { Child } from 'hono/jsx'
import type * as z from 'zod/mini'
import { zoneOf } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import type { FieldFaults } from '../flash.ts'
import { readFields, readFilters } from '../forms.ts'
import { FilterForm, type FilterFormProps } from '../kit/filters.tsx'
import { Chips, type PageOfList, type Paging, pagingSchema, type Query } from '../kit/list.tsx'
import { ZoneNote } from '../kit/parts.tsx'
import type { PageRoutes, Visit } from '../kit/session.tsx'
import { type Period, Subhead } from './period.tsx'

/** A page of a period: its tabs, filters and table, and its rows as CSV. */
interface PeriodPage<Filters> {
  readonly title: string
  readonly path: string
  readonly schema: z.ZodMiniType<Filters>
  /** The filters that show a fault at their field. */
  readonly fields: readonly string[]
  /** Whether the reader may ask for all time. */
  readonly hasAll?: boolean
  /** @throws Refusal 400 */
  periodOf(view: View, filters: Filters): Period
  read(request: PeriodRequest<Filters>): Promise<PeriodParts>
  csv(visit: Visit, filters: Filters): Promise<Response>
}

export interface PeriodRequest<Filters> {
  readonly visit: Visit
  readonly view: View
  readonly period: Period
  readonly filters: Filters
  /** The filters as the address has them. */
  readonly query: Query
  readonly faults: FieldFaults
  readonly cursor: string | undefined
  pageOf(next: string | undefined): PageOfList
}

interface PeriodParts {
  readonly sums?: Child
  readonly actions?: Child
  readonly tabs: Omit<Parameters<typeof Chips>[0], 'path' | 'filters'>
  readonly form: Omit<FilterFormProps, 'path' | 'query' | 'faults'>
  readonly content: Child
}

export function addPeriodPage<Filters>({ page }: PageRoutes, of: PeriodPage<Filters>): void {
  const { title, path, schema, fields } = of

  page(path, {
    GET: async (visit) => {
      visit.mustHave('read')
      const [given, paging] = split(visit.query)
      const { filters, faults } = readFilters(given, schema, fields)
      const valid = [...given.keys()].filter((name) => !Object.hasOwn(faults, name))
      const query = Object.fromEntries(valid.map((name) => [name, given.get(name) || undefined]))
      const view = await visit.guard.ledger.view()
      const period = of.periodOf(view, filters)
      const pageOf = (next: string | undefined) => ({ path, filters: query, paging, next, faults })
      const request = { visit, view, period, filters, query, faults, cursor: paging.cursor, pageOf }
      const { sums, actions, tabs, form, content } = await of.read(request)
      const links = { path, filters: query, period, view, hasAll: of.hasAll }
      return visit.show(
        title,
        <>
          <Subhead {...links} sums={sums} actions={actions} />
          <Chips {...tabs} path={path} filters={query} />
          <FilterForm {...form} path={path} query={visit.query} faults={faults} />
          {content}
          <ZoneNote zone={zoneOf(view)} />
        </>,
      )
    },
  })

  page(`${path}.csv`, {
    GET: async (visit) => {
      visit.mustHave('read')
      const [given] = split(visit.query)
      const filters = readFields(given, schema)
      visit.c.get('expensiveReads').admit(visit.session.sub)
      return of.csv(visit, filters)
    },
  })
}

/** The filters, and the place in the list. @throws Refusal 400 */
function split(query: URLSearchParams): [filters: URLSearchParams, paging: Paging] {
  const filters = new URLSearchParams([...query].filter(([name]) => !Object.hasOwn(pagingSchema.shape, name)))
  return [filters, readFields(query, pagingSchema)]
}
