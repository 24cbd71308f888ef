import { zoneOf } from '../../shared/guard/decide.ts'
import { figuresOf } from '../../shared/guard/figures.ts'
import { count, when } from '../../shared/guard/sentences.ts'
import { createServices } from '../../shared/guard/services.ts'
import { type Budget, type Definitions, windowKinds } from '../../shared/ledger/definitions.ts'
import type { View } from '../../shared/ledger/views.ts'
import type { GuardSettings } from '../../shared/platform/settings.ts'
import type { Findings } from './doctor-findings.ts'
import { reasonOf } from './failures.ts'
import { createQuietLog } from './guard-log.ts'

/** The state of the open book, budget by budget. */
export async function examineLedger(settings: GuardSettings, { inMemory }: { inMemory: boolean }): Promise<Findings> {
  if (inMemory) {
    return {
      lines: ['it is in the memory of npm start, where no other process can read it: GET /budgets can'],
      toDo: [],
    }
  }
  const { guard } = createServices(settings, { log: createQuietLog() })
  try {
    const view = await guard.ledger.view()
    return { lines: [...linesOf(view)], toDo: frozenBudgets(view) }
  } catch (error) {
    const where = settings.DYNAMODB_ENDPOINT ?? 'AWS'
    return {
      lines: [`cannot be read at ${where}: ${reasonOf(error)}`],
      toDo: ['see that the ledger answers; until then every update is answered 503'],
    }
  }
}

function* linesOf(view: View): Generator<string> {
  const { definitions, month } = view
  yield `${month.name} is open until ${when(month.end, zoneOf(view))}; revision ${definitions.revision} of the definitions`
  for (const budget of rootFirst(definitions)) {
    for (const window of windowKinds) {
      const { limit, granted, available, held, inDoubt, spent } = figuresOf(view, budget, window)
      if (limit === 'unlimited' && window === 'day') continue
      const most = limit === 'unlimited' ? 'unlimited' : `${count(available)} of ${count(limit + granted)} available`
      const rest = `${count(held)} held, ${count(inDoubt)} in doubt, ${count(spent)} spent`
      yield `${budget.name}, ${window}: ${most}, ${rest}${budget.frozen ? ', FROZEN' : ''}`
    }
  }
}

const rootFirst = ({ budgets }: Definitions): Budget[] => {
  const all = Object.values(budgets).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return [...all.filter(({ parent }) => parent === null), ...all.filter(({ parent }) => parent !== null)]
}

const frozenBudgets = ({ definitions }: View): string[] =>
  Object.values(definitions.budgets).flatMap(({ name, frozen }) =>
    frozen ? [`unfreeze ${name} when it may spend again (frozen by ${frozen.by}: ${frozen.reason})`] : [],
  )
