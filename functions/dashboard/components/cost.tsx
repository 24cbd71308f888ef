import { figuresOfChain, lackedInWords, units, zoneOf } from '../../../shared/guard/sentences.ts'
import { countersOf } from '../../../shared/guard/update/limits.ts'
import { budgetNamed, type CounterOwner, chainOf } from '../../../shared/ledger/book/definitions.ts'
import { isTerminal, type Update } from '../../../shared/ledger/updates/update.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { asSentence } from '../forms.ts'
import { EffectOnChain } from './effect-on-chain.tsx'
import { LastRun, runBefore } from './last-run.tsx'
import { Section, Sign, Time, Units } from './parts.tsx'
import { Who } from './people.tsx'

export function CostSection({ update, view }: { update: Update; view: View }) {
  const { state, estimated, hold, charged, approval, wouldHaveRefused = [] } = update
  const [asked] = view.results
  const before = asked ? runBefore(asked, hold?.at ?? update.createdAt) : null
  const isCounted = ['running', 'in-doubt', 'settled'].includes(state)
  const counted = charged ?? (isCounted ? hold?.units : estimated)
  const chain = figuresOfChain(view, countersNow(update, view))
  return (
    <Section id="cost" title="Units">
      <dl class="steps">
        <Step name="Estimated" units={estimated} />
        <Step name="Held" units={hold?.units ?? (isTerminal(state) ? 0 : null)} />
        <Step name="Charged" units={charged ?? (isTerminal(state) ? 0 : null)} />
        <div class="apart">
          <dt>Last run before</dt>
          <dd>
            <LastRun run={before} zone={zoneOf(view)} />
          </dd>
        </div>
      </dl>
      {approval ? (
        <p class="note">
          <Who name={approval.by} of={update} definitions={view.definitions} /> approved up to {units(approval.units)}{' '}
          on <Time at={approval.at} zone={zoneOf(view)} />.
        </p>
      ) : null}
      {wouldHaveRefused.length > 0 ? (
        <p class="warning">
          <Sign name="warning" /> {asSentence(lackedInWords(wouldHaveRefused))} Its limit is only observed.
        </p>
      ) : null}
      {counted === undefined || (isTerminal(state) && !isCounted && state !== 'refused') ? null : (
        <EffectOnChain figures={chain} units={counted} isCounted={isCounted} />
      )}
    </Section>
  )
}

const Step = ({ name, units }: { name: string; units: number | null | undefined }) => (
  <div>
    <dt>{name}</dt>
    <dd>
      <Units units={units} />
    </dd>
  </div>
)

/** A budget that was deleted since limits nothing. */
const countersNow = ({ budget, caller }: Update, view: View): readonly CounterOwner[] =>
  budgetNamed(view.definitions, budget) ? countersOf(view, chainOf(view.definitions, budget), { caller }) : []
