import { count, type Figures, shownCounter } from '../../../shared/guard/sentences.ts'
import { callerOfCounter } from '../../../shared/ledger/book/definitions.ts'
import { budgetAddress, numberColumns, TableHead } from './parts.tsx'

interface EffectProps {
  /** Of the whole chain, as they are now. */
  readonly figures: readonly Figures[]
  readonly units: number
  /** The units are already held or charged. */
  readonly isCounted?: boolean
}

/** What an update takes from each budget that limits it: its own and all above, and the caller's own limit. */
export function EffectOnChain({ figures, units, isCounted = false }: EffectProps) {
  const limits = figures.filter(({ limit }) => limit !== 'unlimited')
  if (limits.length === 0) return <p class="note">No budget limits this update.</p>
  return (
    <div class="scroll">
      <table class="chain-effect" aria-label="What the update takes from each budget of its chain">
        <TableHead
          columns={[
            'Budget',
            ...(isCounted ? numberColumns('Takes', 'Left now') : numberColumns('Left now', 'Takes', 'Left after')),
          ]}
        />
        <tbody>
          {limits.map(({ budget, window, available }) => {
            const after = available - units
            return (
              <tr class={!isCounted && after < 0 ? 'short' : undefined}>
                <th scope="row">
                  {callerOfCounter(budget) === null ? (
                    <a href={budgetAddress(budget)}>{budget}</a>
                  ) : (
                    `limit of ${shownCounter(budget)}`
                  )}{' '}
                  <span class="note">{window === 'day' ? 'today' : 'this month'}</span>
                </th>
                {isCounted ? null : <td class="number">{count(available)}</td>}
                <td class="number">{count(units)}</td>
                <td class="number">
                  {isCounted ? count(available) : <strong class={after < 0 ? 'differs' : ''}>{count(after)}</strong>}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
