import type { Clock } from '../../platform/clock.ts'
import { isSame, type Noted, type NotedTroubles, withOnly } from './noted.ts'

/** Options of a deployment that one can lose without an error. */
export const losableOptions = ['alarmEmail', 'domain', 'awsBudget', 'reserve'] as const
export type LosableOption = (typeof losableOptions)[number]

const states = ['given', 'missing', 'unwanted'] as const
/** `unwanted`: it is missing on purpose. */
type OptionState = (typeof states)[number]
export type DeployedOptions = Readonly<Record<LosableOption, OptionState>>

/** Such as `alarmEmail=given domain=missing awsBudget=missing reserve=unwanted`. */
export const toOptionsText = (deployed: DeployedOptions): string =>
  losableOptions.map((name) => `${name}=${deployed[name]}`).join(' ')

/** `undefined`: not such a text. */
export function parseOptions(text: string): DeployedOptions | undefined {
  const found = Object.fromEntries(text.split(' ').map((each) => each.split('=')))
  const isWhole = losableOptions.every((name) => states.includes(found[name]))
  return isWhole ? (found as DeployedOptions) : undefined
}

/** Writes only what a deployment changed. @returns what was noted before. */
export async function noteOptions(
  items: NotedTroubles,
  {
    deployedOptions: deployed,
    clock,
  }: { readonly deployedOptions?: DeployedOptions | undefined; readonly clock: Clock },
): Promise<Noted> {
  const noted = await items.read()
  if (!deployed) return noted
  const now = clock.now()
  const change = (before: Noted) => withOptions(before, deployed, now)
  if (!isSame(noted, change(noted))) await items.change(change)
  return noted
}

/** An option that a deployment had stays expected until a deployment has it again, or is without it on purpose. */
function withOptions(noted: Noted, deployed: DeployedOptions, now: number): Noted {
  const before = noted.options ?? []
  const expected = losableOptions.filter(
    (name) => deployed[name] === 'given' || (deployed[name] === 'missing' && before.includes(name)),
  )
  const lost = expected.filter((name) => deployed[name] === 'missing')
  const troubles = lost.map((about) => ({ slug: 'option-lost', about, since: now }))
  return { ...withOnly(noted, ({ slug }) => slug === 'option-lost', troubles), options: expected }
}
