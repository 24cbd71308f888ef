import * as z from 'zod/mini'
import { when } from '../../../shared/guard/sentences.ts'
import type { MakeChange } from '../../../shared/ledger/book/changes.ts'
import { latestRenewal, monthAt, type Renewal } from '../../../shared/ledger/book/windows.ts'
import { accountOf, adoption, openingUnits, renewalChange, showRenewal } from '../../../shared/ledger/identity.ts'
import { createLedger } from '../../../shared/ledger/ledger.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import {
  accountSettings,
  environment,
  type Marker,
  openingSettings,
  parseSettings,
  WrongSettings,
} from '../../../shared/platform/settings.ts'
import { CannotContinue } from '../failures.ts'
import { defineCommand, mustBeOneOf, WrongUsage } from './command.ts'
import { type OperatorLedger, serviceHere, withOperatorLedger } from './open.ts'

const usage = `Changes the renewal or the service of a ledger, or begins one: settings do not change a ledger by themselves.

  npm run account -- renewal [--day <1-31>] [--time <HH:MM>] [--zone <IANA>] [--dry-run]
  npm run account -- adopt [--dry-run]
  npm run account -- begin

  renewal    lets the billing month turn at another time; the open month is lengthened, never shortened
  adopt      says that the ledger belongs to the service that is set here (TRACKING_BASE_URL, or the stand-in): for a
             ledger of a version that did not note it, or where the same account has moved to a new address
  begin      begins the first ledger on AWS, with the account settings of this shell; npm start begins its own
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

const actor = 'setup'

export const command = defineCommand({
  usage,
  flags,
  takes: ['<renewal|adopt|begin>'],
  async run({ 'dry-run': isDry = false, ...renewal }, what = '') {
    switch (mustBeOneOf(what, ['renewal', 'adopt', 'begin'])) {
      case 'renewal': {
        const wanted = toRenewal(renewal)
        return withOperatorLedger((opened) => apply(opened, renewalChange(wanted), isDry))
      }
      case 'adopt': {
        const service = serviceHere()
        return withOperatorLedger((opened) => adopt(opened, service, isDry))
      }
      case 'begin': {
        const service = serviceHere()
        return withOperatorLedger((opened) => begin(opened, service))
      }
    }
  },
})

async function adopt(opened: OperatorLedger, service: string, isDry: boolean): Promise<boolean> {
  const { store, tableId: table } = opened
  const isDone = await apply(opened, adoption({ service, usedAtStart: await openingUnits(store), table }), isDry)
  if (!isDry) await mark(opened)
  return isDone
}

/** Writes the marker last, so that the same command completes a start that was cut short. */
async function begin(opened: OperatorLedger, service: string): Promise<boolean> {
  const { store, marker, table, where, isOnAws } = opened
  if (!isOnAws) throw new CannotContinue('npm start begins the ledger of this machine by itself.')
  const known = await marker.read()
  if (known) {
    const remedy = ` Deploy with that table, or accept ${table} with npm run restore -- accept.`
    throw new CannotContinue(
      `The ledger ${known.ledger} was begun already, in the table ${known.tableName}.${known.tableName === table ? '' : remedy}`,
    )
  }
  const set = parseSettings(openingSettings, environment())
  const expected = { service, account: set }
  await createLedger({ store, clock: systemClock, account: accountOf(set), expected }).view()
  const { ledger } = await mark(opened)
  console.log(`Begun: ${ledger} in ${where}, a ledger of ${service}. Later deployments go without -c firstLedger=true.`)
  return true
}

async function mark({ ledger, marker, table: tableName, tableId }: OperatorLedger): Promise<Marker> {
  const { identity } = (await ledger.view()).definitions
  if (!identity) throw new CannotContinue('This ledger knows no service: adopt it first.')
  const written = { ledger: identity.ledger, epoch: identity.epoch ?? 0, table: identity.table ?? tableId, tableName }
  await marker.write(written)
  return written
}

function toRenewal(given: { readonly [name in 'day' | 'time' | 'zone']?: string }): Partial<Renewal> {
  const { day, time, zone } = parseFlags(given)
  if (day === undefined && time === undefined && zone === undefined)
    throw new WrongUsage('needs at least one of --day, --time and --zone')
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
  if ('refused' in change) throw new CannotContinue(String(change.refused))
  console.log(`The ledger: ${where}`)
  const { calendar } = change.definitions
  const { zone } = latestRenewal(calendar)
  console.log(`  ${change.note.reason}`)
  if (calendar !== view.definitions.calendar) {
    console.log(`  before, it turned ${showRenewal(latestRenewal(view.definitions.calendar))}`)
    const [end, before] = [monthAt(calendar, view.now).end, view.month.end]
    console.log(`  ${view.month.name} ends ${when(end, zone)} instead of ${when(before, zone)}`)
  }
  if (isDry) {
    console.log('Nothing was changed (--dry-run).')
    return true
  }
  const outcome = await ledger.change(actor, make)
  if (outcome.kind === 'refused') throw new CannotContinue(String(outcome.refused))
  if (outcome.kind === 'faulty') throw new CannotContinue(outcome.faults.map(({ message }) => message).join(' '))
  console.log(`Changed: revision ${outcome.definitions.revision}.`)
  return true
}
