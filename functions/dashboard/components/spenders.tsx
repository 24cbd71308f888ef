import type { Child } from 'hono/jsx'
import type { Spender } from '../../../shared/guard/reports/spenders.ts'
import { count } from '../../../shared/guard/sentences.ts'
import { addressWith } from '../kit/list.tsx'
import { ShareBar } from './charts.tsx'
import { Section } from './parts.tsx'
import { PlanName } from './people.tsx'

const maxShown = 5

export const SpentSection = ({ id, title, spenders }: { id: string; title: string; spenders: readonly Spender[] }) => (
  <Section id={id} title={title}>
    {spenders.length === 0 ? <p class="empty">Nothing was spent.</p> : null}
    <Shares
      of={Math.max(1, ...spenders.map((each) => each.units))}
      rows={spenders
        .slice(0, maxShown)
        .map((each) => [spenderName(each), each.units, `${Math.round(each.share * 100)} %`])}
    />
  </Section>
)

function spenderName({ kind, name }: Spender): Child {
  if (kind === 'outside') return 'outside the guard'
  if (kind === 'others' || name === null) return 'others'
  if (kind === 'plan') return <PlanName name={name} />
  return kind === 'person' ? name : <a href={addressWith('/dashboard/updates', { [kind]: name })}>{name}</a>
}

type Row = readonly [name: Child, units: number, note: string]

export const Shares = ({ of, rows }: { of: number; rows: readonly Row[] }) => (
  <ul class="shares">
    {rows.map(([name, used, note]) => (
      <li>
        <span>{name}</span>
        <ShareBar of={of} used={Math.max(0, used)} />
        <span class="number">{count(used)}</span>
        <span class="number note">{note}</span>
      </li>
    ))}
  </ul>
)
