import { type Decided, shownCaller, shownIn, zoneOf } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { type ListOfCallers, planOfCaller } from '../../../shared/ledger/definitions/definitions.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { reservedNames } from '../../../shared/platform/words.ts'
import { Ago, personAddress, planAddress, Time } from '../kit/parts.tsx'

export const CallerName = ({ update, definitions }: { update: Update; definitions: ListOfCallers }) =>
  update.plan !== undefined ? (
    <PlanName name={update.plan} />
  ) : (
    <>
      <Who name={update.caller} of={update} definitions={definitions} />
      {update.via === 'http' ? null : <span class="note">via {update.via}</span>}
    </>
  )

export const PlanName = ({ name }: { name: string }) => (
  <>
    plan <a href={planAddress(name)}>{name}</a>
  </>
)

/** Returns `morning` for `plan morning` and `schedule:morning`. `null`: the words name no plan. */
export const planIn = (words: string): string | null => /^(?:plan |schedule:)\s*(\S+)$/i.exec(words)?.[1] ?? null

interface WhoProps {
  readonly name: string
  /** Empty if the name of the caller is to be shown and not the name of the person. */
  readonly definitions: ListOfCallers
  /** An update whose token may name the person. */
  readonly of?: Decided
}

/** Shows the person or the plan behind a caller. */
export function Who({ name, definitions, of }: WhoProps) {
  const plan = planOfCaller(name)
  if (plan !== null) return <PlanName name={plan} />
  const shown = of ? shownIn(definitions, of, name) : shownCaller(definitions, name)
  if (reservedNames.includes(shown)) return shown
  return (
    <a href={personAddress(shown)} title={shown === name ? undefined : name}>
      {shown}
    </a>
  )
}

export const inView = (view: View) => ({
  time: (at: number) => <Time at={at} zone={zoneOf(view)} />,
  ago: (at: number) => <Ago at={at} view={view} />,
  who: (name: string, of?: Decided) => <Who name={name} definitions={view.definitions} {...(of && { of })} />,
})
