import { readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory } from './directory.ts'
import type { Environment } from './settings.ts'

/** The file that `source` makes a shell ready with, and that the commands read by themselves. */
const envFileOf = (directory: string): string => join(directory, 'env')

/** Names what `npm start` has found itself, such as addresses, with what it was. */
const foundHere = 'FOUND_HERE'

/**
 * Never seen half written, nor by anybody else on this machine: it holds a token that may do everything.
 *
 * @param found what the next start finds anew: addresses, and the plans that come with the sandbox.
 */
export async function writeEnvFile(directory: string, env: Environment, found: Environment): Promise<string> {
  const file = envFileOf(directory)
  const marker = Object.entries(found).map(marked)
  const all = { ...env, ...found, [foundHere]: marker.join(' ') }
  const lines = Object.entries(all).flatMap(([name, value]) => (value ? [`export ${name}=${quote(value)}\n`] : []))
  await makeDirectory(directory)
  await writeFile(`${file}.new`, lines.join(''), { mode: 0o600 })
  await rename(`${file}.new`, file)
  return file
}

/** What `writeEnvFile` has written; empty where there is no such file. */
export function readEnvFile(directory: string): Environment {
  const text = readIfThere(envFileOf(directory))
  const lines = text.matchAll(/^export (\w+)=((?:'[^']*'|\\')*)$/gm)
  return Object.fromEntries([...lines].map(([, name, quoted]) => [name, unquote(quoted ?? '')]))
}

/**
 * An environment without what an earlier start had found: a shell that has sourced its file asks for
 * nothing with them. Whatever was set to something else since then stays.
 */
export function withoutFound(env: Environment): Environment {
  const found = new Set((env[foundHere] ?? '').split(' '))
  return Object.fromEntries(Object.entries(env).filter((entry) => !found.has(marked(entry))))
}

/** Without a space, which is between two of them. */
const marked = ([name, value = '']: [string, string | undefined]): string => `${name}=${encodeURI(value)}`

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Nothing is special to a shell between single quotes but the quote itself. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
const unquote = (text: string): string => text.replaceAll(/'([^']*)'|\\(')/g, (_, plain, escaped) => escaped ?? plain)
