import type { Spender } from '../../../shared/guard/reports/spenders.ts'
import { count } from '../../../shared/guard/sentences.ts'
import { ShareBar } from './charts.tsx'
import { addressWith } from './lists.tsx'
import { Section } from './parts.tsx'
import { PlanName } from './people.tsx'

const maxShown = 5

export function SpentSection({ id, title, spenders }: { id: string; title: string; spenders: readonly Spender[] }) {
  const most = Math.max(1, ...spenders.map((each) => each.units))
  return (
    <Section id={id} title={title}>
      {spenders.length === 0 ? <p class="empty">Nothing was spent.</p> : null}
      <ul class="shares">
        {spenders.slice(0, maxShown).map((spender) => (
          <li>
            <span>
              <SpenderName spender={spender} />
            </span>
            <ShareBar of={most} used={Math.max(0, spender.units)} />
            <span class="number">{count(spender.units)}</span>
            <span class="number note">{Math.round(spender.share * 100)} %</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

function SpenderName({ spender: { kind, name } }: { spender: Spender }) {
  if (kind === 'outside') return <>outside the guard</>
  if (kind === 'others' || name === null) return <>others</>
  switch (kind) {
    case 'plan':
      return <PlanName name={name} />
    case 'person':
      return <>{name}</>
    default:
      return <a href={addressWith('/dashboard/updates', { [kind]: name })}>{name}</a>
  }
}
