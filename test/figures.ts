import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { allOperations } from '../infra/openapi/document.ts'
import { eventTypes } from '../shared/events/types.ts'
import { problems } from '../shared/guard/problem-types.ts'
import { newsKinds } from '../shared/ledger/updates/tasks.ts'
import { roots } from './layers.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

const filesIn = (...folders: string[]): string[] =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
      .map((entry) => join(entry.parentPath, entry.name)),
  )

const textOf = (file: string): string => readFileSync(file, 'utf8')
const words = (text: string): number => text.split(/\s+/).filter(Boolean).length
const times = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length

/** The present counts. `test/ceilings.json` has the maximum of each, rounded up, so that few commits touch that file. */
export function figures() {
  const pages = filesIn('functions/dashboard/pages').filter((file) => file.endsWith('.tsx'))
  const docs = [...filesIn('docs').filter((file) => file.endsWith('.md')), join(root, 'README.md')]
  const { scripts } = JSON.parse(textOf(join(root, 'package.json'))) as { scripts: object }
  return {
    docsWords: words(docs.map(textOf).join('\n')),
    routes: allOperations.length,
    pages: times(pages.map(textOf).join('\n'), /^\s+GET: |\b(?:editPage|addPeriodPage)\(/gm),
    announcements: Object.keys(newsKinds).length,
    eventTypes: eventTypes.length,
    problems: Object.keys(problems).length,
    alarms: times(textOf(join(root, 'infra/alarms/alarm-table.ts')), /\bname: '|\bfromLines\(/g),
    settings: times(textOf(join(root, 'docs/settings.md')), /^\| `/gm),
    scripts: Object.keys(scripts).length,
    roots: roots.length,
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${JSON.stringify(figures(), null, 2)}\n`)
