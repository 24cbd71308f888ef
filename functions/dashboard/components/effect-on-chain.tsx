import { count, type Figures, refuses, thisWindow } from '../../../shared/guard/sentences.ts'
import { rootBudget } from '../../../shared/ledger/book/definitions.ts'
import { budgetAddress, numberColumns, TableHead } from './parts.tsx'

interface EffectProps {
  readonly figures: readonly Figures[]
  readonly units: number
  readonly isCounted?: boolean
}

export function EffectOnChain({ figures, units, isCounted = false }: EffectProps) {
  const limits = figures.filter(({ limit }) => limit !== 'unlimited')
  // Without the root, the reader does not see all of the chain.
  if (limits.length === 0)
    return figures.some(({ budget }) => budget === rootBudget) ? (
      <p class="note">No budget limits this update.</p>
    ) : null
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
          {limits.map((figures) => {
            const { budget, shownAs, window, available } = figures
            const after = available - units
            const isShort = after < 0 && refuses(figures)
            return (
              <tr class={!isCounted && isShort ? 'short' : undefined}>
                <th scope="row">
                  {shownAs === undefined ? <a href={budgetAddress(budget)}>{budget}</a> : `limit of ${shownAs}`}{' '}
                  <span class="note">
                    {thisWindow(window)}
                    {refuses(figures) ? null : ', observed'}
                  </span>
                </th>
                {isCounted ? null : <td class="number">{count(available)}</td>}
                <td class="number">{count(units)}</td>
                <td class="number">
                  {isCounted ? count(available) : <strong class={isShort ? 'differs' : ''}>{count(after)}</strong>}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
