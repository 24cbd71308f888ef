import type { Child } from 'hono/jsx'
import { count, countOf, when, zoneOf } from '../../../shared/guard/sentences.ts'
import { stateTexts } from '../../../shared/guard/states.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import {
  type Definitions,
  type RequestedProject,
  shownProject,
  unseenBudget,
} from '../../../shared/ledger/definitions/definitions.ts'
import type { State, Update } from '../../../shared/ledger/updates/update.ts'
import { dayMs, hourMs, minuteMs, onTheWall, toRfc3339 } from '../../../shared/platform/clock.ts'

/** With `isOfDay`, shows only the time of day. */
export const Time = ({ at, zone, isOfDay }: { at: number; zone: string; isOfDay?: true }) => (
  <time datetime={toRfc3339(at)} title={when(at, 'UTC')}>
    {isOfDay ? onTheWall(at, zone).slice(-'00:00'.length) : withYear(onTheWall(at, zone))}
  </time>
)

/** A phone hides the year in its list of updates. */
const withYear = (text: string): Child => {
  const [day, month, year, time] = text.split(' ')
  return [`${day} ${month} `, <span class="year">{`${year} `}</span>, time]
}

const agoUnits = [
  ['day', dayMs],
  ['hour', hourMs],
  ['minute', minuteMs],
] as const
/** Older times are shown as they are. */
const maxAgoMs = 14 * dayMs

/** `2 hours ago` or `in 15 hours`. Its title is the exact time, in UTC too. */
export function Ago({ at, view }: { at: number; view: View }) {
  const zone = zoneOf(view)
  const distance = Math.abs(view.now - at)
  if (distance > maxAgoMs) return <Time at={at} zone={zone} />
  const [name, ms] = agoUnits.find(([, ms]) => distance >= ms) ?? ['minute', minuteMs]
  const number = countOf(Math.floor(distance / ms), name)
  const isAhead = at > view.now
  const text = distance < minuteMs ? (isAhead ? 'now' : 'just now') : isAhead ? `in ${number}` : `${number} ago`
  return (
    <time datetime={toRfc3339(at)} title={[...new Set([zone, 'UTC'])].map((of) => when(at, of)).join(', ')} class="ago">
      {text}
    </time>
  )
}

/** For tables. Older times are exact, because people compare them with other books. */
export const RecentTime = ({ at, view }: { at: number; view: View }) =>
  view.now - at < dayMs ? <Ago at={at} view={view} /> : <Time at={at} zone={zoneOf(view)} />

/** `27 Nov` */
export const shortDay = (at: number, zone: string): string => onTheWall(at, zone).split(' ').slice(0, 2).join(' ')

/** `1 Nov 2026` for the day `2026-11-01`. */
export const dayNamed = (name: string): string => onTheWall(Date.parse(name), 'UTC').slice(0, -' 00:00'.length)

export const ZoneNote = ({ zone }: { zone: string }) => (
  <p class="note">
    {zone === 'UTC'
      ? 'All times are in UTC.'
      : `All times are in ${zone}, the time zone of the account. Point at a time to see it in UTC.`}
  </p>
)

/** Builds a sentence with links in it. */
export const say = (texts: TemplateStringsArray, ...parts: readonly Child[]): Child =>
  texts.flatMap((text, at) => [text, parts[at]])

export const joined = (parts: readonly Child[], by = ', '): Child =>
  parts.flatMap((part, at) => (at === 0 ? [part] : [by, part]))

export const LinkButtons = ({ links }: { links: readonly (readonly [label: string, to: string])[] }) =>
  links.length === 0 ? null : (
    <p class="buttons">
      {links.map(([label, to]) => (
        <a class="button" href={to}>
          {label}
        </a>
      ))}
    </p>
  )

export const Section = (props: { id: string; title: Child; class?: string; isHidden?: boolean; children: Child }) => (
  <section aria-labelledby={props.id} class={props.class}>
    <h2 id={props.id} class={props.isHidden ? 'hidden' : undefined}>
      {props.title}
    </h2>
    {props.children}
  </section>
)

export const Trail = (props: {
  label: string
  above: readonly (readonly [name: string, path: string])[]
  here: string
}) => (
  <nav aria-label={props.label} class="chain">
    <ol>
      {props.above.map(([name, path]) => (
        <li>
          <a href={path}>{name}</a>
        </li>
      ))}
      <li>
        <span aria-current="page">{props.here}</span>
      </li>
    </ol>
  </nav>
)

