import { chainOf, type Definitions } from '../../../../shared/ledger/book/definitions.ts'
import { budgetAddress } from '../../components/parts.tsx'

/** Where a budget counts, from the root down to it, and on a page below it, back to it. */
export const Chain = ({ of, in: definitions, here }: { of: string; in: Definitions; here?: string }) => (
  <nav aria-label="Where it counts" class="chain">
    <ol>
      <li>
        <a href="/dashboard/budgets">Budgets</a>
      </li>
      {chainOf(definitions, of)
        .toReversed()
        .map(({ name }) => (
          <li>
            {name === of && here === undefined ? (
              <span aria-current="page">{name}</span>
            ) : (
              <a href={budgetAddress(name)}>{name}</a>
            )}
          </li>
        ))}
      {here === undefined ? null : (
        <li>
          <span aria-current="page">{here}</span>
        </li>
      )}
    </ol>
  </nav>
)
