import { context, first, header, type Message, message, section, sections } from '../blocks.ts'
import { code, date } from '../text.ts'
import { bold, counted } from './words.ts'

const mostRows = 15
const mostDates = 5

/** Data sets of the service that no update of the guard can have made. */
export function foreignDataMessage({
  found,
  more,
}: {
  readonly found: readonly { readonly project: string; readonly dates: readonly string[] }[]
  readonly more: number
}): Message {
  const all = found.length + more
  const lead = `The vendor has new data for ${bold(counted(all, 'project'))} that Unit Guard did not start.`
  const rows = found.map(({ project, dates }) => `• ${code(project)}: ${datesOf(dates)}`)
  return message(lead, [
    header('Updates from elsewhere'),
    section(`${lead} Somebody may have used the vendor’s screen, or a schedule there. If units were spent, book them.`),
    ...sections(first(rows, mostRows)),
    context(`${code('/units reconcile <units left> <reason>', 200)} squares the figures with the vendor’s screen.`),
  ])
}

function datesOf(dates: readonly string[]): string {
  const more = dates.length - mostDates
  return `${dates.slice(-mostDates).join(', ')}${more > 0 ? ` and ${more} before` : ''}`
}

/** The service's own token ends soon, or has ended: then nothing can be updated any more. */
export function tokenExpiresMessage({
  expiresAt,
  daysLeft,
  zone,
}: {
  readonly expiresAt: number
  /** Below 0: it has ended. */
  readonly daysLeft: number
  readonly zone: string
}): Message {
  const hasEnded = daysLeft < 0
  const when = daysLeft === 0 ? 'in less than a day' : `in ${counted(daysLeft, 'day')}`
  const lead = hasEnded
    ? `The token of the tracking service ${bold('has ended')}, on ${date(expiresAt, zone)}.`
    : `The token of the tracking service ends ${bold(when)}, on ${date(expiresAt, zone)}.`
  const after = hasEnded ? 'Every update is refused.' : 'After that every update is refused.'
  return message(lead, [
    header(hasEnded ? 'The service’s token has ended' : 'The service’s token ends soon'),
    section(`${lead} ${after} Ask the vendor for a new one and put it into the secret.`),
  ])
}
