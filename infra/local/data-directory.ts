import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { chmod, type FileHandle, mkdir, open, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { guardSettings } from '../../shared/guard/options.ts'
import { CannotContinue, fileFault } from './failures.ts'
import type { Environment } from './settings.ts'

export async function makeDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch((cause) => {
    const fault = `the directory ${directory} cannot be made (${fileFault(cause)})`
    throw new CannotContinue(`${fault}; set DATA_DIR to another directory`, { cause })
  })
}

/** Makes an empty file if it is missing. @returns its path. @throws CannotContinue */
export async function makePrivateFile(directory: string, name: string): Promise<string> {
  await makeDirectory(directory)
  // Fails for a container's volume that another user owns. The files are private anyway.
  await chmod(directory, 0o700).catch(() => {})
  const path = join(directory, name)
  try {
    // Synchronous: closing a file drops the locks that this process has on it, so no transaction may be open.
    closeSync(openSync(path, 'a', 0o600))
    await chmod(path, 0o600)
  } catch (cause) {
    const fault = `${path} cannot be written (${fileFault(cause)})`
    throw new CannotContinue(`${fault}; set DATA_DIR to another folder`, { cause })
  }
  return path
}

const envFileOf = (directory: string): string => join(directory, 'env')

/** Values that `npm start` found itself, such as addresses. */
const foundHere = 'FOUND_HERE'
/** The marks of all values of the file, as one text. */
const setHere = 'SET_HERE'

const place = ['DATA_DIR', 'UNIT_GUARD_URL', 'UNIT_GUARD_TOKEN', 'UNIT_GUARD_PID']
const own = [...place, 'SANDBOX_URL', 'SANDBOX_TOKEN', 'SLACK_SIGNING_SECRET']
const variables = [...Object.keys(guardSettings.shape), ...own, foundHere, setHere]

const comments = {
  file: 'Written by Unit Guard, which replaces it at each start. Run "source" with this file before curl and commands of npm run.',
  own: 'This Unit Guard: its folder, its address with a token that has all scopes, its process; the stand-in for the service.',
  settings: 'Its settings (docs/settings.md). They also hold for the next start in this shell.',
  found: 'What this start found itself. The next start finds these again, also in this shell.',
  marks: 'By these two the next start knows which values you set by hand. Do not change them.',
  unset: 'Variables that the shell may have from the file of another folder.',
}

/** Writes the env file. It also unsets variables that the shell may have from another directory. @param found values of this start alone. */
export async function writeEnvFile(directory: string, env: Environment, found: Environment): Promise<string> {
  const file = envFileOf(directory)
  const set = Object.entries({ ...env, ...found }).filter(([, value]) => value)
  const all = new Map([...set, [foundHere, Object.keys(found).join(' ')], [setHere, set.map(markOf).join('')]])
  const groupOf = (name: string) => {
    if ([foundHere, setHere].includes(name)) return 'marks'
    if (name in found) return 'found'
    return own.includes(name) ? 'own' : 'settings'
  }
  const unset = variables.filter((name) => !all.has(name))
  const lines = [
    `# ${comments.file}\n`,
    ...(['own', 'settings', 'found', 'marks'] as const).flatMap((group) => {
      const values = [...all].filter(([name]) => groupOf(name) === group)
      const exports = values.map(([name, value = '']) => `export ${name}=${quote(value)}\n`)
      return exports.length > 0 ? [`\n# ${comments[group]}\n`, ...exports] : []
    }),
    ...(unset.length > 0 ? [`\n# ${comments.unset}\nunset ${unset.join(' ')}\n`] : []),
  ]
  await makeDirectory(directory)
  await writePrivateFile(file, lines.join(''))
  return file
}

/** 0 for a missing file. */
export const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )

/** Renames a complete file, so that a reader never sees half of it, also after a power failure. */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600, flush: true })
  await rename(`${file}.new`, file)
  await syncFolder(dirname(file))
}

/** Without it, a power failure may undo a rename. */
export const syncFolder = (folder: string): Promise<void> => synced(folder, 'r', async () => {})

export async function synced(
  path: string,
  flags: string,
  work: (handle: FileHandle) => Promise<unknown>,
): Promise<void> {
  const handle = await open(path, flags)
  await work(handle)
    .then(() => handle.sync())
    .finally(() => handle.close())
}

export function readEnvFile(directory: string): Environment {
  const file = envFileOf(directory)
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const lines = text.matchAll(/^export (\w+)=((?:'[^']*'|\\')*)$/gm)
  return Object.fromEntries([...lines].map(([, name, quoted]) => [name, unquote(quoted ?? '')]))
}

/** Drops the values that an earlier start found. For another DATA_DIR or service, only values set by hand stay. */
export function withoutFound(env: Environment): Environment {
  const marks = new Set(env[setHere]?.match(/.{4}/g))
  const isByHand = (entry: [string, string | undefined]) => !marks.has(markOf(entry))
  const found = new Set((env[foundHere] ?? '').split(' '))
  const given = Object.entries(env).filter((entry) => !found.has(entry[0]) || isByHand(entry))
  const isElsewhere = given.some((entry) => elsewhere.includes(entry[0]) && isByHand(entry))
  if (env[setHere] === undefined || !isElsewhere) return Object.fromEntries(given)
  return Object.fromEntries(given.filter((entry) => ![foundHere, setHere].includes(entry[0]) && isByHand(entry)))
}

const elsewhere = ['DATA_DIR', 'TRACKING_BASE_URL']

/** A mark of four characters: 24 bits of a digest, so that the file has no value twice and one short line of marks. */
const markOf = ([name, value = '']: [string, string | undefined]): string =>
  createHash('sha256').update(`${name}=${value}`).digest('base64url').slice(0, 4)

/** Between single quotes, a shell treats only the quote specially. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
const unquote = (text: string): string => text.replaceAll(/'([^']*)'|\\(')/g, (_, plain, escaped) => escaped ?? plain)
