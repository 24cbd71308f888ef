import type { Child } from 'hono/jsx'
import type { FieldFaults } from '../flash.ts'
import { ChoiceField, FieldFault, HiddenFields, inputAttributes, TextField } from './fields.tsx'
import { addressWith, type Query } from './list.tsx'

interface Filter {
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'date'
  readonly isDecimal?: true
  /** The list also offers the current value, even if it is no longer an option. */
  readonly options?: readonly string[]
}

export interface FilterFormProps {
  readonly path: string
  readonly query: URLSearchParams
  readonly faults: FieldFaults
  /** For screen readers. */
  readonly label: string
  /** The choices of the page that stay: its tab and its period. */
  readonly hidden: Query
  /** Stands above the other fields, with its label inside. */
  readonly search?: Filter
  /** The title of the fold around the fields. It is open while one of them has a value. */
  readonly fold?: string
  readonly fields: readonly Filter[]
}

export function FilterForm({ path, query, faults, label, hidden, search, fold, fields }: FilterFormProps) {
  const fieldOf = (filter: Filter) => ({ formId: 'filter', value: query.get(filter.name) ?? '', faults, ...filter })
  const active = fields.filter(({ name }) => query.get(name)).length
  const show = [
    <button type="submit" class="primary">
      Show
    </button>,
    active > 0 || query.get(search?.name ?? '') ? <a href={addressWith(path, hidden)}>Clear filters</a> : null,
  ]
  const shownFields = (
    <div class="filters">
      {fields.map((filter) => (
        <FilterField {...fieldOf(filter)} />
      ))}
      {search ? null : <p class="buttons">{show}</p>}
    </div>
  )
  return (
    <form method="get" action={path} class="finder" aria-label={label}>
      <HiddenFields values={hidden} />
      {search ? <SearchField {...fieldOf(search)}>{show}</SearchField> : null}
      {fold === undefined ? (
        shownFields
      ) : (
        <details open={active > 0}>
          <summary>{active === 0 ? fold : `${fold} (${active} set)`}</summary>
          {shownFields}
        </details>
      )}
    </form>
  )
}

type FieldProps = Filter & { readonly formId: string; readonly value: string; readonly faults: FieldFaults }

function FilterField({ options, ...field }: FieldProps) {
  if (!options) return <TextField {...field} />
  const values = [...new Set(['', ...options, field.value])]
  return <ChoiceField {...field} options={values.map((value) => [value, value || 'any'])} />
}

const SearchField = ({ children, ...field }: FieldProps & { children: Child }) => (
  <>
    <div class="search">
      <label for={`filter-${field.name}`} class="hidden">
        {field.label}
      </label>
      <input
        id={`filter-${field.name}`}
        name={field.name}
        type="search"
        value={field.value}
        autocomplete="off"
        placeholder={field.label}
        {...inputAttributes(field)}
      />
      {children}
    </div>
    <FieldFault {...field} />
  </>
)
