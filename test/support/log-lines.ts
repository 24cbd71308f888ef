import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  chargeCorrectedLine,
  closedLine,
  holdLine,
  jobLine,
  requestLine,
  runLine,
} from '../../shared/guard/log-lines.ts'

// biome-ignore lint/suspicious/noExplicitAny: lines are read here as an operator reads them.
export type Line = Record<string, any>

export const linesOf = (logged: readonly string[], ...events: readonly string[]): Line[] =>
  logged.map((text): Line => JSON.parse(text)).filter(({ event }) => events.length === 0 || events.includes(event))

export const schemas = {
  request: requestLine,
  job: jobLine,
  hold: holdLine,
  run: runLine,
  closed: closedLine,
  'charge-corrected': chargeCorrectedLine,
}

/** Members that any line may have. */
export const common = [
  'at',
  'level',
  'event',
  'function',
  'requestId',
  'lambdaRequestId',
  'coldStart',
  'traceparent',
  'update',
]

/** The lists of docs/runbook.md: - `event` (`member`, …), … : what it means. An error stands below the heading of its alarm. */
export const documentedEvents = new Map(
  readFileSync('docs/runbook.md', 'utf8')
    .split(/^##+ /m)
    .flatMap((paragraph) => {
      const [heading = ''] = paragraph.split('\n', 1)
      const level = heading === 'Information' ? 'info' : 'error'
      return [...paragraph.matchAll(/^- ((?:`[\w-]+` \([^)]*\)(?:, )?)+): (.*(?:\n {2}.*)*)/gm)].flatMap(
        ([, events = '', text = '']) =>
          [...events.matchAll(/`([\w-]+)` \(([^)]*)\)/g)].map(([, event = '', members = '']) => {
            return [event, { level, members: members.split(/\W+/), heading, text }] as const
          }),
      )
    }),
)

export function faultOf(text: string): string | null {
  const line: Line = JSON.parse(text)
  const { event, level } = line
  const members = Object.keys(line)
  if (members.includes('cut')) return null
  if (members.includes('requestId') && !members.includes('function')) return `names no function: ${text}`
  if (members.includes('update') && !/^upd_[0-9a-z]+$/.test(line.update)) return `not the id of an update: ${text}`
  const schema = schemas[event as keyof typeof schemas]
  if (schema) {
    const parsed = schema.safeParse(line)
    if (!parsed.success) return `${JSON.stringify(parsed.error.issues)}: ${text}`
    const unknown = members.filter((name) => !(name in parsed.data))
    return unknown.length > 0 ? `${unknown} stand in no schema: ${text}` : null
  }
  const documented = documentedEvents.get(event)
  if (documented?.level !== level) return `not in docs/runbook.md as ${level}: ${text}`
  const unknown = members.filter((name) => !common.includes(name) && !documented?.members.includes(name))
  return unknown.length > 0 ? `docs/runbook.md does not name ${unknown}: ${text}` : null
}

export function eventsInSource(): Map<string, Set<string>> {
  const events = new Map<string, Set<string>>()
  const files = ['functions', 'shared'].flatMap((room) =>
    readdirSync(room, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => join(room, file)),
  )
  for (const file of files) {
    for (const [, level = '', event = ''] of readFileSync(file, 'utf8').matchAll(
      /\blog\??\.(info|error)\(\s*'([\w-]+)'/g,
    ))
      events.set(event, (events.get(event) ?? new Set()).add(level))
  }
  return events
}

/** A search could not find such an event. */
export function eventsWithoutName(): string[] {
  return ['functions', 'shared'].flatMap((room) =>
    readdirSync(room, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .flatMap((file) =>
        [...readFileSync(join(room, file), 'utf8').matchAll(/\blog(?:\[|\??\.(?:info|error)\((?!\s*'))[^)]*/g)].map(
          ([call]) => `${join(room, file)}: ${call}`,
        ),
      ),
  )
}
