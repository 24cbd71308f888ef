import * as z from 'zod/mini'
import { parseLenientJson } from '../../shared/platform/json.ts'
import { WrongSettings } from '../../shared/platform/settings.ts'
import { readTextFile, WrongFile } from '../../shared/platform/settings-file.ts'
import { settingsFiles, type Target } from '../settings-files.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** HS256 needs at least 32 bytes (RFC 7518, section 3.2). */
const key = z.string().check(z.regex(/^[\x21-\x7e]{32,}$/))
export const storedKey = z.object({ current: key, previous: z.exactOptional(key) })
export type StoredKey = z.output<typeof storedKey>

const wrongKey = 'must be at least 32 visible ASCII characters, or {"current":"…","previous":"…"} while it is rotated'

export const keySetting = z.pipe(
  z.string(wrongKey),
  z.transform((text, context): StoredKey => {
    const parsed = storedKey.safeParse(text.startsWith('{') ? parseLenientJson(text) : { current: text })
    if (parsed.success) return parsed.data
    context.issues.push({ code: 'custom', message: wrongKey, input: undefined })
    return z.NEVER
  }),
)

/** The secrets of event targets are not listed, because the targets file names them. */
const secretVariables = [
  'TRACKING_TOKEN',
  'CALLER_KEY',
  'QUOTE_KEY',
  'LOGIN_CLIENT',
  'SLACK_SIGNING_SECRET',
  'SLACK_WEBHOOK_URL',
  'SLACK_BOT_TOKEN',
]
export const secretFileVariables = secretVariables.map((name) => `${name}_FILE`)

/** Puts each secret into its variable, also a secret that is in a file. @throws WrongSettings */
export const withGivenSecrets = (env: Variables): Variables => ({
  ...env,
  ...Object.fromEntries(secretFileVariables.map((name) => [name, undefined])),
  ...Object.fromEntries(secretVariables.map((name) => [name, givenSecret(env, name)])),
})

/** Reads a secret from its variable, or from the file that the same variable with `_FILE` names. @throws WrongSettings */
function givenSecret(env: Variables, name: string): string | undefined {
  const setting = `${name}_FILE`
  const { [name]: given, [setting]: path } = env
  if (!path) return given || undefined
  if (given) throw new WrongSettings(`${name} and ${setting} are both set: unset one of them`)
  try {
    const { text, file } = readTextFile(path, 'file')
    // Editors and `echo` end a file with a newline.
    const secret = text.replace(/\r?\n$/, '')
    if (secret === '') throw new WrongFile(`the file ${file} is empty`)
    return secret
  } catch (error) {
    if (!(error instanceof WrongFile)) throw error
    throw new WrongSettings(`${setting}: ${error.message}; it must hold the secret and nothing else`)
  }
}

/** On one machine the secret `unit-guard/x/y` is the environment variable `X_Y`. */
const variableOf = (secret: string): string =>
  secret
    .replace(/^[^/]+\//, '')
    .replace(/[/-]/g, '_')
    .toUpperCase()

/** @throws WrongFile, WrongSettings */
export function readLocalEvents(env: Variables) {
  const targets: readonly Target[] = settingsFiles.targets({ EVENT_TARGETS: env.EVENT_TARGETS })
  const secrets = targets.map((target): [string, StoredKey] => {
    const name = variableOf(target.secret)
    const current = givenSecret(env, name)
    if (current) return [target.secret, { current }]
    throw new WrongSettings(
      `${name}: must be the key of the event target ${target.name}, whsec_ and 24 bytes in base64`,
    )
  })
  return {
    /** The receivers of events, for the terminal. */
    to: targets.map(({ name }) => name),
    secrets: Object.fromEntries(secrets),
  }
}
