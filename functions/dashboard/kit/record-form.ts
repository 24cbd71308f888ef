import { count } from '../../../shared/guard/sentences.ts'
import {
  limitOf,
  type WindowKind,
  type WindowLimit,
  windowKinds,
} from '../../../shared/ledger/definitions/definitions.ts'
import { allFaults } from '../../../shared/platform/faults.ts'
import type { Member, Members, ValueKind } from '../../../shared/records/record.ts'
import type { FieldFaults } from '../flash.ts'
import { asSentence, toNumber } from '../forms.ts'
import type { EditField } from './edit.tsx'
import { noOrYes } from './fields.tsx'

type FieldName<Table extends Members> = {
  [Name in keyof Table]: Table[Name]['value'] extends 'limits'
    ? WindowKind
    : Table[Name] extends { readonly label: string }
      ? Name
      : never
}[keyof Table] &
  string

/** The texts of the fields. Spaces separate the names of a list. */
export type TextsOf<Table extends Members> = Readonly<Record<FieldName<Table>, string>>

interface Field extends Member {
  readonly name: string
  readonly label: string
}

/** Each member with a label has one field, but limits have one field for each window. */
const fieldsOf = (members: Members): readonly Field[] =>
  Object.entries(members).flatMap(([name, member]) => {
    const { label, value } = member
    if (label === undefined) return []
    if (value !== 'limits') return [{ ...member, name, label }]
    return windowKinds.map((window) => ({ ...member, name: window, label: `${label} per ${window}` }))
  })

interface Conversion {
  show(stored: never): string
  /** Equal values get equal texts. */
  normalize(text: string, field: Field): string
  /** Reads a text that is not empty. `undefined`: the member is absent. */
  read(text: string): unknown
}

const plain: Conversion = { show: (stored = '') => stored, normalize: (text) => text, read: (text) => text }
const number: Conversion = {
  show: (stored: number | string = '') => (typeof stored === 'number' ? count(stored) : stored),
  normalize: (text) => (Number.isNaN(toNumber(text)) ? text : count(toNumber(text))),
  read: toNumber,
}
const limit: Conversion = {
  ...number,
  normalize: (text, field) =>
    isUnlimited(text) || (text === '' && !field.isRequired) ? 'unlimited' : number.normalize(text, field),
  read: () => undefined,
}
const isUnlimited = (text: string) => text.toLowerCase() === 'unlimited'
const numbers: Conversion = {
  show: (stored: readonly number[] = []) => stored.join(', '),
  normalize: (text) =>
    text
      .replace(/[\s,;%]+/g, ' ')
      .trim()
      .replaceAll(' ', ', '),
  read: (text) => text.split(', ').map(toNumber),
}
const words: Conversion = {
  show: (stored: string | readonly string[] = []) => [stored].flat().join(' '),
  normalize: (text) => text.replace(/\s+/g, ' '),
  read: (text) => text.split(' '),
}
const yes: Conversion = {
  show: (stored?: boolean) => (stored ? 'yes' : 'no'),
  normalize: (text) => (text === 'yes' ? 'yes' : 'no'),
  read: (text) => text === 'yes' || undefined,
}
const no: Conversion = {
  show: (stored?: boolean) => (stored === false ? 'no' : 'yes'),
  normalize: (text) => (text === 'no' ? 'no' : 'yes'),
  read: (text) => (text === 'no' ? false : undefined),
}

const conversions: Readonly<Record<ValueKind, Conversion>> = {
  units: number,
  number,
  numbers,
  limits: limit,
  yes,
  flag: yes,
  no,
  texts: words,
  budgets: words,
  text: plain,
  choice: plain,
  projects: plain,
  stop: plain,
}

const shownField = ({ name, note, value, choices, isRequired }: Field): EditField => {
  const conversion = conversions[value]
  const common = { name, note, ...(isRequired && { isRequired }) }
  const offered = choices ?? (conversion === yes ? noOrYes : undefined)
  if (offered) return { ...common, choices: offered }
  if (conversion === words) return { ...common, as: 'lines' }
  return { ...common, ...([number, limit].includes(conversion) && { as: 'number' }) }
}

/** Converts a record into the texts of its form and back. */
export function recordForm<Table extends Members>(members: Table) {
  type Name = FieldName<Table>
  type Texts = TextsOf<Table>
  const fields = fieldsOf(members)
  const each = <Of>(of: (field: Field, conversion: Conversion, name: Name) => Of) =>
    Object.fromEntries(
      fields.map((field) => [field.name, of(field, conversions[field.value], field.name as Name)]),
    ) as Record<Name, Of>
  const labels: Texts = each(({ label }) => label)
  const names = Object.keys(labels) as Name[]
  return {
    labels,
    names,
    textsOf(record: { readonly limits?: readonly WindowLimit[] }): Texts {
      const limits = windowKinds.map(
        (window) => [window, limitOf({ name: '', limits: [], ...record }, window)] as const,
      )
      const stored: Readonly<Record<string, unknown>> = { ...record, ...Object.fromEntries(limits) }
      return each(({ name }, { show }) => show((stored[name] ?? undefined) as never))
    },
    textsIn: (form: URLSearchParams, otherwise: Texts): Texts =>
      each((field, { normalize }, name) =>
        form.has(name) ? normalize(form.getAll(name).join(' ').trim(), field) : otherwise[name],
      ),
    /** @param others are members that the texts do not hold. `undefined` leaves a member out. */
    bodyOf(texts: Texts, others: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
      const values = each((_field, { read }, name) => (texts[name] === '' ? undefined : read(texts[name])))
      return Object.fromEntries(Object.entries({ ...values, ...others }).filter(([, value]) => value !== undefined))
    },
    shown(name: Name, text: string): string {
      const { value, choices = [] } = fields.find((field) => field.name === name) ?? { value: 'text' }
      const [, chosen] = choices.find(([choice]) => choice === text) ?? []
      return chosen ?? ((conversions[value] === words ? text.replaceAll(' ', ', ') : text) || 'none')
    },
    fieldsIn: (section: string) => fields.filter((field) => field.section === section).map(shownField),
  }
}

/** @param always is a window that is included even if it is unlimited. */
export const limitsIn = (texts: Readonly<Record<WindowKind, string>>, always?: WindowKind) =>
  windowKinds
    .filter((window) => window === always || !isUnlimited(texts[window]))
    .map((window) => ({ window, units: isUnlimited(texts[window]) ? 'unlimited' : toNumber(texts[window]) }))

/** @param limits are needed to show the fault of a limit at the field of its window. */
export function faultsOf(
  issues: Parameters<typeof allFaults>[1],
  limits: readonly { readonly window: WindowKind }[] = [],
): FieldFaults {
  const faults = allFaults([], issues).map(({ path, message }) => {
    const [member = '', position = ''] = path.split('.')
    const field = member === 'limits' ? (limits[Number(position)]?.window ?? 'month') : member
    return [field, asSentence(message)] as const
  })
  return Object.fromEntries(faults.toReversed())
}
