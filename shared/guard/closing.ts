import type { CloseOutcome } from '../ledger/closing.ts'
import { budgetNamed } from '../ledger/definitions.ts'
import type { Finding } from '../ledger/finding.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Update } from '../ledger/update.ts'
import type { Log } from '../platform/log.ts'
import { count } from './sentences.ts'

export type Closing = ReturnType<typeof createClosing>

/** Closes updates, and sees to what follows from how they closed. */
export function createClosing({ ledger, log }: { ledger: Ledger; log: Log }) {
  async function close(update: Update, finding: Finding): Promise<CloseOutcome> {
    const outcome = await ledger.close(update, finding)
    const { state, charged, overrun, corrected, closedBy } = outcome.update
    const seen = { update: update.id, state, found: finding.kind }
    if (!outcome.changed) log.info('nothing-to-close', seen)
    else if (corrected) log.error('late-correction', { ...seen, closedBy, charged })
    else if (state === 'in-doubt') log.error('in-doubt', { ...seen, note: finding.note })
    // What the sender found stands in the line of its run.
    else if (finding.from !== 'sender') log.info('closed', { ...seen, closedBy, by: finding.by, charged })
    // An earlier try may have booked it, and its answer was lost: freezing twice is freezing once.
    const isBooked = outcome.changed || saysWhatIsCharged(finding, outcome.update)
    if (isBooked && overrun !== undefined) await afterOverrun(outcome.update, overrun)
    return outcome
  }

  /** The units are booked whatever happens here: freezing is one more safeguard, and a failure of it is an alarm. */
  async function afterOverrun(update: Update, overrun: number): Promise<void> {
    log.error('overrun', { update: update.id, held: update.hold?.units, charged: update.charged, overrun })
    const reason = `${update.id} cost ${count(overrun)} more than were held`
    const { budgets = [], owners = [] } = update.hold ?? {}
    for (const name of [...owners, ...budgets]) {
      try {
        await ledger.change('guard', ({ definitions, now }) => {
          const budget = budgetNamed(definitions, name)
          if (!budget?.freezeOnOverrun || budget.frozen) return { refused: 'nothing to freeze' }
          const frozen = { ...budget, frozen: { reason, by: 'guard', at: now } }
          return {
            definitions: { ...definitions, budgets: { ...definitions.budgets, [name]: frozen } },
            note: { type: 'freeze', budget: name, reason },
          }
        })
      } catch (cause) {
        log.error('not-frozen', { budget: name, cause })
      }
    }
  }

  return { close }
}

/** The sender's own finding, which it has once, is what the record has been closed or corrected by. */
const saysWhatIsCharged = (finding: Finding, { closedBy, corrected, charged }: Update): boolean =>
  finding.kind === 'ran' &&
  finding.from === 'sender' &&
  (closedBy === 'sender' || corrected === true) &&
  finding.units === charged
