import { usualNamespace } from './metrics.ts'

/** The start of every name on AWS that this product chooses. */
export const usualPrefix = 'unit-guard'

/** Guards in one account must not share metrics. */
export const namespaceOf = (prefix: string): string => (prefix === usualPrefix ? usualNamespace : prefix)

/** Short, because the names of rules have at most 64 characters. */
export const isPrefix = (text: string): boolean => /^[a-z](-?[a-z0-9]){0,23}$/.test(text)

/** The parameter with the marker of the ledger. */
export const ledgerParameterOf = (prefix: string): string => `/${prefix}/ledger`

/** The region is in the name, because each guard's edge reads a copy of the secret in one region. */
export const originSecretOf = (prefix: string, region: string): string => `${prefix}/origin-${region}`

export type SecretName = 'service-token' | 'caller-key' | 'quote-key' | 'slack' | 'login-client' | 'origin'

/** The settings that tell a function its secrets. */
export const settingOfSecret: Readonly<Record<SecretName, string>> = {
  'service-token': 'SERVICE_TOKEN_SECRET',
  'caller-key': 'CALLER_KEY_SECRET',
  'quote-key': 'QUOTE_KEY_SECRET',
  slack: 'SLACK_SECRET',
  'login-client': 'LOGIN_CLIENT_SECRET',
  origin: 'ORIGIN_SECRET',
}

/** The secrets of the guard with this prefix, by setting. Without the origin's, which no command reads. */
export function secretsOf(prefix: string): Readonly<Record<string, string>> {
  const { origin: _origin, ...settings } = settingOfSecret
  return Object.fromEntries(Object.entries(settings).map(([name, setting]) => [setting, `${prefix}/${name}`]))
}
