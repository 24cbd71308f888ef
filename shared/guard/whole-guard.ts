import type { View } from '../ledger/book/view.ts'
import { once } from '../platform/parallel.ts'
import type { Background } from './background.ts'
import { createApprovals } from './inbox/approvals.ts'
import type { GuardParts } from './options.ts'
import { createBudgetsFile } from './people/apply-budgets.ts'
import { createBudgets } from './people/budgets.ts'
import { createCallers } from './people/callers.ts'
import { createEnter } from './people/enter.ts'
import { type CallerIdentity, type Permissions, rateOf } from './people/permissions.ts'
import { rememberWaits } from './plans/service-wait.ts'
import { createBatch } from './update/batch.ts'
import { createEstimates } from './update/estimate.ts'
import { createExecution } from './update/execute.ts'
import { createQuotes } from './update/quote.ts'
import { createRepeats } from './update/repeating-callers.ts'
import { createResume } from './update/resume.ts'
import { createSubmit } from './update/submit.ts'

/** One caller: what they may do, and the guard as they see it. */
export interface Permitted extends Permissions {
  /** The guard itself, unless the caller reads only some budgets (`reader.ts`). */
  readonly guard: Guard
  /** What these permissions were read from. Reads the ledger only if they come from an earlier request. */
  view(): Promise<View>
}

type WholeGuard = ReturnType<typeof createWholeGuard>

export interface Guard extends WholeGuard {
  /** @param how.atOnce whether to read the list of callers again. Otherwise the list may be two seconds old. */
  permissions(named: CallerIdentity, how: { readonly atOnce: boolean }): Promise<Permitted>
}

/** All of the guard, for callers who read everything. */
export function createWholeGuard(given: GuardParts) {
  const { tracking, currentWait } = rememberWaits(given)
  const parts = { ...given, tracking }
  const { ledger } = parts
  const quotes = createQuotes(parts)
  const execution = createExecution(parts)
  const batch = createBatch({ ...parts, execution, quotes })
  const { submit } = createSubmit({ ...parts, execution, batch, repeats: createRepeats(parts) })
  const { estimate } = createEstimates({ ...parts, quotes })
  const resume = createResume({ ...parts, execution, quotes })
  const approvals = createApprovals(parts)

  /** The next call retries a failed load. */
  const background = once(async (): Promise<Background> => {
    const [{ createBackground }, plans] = await Promise.all([import('./background.ts'), parts.plans()])
    return createBackground({ ...parts, plans, approvals, resume, currentWait })
  })

  return {
    ledger,
    submit,
    estimate,
    start: resume.start,
    ...approvals,
    ...createBudgets(parts),
    ...createBudgetsFile(parts),
    ...createCallers(parts),
    ...createEnter(parts),
    rateOf: (caller: string, most?: number) => rateOf(ledger, caller, most),
    /** What works without a caller: the sweep, the steps of plans, and audits. */
    jobs: background,
    ...late(background, whenAsked),
  }
}

const whenAsked = [
  'reportParts',
  'askToRunAgain',
  'planStatuses',
  'report',
  'budgetsOf',
  'inbox',
  'answeredDoubts',
  'resolveByAnswer',
  'closeDelivery',
  'reconcile',
  'monthToClose',
  'doubtsToClose',
] as const satisfies readonly (keyof Background)[]

/** The named jobs. The first call of any of them loads their code. */
export const late = <Name extends keyof Background>(load: () => Promise<Background>, names: readonly Name[]) =>
  Object.fromEntries(
    names.map((name) => [name, async (...of: unknown[]) => Reflect.apply((await load())[name], null, of)]),
  ) as Pick<Background, Name>
