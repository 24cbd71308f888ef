import type { Child } from 'hono/jsx'
import { countersOf } from '../../../shared/guard/rules/counters.ts'
import {
  count,
  type Figures,
  figuresOfChain,
  lackedInWords,
  refuses,
  thisWindow,
  units,
  zoneOf,
} from '../../../shared/guard/sentences.ts'
import type { View, ViewResult } from '../../../shared/ledger/book/view.ts'
import { budgetNamed, chainOf, rootBudget } from '../../../shared/ledger/definitions/definitions.ts'
import { isKnownToHaveRun, isTerminal, type Run, runOf, type Update } from '../../../shared/ledger/updates/update.ts'
import { runsIn } from '../../../shared/ledger/updates/work.ts'
import { asSentence } from '../forms.ts'
import { List } from '../kit/list.tsx'
import { BudgetLink, Section, say, Time, Units, updateAddress, Warning } from '../kit/parts.tsx'
import { inView } from './people.tsx'

export function CostSection({ update, view }: { update: Update; view: View }) {
  const { state, estimated, hold, charged, approval, budget, caller, chargeCorrected, wouldHaveRefused = [] } = update
  const { definitions } = view
  const [asked] = view.results
  const { time, who } = inView(view)
  const before = asked ? runBefore(asked, hold?.at ?? update.createdAt) : null
  const isCounted = ['running', 'in-doubt', 'settled'].includes(state)
  const counted = charged ?? (isCounted ? hold?.units : estimated)
  // A deleted budget limits nothing.
  const chain = budgetNamed(definitions, budget) ? chainOf(definitions, budget) : []
  const none = isTerminal(state) ? 0 : null
  return (
    <Section id="cost" title="Units">
      <Steps
        main={mainStep(update)}
        rows={[
          ['Estimated', <Units units={estimated} />],
          ['Held', <Units units={hold?.units ?? none} />],
          ['Charged', <Units units={charged ?? none} />],
        ]}
        apart={[['Last run before', <LastRun run={before} zone={zoneOf(view)} />]]}
      />
      {chargeCorrected ? (
        <p class="note">
          {say`An administrator corrected the charge from ${units(chargeCorrected.from)} on ${time(chargeCorrected.at)}.`}
        </p>
      ) : null}
      {approval ? (
        <p class="note">
          {say`${who(approval.by, update)} approved up to ${units(approval.units)} on ${time(approval.at)}.`}
        </p>
      ) : null}
      {wouldHaveRefused.length > 0 ? (
        <Warning>{asSentence(lackedInWords(wouldHaveRefused))} Its limit is only observed.</Warning>
      ) : null}
      {counted === undefined || (isTerminal(state) && !isCounted && state !== 'refused') ? null : (
        <EffectOnChain
          figures={figuresOfChain(view, chain.length > 0 ? countersOf(view, chain, { caller }) : [])}
          units={counted}
          isCounted={isCounted}
        />
      )}
    </Section>
  )
}

/** The figure that the state of an update is about. */
function mainStep({ state, hold }: Update): string {
  if (isTerminal(state)) return 'Charged'
  return hold ? 'Held' : 'Estimated'
}

type Rows = readonly (readonly [name: string, value: Child])[]

/** @param props.main names the row whose figure is large. */
export const Steps = ({ rows, apart, main }: { rows: Rows; apart: Rows; main: string }) => (
  <dl class="steps">
    {[...rows, ...apart].map(([name, value], position) => (
      <div class={position >= rows.length ? 'apart' : name === main ? 'main' : undefined}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)

interface EffectProps {
  readonly figures: readonly Figures[]
  readonly units: number
  readonly isCounted?: boolean
}

export function EffectOnChain({ figures, units, isCounted = false }: EffectProps) {
  const limits = figures.filter(({ limit }) => limit !== 'unlimited')
  // Without the root, the reader sees only a part of the chain.
  if (limits.length === 0)
    return figures.some(({ budget }) => budget === rootBudget) ? (
      <p class="note">No budget limits this update.</p>
    ) : null
  const isShort = (row: Figures) => !isCounted && row.available < units && refuses(row)
  return (
    <List
      isInset
      class="chain-effect"
      rows={limits}
      label="Units that the update takes from each budget of its chain"
      rowClass={(row) => (isShort(row) ? 'short' : undefined)}
      columns={[
        {
          name: 'Budget',
          isHead: true,
          cell: ({ budget, shownAs }) => (shownAs === undefined ? <BudgetLink name={budget} /> : `limit of ${shownAs}`),
          note: (row) => `${thisWindow(row.window)}${refuses(row) ? '' : ', observed'}`,
        },
        isCounted ? null : { name: 'Left now', units: ({ available }) => available },
        { name: 'Takes', units: () => units },
        isCounted
          ? { name: 'Left now', units: ({ available }) => available }
          : {
              name: 'Left after',
              isNumber: true,
              cell: (row) => <strong class={isShort(row) ? 'differs' : ''}>{count(row.available - units)}</strong>,
            },
      ]}
    />
  )
}

export function runBefore({ works, records }: ViewResult, at: number): Run | null {
  const noted = works.flatMap(({ work }) => (work ? runsIn(work) : []))
  const recorded = [...records.values()].filter(isKnownToHaveRun).map(runOf)
  return [...recorded, ...noted].filter((run) => run.at < at).toSorted((a, b) => b.at - a.at)[0] ?? null
}

export const LastRun = ({ run, zone }: { run: Run | null; zone: string }) => {
  if (run === null) return <span class="unknown">none known</span>
  const at = <Time at={run.at} zone={zone} />
  return say`${<a href={updateAddress(run.update)}>{count(run.units)}</a>} ${<span class="note">{at}</span>}`
}