/** Not every user can see the colours, so each state has a sign. Not every font has the signs, so SVG draws them. */
const drawings = {
  check: 'M2.5 8.5l3.5 3.5 7.5-8',
  cross: 'M3.5 3.5l9 9m0-9l-9 9',
  warning: 'M8 1.5L15 14H1zM8 6v4M8 11.75v.5',
  exclamation: 'M8 2v7.5M8 12.5v1',
  clock: 'M8 1.5a6.5 6.5 0 1 0 .01 0M8 4.5V8l2.5 2',
  play: 'M4 2.5l9 5.5-9 5.5z',
  question: 'M5 5.5a3 3 0 1 1 4.2 2.8Q8 9 8 10.5M8 13v.5',
  back: 'M6 2.5L2.5 6 6 9.5M2.5 6H10a3.5 3.5 0 0 1 0 7H6',
  hourglass:
    'M3.5 1.5h9M3.5 14.5h9M4.5 1.5c0 4 3.5 4 3.5 6.5s-3.5 2.5-3.5 6.5M11.5 1.5c0 4-3.5 4-3.5 6.5s3.5 2.5 3.5 6.5',
} as const

export const Sign = ({ name }: { name: keyof typeof drawings }) => (
  <svg class={`sign sign-${name}`} viewBox="0 0 16 16" aria-hidden="true">
    <path d={drawings[name]} />
  </svg>
)

export const Warning = ({ children, isAlert }: { children: Child; isAlert?: true }) => (
  <p class={isAlert ? 'failed' : 'warning'} role={isAlert && 'alert'}>
    <Sign name="warning" /> {children}
  </p>
)

export const StateName = ({ state, text = words(state) }: { state: State; text?: string | undefined }) => (
  <span class={`state ${state}`}>
    <Sign name={stateTexts[state].drawing} /> {text}
  </span>
)

/** Links to the update, because the project's name already links to the project. */
export const StateLink = ({ update: { id, kind, project, state } }: { update: Update }) => (
  <span class={`state ${state}`}>
    <Sign name={stateTexts[state].drawing} />{' '}
    <a href={updateAddress(id)} aria-label={`${words(state)}: the ${kind} update of ${project}`}>
      {words(state)}
    </a>
  </span>
)

interface ProjectProps {
  readonly of: RequestedProject
  readonly definitions: Definitions
}

/** The listed name, and the id beside it. */
export function ProjectLink({ of, definitions }: ProjectProps) {
  const { name, id = name } = shownProject(definitions, of)
  return (
    <>
      <a href={projectAddress(name)}>{name}</a>
      {id === name ? null : <span class="note"> {id}</span>}
    </>
  )
}

/** `unseen` is the text for a budget that the reader may not read. */
export const BudgetLink = ({ name, unseen = name }: { name: string; unseen?: string }) =>
  name === unseenBudget ? <span class="unknown">{unseen}</span> : <a href={budgetAddress(name)}>{name}</a>

export const words = (name: string): string => name.replaceAll('-', ' ')

/** `cost` is an amount of money. */
export const Units = ({ units, cost }: { units: number | null | undefined; cost?: string | undefined }) => (
  <>
    <span class={units == null ? 'unknown' : 'units'}>{units == null ? '–' : count(units)}</span>
    {cost === undefined ? null : <span class="note money"> {cost}</span>}
  </>
)

/** An entry's id stands only on its own page. */
export const EntryLink = ({ id, text = 'that entry' }: { id: string; text?: string }) => (
  <a href={entryAddress(id)}>{text}</a>
)

/** A sentence whose ids of updates and entries are links. */
export const linked = (sentence: string): Child =>
  sentence
    .split(/\b((?:upd|ent)_[0-9a-z]{20,60})\b/)
    .map((part, at) =>
      at % 2 === 0 ? part : <a href={part.startsWith('ent_') ? entryAddress(part) : updateAddress(part)}>{part}</a>,
    )

export const updateAddress = (id: string): string => `/dashboard/updates/${encodeURIComponent(id)}`

export const chargeAddress = (id: string): string => `${updateAddress(id)}/charge`

export const askAddress = (filled: Readonly<Record<string, string>> = {}): string => {
  const query = new URLSearchParams(filled).toString()
  return query === '' ? '/dashboard/ask' : `/dashboard/ask?${query}`
}

export const budgetAddress = (name: string, more = ''): string =>
  `/dashboard/budgets/${encodeURIComponent(name)}${more}`

export const bookAddress = (budget: string, type: string, fields: Readonly<Record<string, string>> = {}): string =>
  budgetAddress(budget, `/book?${new URLSearchParams({ type, ...fields })}#${type}`)

export const projectAddress = (name: string): string => `/dashboard/projects/${encodeURIComponent(name)}`

export const personAddress = (name: string): string => `/dashboard/people/${encodeURIComponent(name)}`

export const planAddress = (name: string, more = ''): string => `/dashboard/plans/${encodeURIComponent(name)}${more}`

export const inboxPath = '/dashboard/inbox'
export const closePath = '/dashboard/close'
export const activityPath = '/dashboard/activity'
export const findPath = '/dashboard/find'

export const entryAddress = (id: string): string => `${activityPath}/${encodeURIComponent(id)}`

export const callersAddress = '/dashboard/callers'
export const eventsAddress = '/dashboard/events'

/** `sub` is in the query, because it may hold any character. */
export const callerAddress = (sub?: string): string =>
  `${callersAddress}/edit${sub === undefined ? '' : `?sub=${encodeURIComponent(sub)}`}`
