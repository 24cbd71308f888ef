import * as z from 'zod/mini'
import { when } from '../../shared/guard/sentences.ts'
import { adoption, openingUnits, renewalChange, showRenewal } from '../../shared/ledger/account.ts'
import type { MakeChange } from '../../shared/ledger/changes.ts'
import { latestRenewal, monthAt, type Renewal } from '../../shared/ledger/windows.ts'
import { accountSettings, parseSettings, WrongSettings } from '../../shared/platform/settings.ts'
import { command, WrongUsage } from './command.ts'
import { CannotGoOn } from './failures.ts'
import { type OperatorLedger, openOperatorLedger, serviceHere } from './operator-ledger.ts'
import { createShutdown } from './shutdown.ts'

const usage = `Changes what a whole ledger is, which no setting changes by itself.

  npm run account -- renewal [--day <1-31>] [--time <HH:MM>] [--zone <IANA>] [--dry-run]
  npm run account -- adopt [--dry-run]

  renewal    lets the billing month turn at another time; the open month is lengthened, never shortened
  adopt      says that the ledger belongs to the service that is set here (TRACKING_BASE_URL, or the stand-in): for a
             ledger of a version that did not note it, or where the same account has moved to a new address
  --dry-run  shows what would change, and changes nothing

It opens the ledger of this machine (DATA_DIR), whether npm start runs or not. With SECRETS_ENDPOINT set to nothing it opens
the table TABLE_NAME on AWS, with your credentials.`

const flags = {
  day: { type: 'string' },
  time: { type: 'string' },
  zone: { type: 'string' },
  'dry-run': { type: 'boolean' },
} as const

const { ACCOUNT_RENEWAL_DAY: day, ACCOUNT_RENEWAL_TIME: time, ACCOUNT_TIME_ZONE: zone } = accountSettings.shape
const renewalFlags = z.object({ day, time, zone })

/** As the entry names whoever used the command: the same as for the ledger's beginning. */
const actor = 'setup'

await command(
  usage,
  flags,
  async ({ 'dry-run': dryRun, ...renewal }, what) => {
    const isDry = dryRun !== undefined
    switch (what) {
      case 'renewal': {
        const wanted = toRenewal(renewal)
        return opened((ledger) => apply(ledger, renewalChange(wanted), isDry))
      }
      case 'adopt': {
        const service = serviceHere()
        return opened(async (ledger) =>
          apply(ledger, adoption({ service, usedAtStart: await openingUnits(ledger.store) }), isDry),
        )
      }
      default:
        throw new WrongUsage(`takes renewal or adopt, not ${what}`)
    }
  },
  ['<renewal|adopt>'],
)

async function opened(work: (ledger: OperatorLedger) => Promise<boolean>): Promise<boolean> {
  const shutdown = createShutdown()
  shutdown.onSignal(() => console.log('\nstopping …'))
  try {
    return await work(await openOperatorLedger(shutdown))
  } finally {
    await shutdown.stop()
  }
}

function toRenewal(given: { readonly [name in 'day' | 'time' | 'zone']?: string }): Partial<Renewal> {
  const { day, time, zone } = parseFlags(given)
  if (day === undefined && time === undefined && zone === undefined)
    throw new WrongUsage('takes at least one of --day, --time and --zone')
  return { ...(day !== undefined && { day }), ...(time !== undefined && { time }), ...(zone !== undefined && { zone }) }
}

function parseFlags(given: Parameters<typeof toRenewal>[0]) {
  try {
    return parseSettings(renewalFlags, given)
  } catch (error) {
    throw error instanceof WrongSettings ? new WrongUsage(error.message) : error
  }
}

async function apply({ ledger, where }: OperatorLedger, make: MakeChange, isDry: boolean): Promise<boolean> {
  const view = await ledger.view()
  const change = make(view)
  if ('refused' in change) throw new CannotGoOn(String(change.refused))
  console.log(`The ledger: ${where}`)
  const { calendar } = change.definitions
  const { zone } = latestRenewal(calendar)
  console.log(`  ${change.note.reason}`)
  if (calendar !== view.definitions.calendar) {
    console.log(`  before, it turned ${showRenewal(latestRenewal(view.definitions.calendar))}`)
    const [end, before] = [monthAt(calendar, view.now).end, view.month.end]
    console.log(`  ${view.month.name} ends ${when(end, zone)}, before ${when(before, zone)}`)
  }
  if (isDry) {
    console.log('Nothing was changed (--dry-run).')
    return true
  }
  const outcome = await ledger.change(actor, make)
  if (outcome.kind === 'refused') throw new CannotGoOn(String(outcome.refused))
  if (outcome.kind === 'faulty') throw new CannotGoOn(outcome.faults.map(({ message }) => message).join(' '))
  console.log(`Changed: revision ${outcome.definitions.revision}.`)
  return true
}
