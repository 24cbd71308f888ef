import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { guardSettings } from '../../../../shared/guard/options.ts'
import { when } from '../../../../shared/guard/sentences.ts'
import type { MakeChange } from '../../../../shared/ledger/book/changes.ts'
import { latestRenewal, monthAt, type Renewal } from '../../../../shared/ledger/definitions/windows.ts'
import {
  accountOf,
  adoption,
  identityFaults,
  openingUnits,
  relocation,
  renewalChange,
  serviceNameOf,
  showRenewal,
  WrongLedger,
} from '../../../../shared/ledger/identity.ts'
import { createLedger } from '../../../../shared/ledger/ledger.ts'
import { systemClock } from '../../../../shared/platform/clock.ts'
import {
  accountSettings,
  environment,
  type Marker,
  mustFitLimit,
  openingSettings,
  parseSettings,
  WrongSettings,
} from '../../../../shared/platform/settings.ts'
import { makePrivateFile, withoutFound } from '../../data-directory.ts'
import { fileMarker, mustNotHaveMoved } from '../../database/marker-store.ts'
import { whileNotServed } from '../../database/server-lock.ts'
import { CannotContinue } from '../../failures.ts'
import { ledgerFile } from '../../settings.ts'
import { commandEnvironment, whereIs } from '../../where.ts'
import { mustBeOneOf, readHere, WrongUsage } from '../command.ts'
import { change, changesNothing, type OperatorLedger, openOperatorLedger, serviceHere } from '../open.ts'
import type { Run } from '../table.ts'
import { closeMonth } from './close.ts'

const { ACCOUNT_RENEWAL_DAY, ACCOUNT_RENEWAL_TIME, ACCOUNT_TIME_ZONE } = accountSettings.shape
const renewalFlags = z.object({ day: ACCOUNT_RENEWAL_DAY, time: ACCOUNT_RENEWAL_TIME, zone: ACCOUNT_TIME_ZONE })

export const run: Run<'account'> = async ({ 'dry-run': isDry = false, day, time, zone, ...figure }, what = '') => {
  const verb = mustBeOneOf(what, ['renewal', 'adopt', 'begin', 'moved', 'close'])
  if (verb === 'close') return closeMonth(figure)
  const given = Object.entries({ day, time, zone }).filter(([, value]) => value !== undefined)
  const make = verb === 'renewal' ? renewalChange(toRenewal(Object.fromEntries(given))) : null
  if (make) return apply(await openOperatorLedger(), make, isDry)
  if (verb === 'moved') return moved(await openOperatorLedger(), isDry)
  const where = whereIs(commandEnvironment())
  if (verb === 'begin' && where.kind === 'memory')
    throw new CannotContinue('DATA_DIR=memory keeps nothing: set DATA_DIR to a folder.')
  if (verb === 'begin' && where.kind === 'file') return beginIn(where.folder)
  const service = serviceHere()
  const opened = await openOperatorLedger()
  return verb === 'begin' ? begin(opened, service) : adopt(opened, service, isDry)
}

async function adopt(opened: OperatorLedger, service: string, isDry: boolean): Promise<boolean> {
  const { ledger, marker, store, where, tableId: table } = opened
  const { identity } = (await ledger.view()).definitions
  if (identity?.service === service && (await marker.read()) === null) {
    console.log(`The marker of the ledger ${identity.ledger} is missing: ${where}`)
    if (isDry) return changesNothing()
    await mark(opened)
    console.log('The marker was written again.')
    return true
  }
  const isDone = await apply(opened, adoption({ service, usedAtStart: await openingUnits(store), table }), isDry)
  if (!isDry) await mark(opened)
  return isDone
}

/** @throws CannotContinue, before it makes the file, if a ledger must not begin here. */
async function beginIn(folder: string): Promise<boolean> {
  const env = withoutFound(environment())
  if (!env.TRACKING_BASE_URL)
    throw new CannotContinue(
      'Set TRACKING_BASE_URL to the service of the new ledger. npm start begins a ledger of the stand-in.',
    )
  const { TRACKING_BASE_URL: service } = parseSettings(ownService, env)
  openingHere()
  return whileNotServed(folder, 'npm run account', async () => {
    await mustNotHaveMoved(folder)
    const known = await fileMarker(folder).read()
    const isThere = existsSync(join(folder, ledgerFile))
    if (known) {
      const place = isThere
        ? 'in ledger.db'
        : 'not here: mount its disk, or restore a backup (npm run restore -- from <file>)'
      throw new CannotContinue(
        `The marker ${join(folder, 'ledger')} names the ledger ${known.ledger}, which was begun already and is ${place}.`,
      )
    }
    await makePrivateFile(folder, ledgerFile)
    const opened = await openOperatorLedger()
    await mustBeNew(opened)
    return begin(opened, serviceNameOf(service))
  })
}

const ownService = z.object({ TRACKING_BASE_URL: guardSettings.shape.TRACKING_BASE_URL })

