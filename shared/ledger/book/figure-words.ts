import { onTheWall } from '../../platform/clock.ts'
import { latestRenewal } from '../definitions/windows.ts'
import type { View } from './view.ts'

const maxListed = 5

/** Cuts a long list. */
export const fewOf = (texts: readonly string[]): string =>
  `${texts.slice(0, maxListed).join(', ')}${texts.length > maxListed ? ` and ${texts.length - maxListed} more` : ''}`

/** The instant as people of the account write it. */
export function wall({ definitions }: Pick<View, 'definitions'>, instant: number): string {
  const { zone } = latestRenewal(definitions.calendar)
  return `${onTheWall(instant, zone)} ${zone}`
}
