import { toLocal } from '../../platform/clock.ts'
import { latestRenewal } from '../definitions/windows.ts'
import type { View } from './view.ts'

const maxListed = 5

/** Cuts a long list. */
export const fewOf = (texts: readonly string[]): string =>
  `${texts.slice(0, maxListed).join(', ')}${texts.length > maxListed ? ` and ${texts.length - maxListed} more` : ''}`

const two = (number: number) => String(number).padStart(2, '0')

/** The instant as people of the account write it. */
export function wall({ definitions }: Pick<View, 'definitions'>, instant: number): string {
  const { zone } = latestRenewal(definitions.calendar)
  const { year, month, day, hour, minute } = toLocal(instant, zone)
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)} ${zone}`
}