function openingHere() {
  return readHere(() => {
    const set = parseSettings(openingSettings, environment())
    mustFitLimit(set, set.ACCOUNT_UNITS_PER_MONTH)
    return set
  })
}

/** Accepts revision 1 of this same file, because an interrupted begin leaves it. */
async function mustBeNew({ ledger, tableId, where }: OperatorLedger): Promise<void> {
  const found = await ledger.view().catch((error) => {
    if (error instanceof WrongLedger) return null
    throw error
  })
  if (!found) return
  const { revision, identity } = found.definitions
  if (revision === 1 && identity?.table === tableId) return
  throw new CannotContinue(
    `${where} already holds the ledger ${identity?.ledger}, but its marker is missing: npm run account -- adopt writes it.`,
  )
}

/** Writes the marker last, so that the same command completes an interrupted begin. */
async function begin(opened: OperatorLedger, service: string): Promise<boolean> {
  const { store, marker, table, where, place } = opened
  const known = await marker.read()
  const remedy = ` Deploy with that table, or accept ${table} with npm run restore -- accept.`
  if (known)
    throw new CannotContinue(
      `The ledger ${known.ledger} was begun already, in the table ${known.tableName}.${known.tableName === table ? '' : remedy}`,
    )
  const set = openingHere()
  const expected = { service, account: set }
  await createLedger({ store, clock: systemClock, account: accountOf(set), expected }).view()
  const { ledger } = await mark(opened)
  const next = {
    table: 'Deploy again, without -c firstLedger=true: that turns on schedules, Slack and events.',
    file: 'Keep the marker beside the file.',
  }
  console.log(`Begun: ${ledger} in ${where}, a ledger of ${service}. ${next[place]}`)
  return true
}

/** Accepts that the file has another id in its new place. Can be repeated. */
async function moved(opened: OperatorLedger, isDry: boolean): Promise<boolean> {
  const { ledger, marker, tableId, where, place, folder } = opened
  if (place === 'table' || folder === null)
    throw new CannotContinue('A table does not move. Accept a restored table with npm run restore -- accept.')
  return whileNotServed(folder, 'npm run account', async (killed) => {
    const { definitions } = await ledger.view()
    const { identity } = definitions
    const known = await marker.read()
    if (!known || !identity)
      throw new CannotContinue(
        `${where} has no marker beside it, so it may be a copy: move the whole folder, or accept it (npm run account -- adopt, then npm run restore -- accept).`,
      )
    const faults = identityFaults(definitions, { marker: known })
    if (faults.length > 0) throw new WrongLedger(faults)
    if (identity.table === tableId && known.table === tableId) throw new CannotContinue(`${where} was not moved.`)
    if (killed !== null)
      throw new CannotContinue(
        `${folder} was copied while a Unit Guard served it (${killed}), or that one was killed: if the original is gone, accept this copy with npm run restore -- accept.`,
      )
    if (identity.table !== tableId) await apply(opened, relocation(tableId), isDry)
    if (!isDry) await mark(opened)
    return true
  })
}

async function mark({ ledger, marker, table: tableName, tableId }: OperatorLedger): Promise<Marker> {
  const { identity } = (await ledger.view()).definitions
  if (!identity) throw new CannotContinue('This ledger does not know its service: adopt it first.')
  const written = { ledger: identity.ledger, epoch: identity.epoch ?? 0, table: identity.table ?? tableId, tableName }
  await marker.write(written)
  return written
}

function toRenewal(given: { readonly [name in 'day' | 'time' | 'zone']?: string }): Partial<Renewal> {
  if (Object.keys(given).length === 0) throw new WrongUsage('needs at least one of --day, --time and --zone')
  try {
    return parseSettings(renewalFlags, given) as Partial<Renewal>
  } catch (error) {
    throw error instanceof WrongSettings ? new WrongUsage(error.message) : error
  }
}

async function apply(opened: OperatorLedger, make: MakeChange, isDry: boolean): Promise<boolean> {
  const view = await opened.ledger.view()
  const made = make(view)
  if ('refused' in made) throw new CannotContinue(String(made.refused))
  const faults = await opened.ledger.faultsOfChange(view, { ...made.definitions, revision: view.definitions.revision })
  if (faults.length > 0) throw new CannotContinue(faults.map(({ message }) => message).join(' '))
  console.log(`The ledger: ${opened.where}`)
  const { calendar } = made.definitions
  const { zone } = latestRenewal(calendar)
  console.log(`  ${made.note.reason}`)
  if (calendar !== view.definitions.calendar) {
    console.log(`  before, months turned ${showRenewal(latestRenewal(view.definitions.calendar))}`)
    const [end, before] = [monthAt(calendar, view.now).end, view.month.end]
    console.log(`  ${view.month.name} ends ${when(end, zone)} instead of ${when(before, zone)}`)
  }
  if (isDry) return changesNothing()
  console.log(`Changed: revision ${(await change(opened, make)).revision}.`)
  return true
}
