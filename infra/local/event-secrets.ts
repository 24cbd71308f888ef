import { readTargets } from '../../shared/events/targets-file.ts'
import { WrongSettings } from '../../shared/platform/settings.ts'

/** On one machine the secret `unit-guard/x/y` is the environment variable `X_Y`. */
const variableOf = (secret: string): string =>
  secret
    .replace(/^[^/]+\//, '')
    .replace(/[/-]/g, '_')
    .toUpperCase()

export interface LocalEvents {
  /** Where events go, for the terminal. */
  readonly to: readonly string[]
  readonly secrets: Readonly<Record<string, { readonly current: string }>>
}

/** @throws WrongTargets, WrongSettings */
export function readLocalEvents(env: Readonly<Record<string, string | undefined>>): LocalEvents {
  const targets = readTargets({ EVENT_TARGETS: env.EVENT_TARGETS, EVENT_BUS: env.EVENT_BUS })
  const secrets = targets.flatMap((target): [string, { current: string }][] => {
    if (target.kind === 'bus') return []
    const name = variableOf(target.secret)
    const current = env[name]
    if (current) return [[target.secret, { current }]]
    throw new WrongSettings(
      `${name}: must be the key of the event target ${target.name}, whsec_ and 24 bytes in base64`,
    )
  })
  return {
    to: targets.map((target) => (target.kind === 'bus' ? `the bus ${target.bus}` : target.name)),
    secrets: Object.fromEntries(secrets),
  }
}
