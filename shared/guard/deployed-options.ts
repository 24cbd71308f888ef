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
