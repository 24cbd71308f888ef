import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

const sources = ['functions', 'shared', 'infra', 'test']
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile() && /\.(ts|tsx|js)$/.test(entry.name))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))

interface Import {
  readonly from: string
  readonly to: string
  readonly typeOnly: boolean
}

const imports: Import[] = sources.flatMap((from) =>
  [
    ...readFileSync(join(root, from), 'utf8').matchAll(/^(?:import|export)\s+(type\s)?[^'"]*?from\s+'(\.[^']+)'/gms),
  ].map(([, type, path = '']) => ({
    from,
    to: relative(root, join(root, dirname(from), path)),
    typeOnly: type !== undefined,
  })),
)

/** The room of a file: `shared/guard`, `functions/api`, `infra/local`, `test`. */
function roomOf(file: string): string {
  const [top = '', next = ''] = file.split('/')
  if (top === 'shared' || top === 'functions') return `${top}/${next}`
  return top === 'infra' && next === 'local' ? 'infra/local' : top
}

const mayImport: Record<string, RegExp> = {
  'shared/platform': /^$/,
  'shared/tracking': /^shared\/platform$/,
  'shared/ledger': /^shared\/platform$/,
  'shared/guard': /^shared\/(platform|tracking|ledger)$/,
  'shared/slack': /^shared\/(platform|ledger|guard)$/,
  // It is copied into other people's programs as it is.
  'shared/client': /^$/,
  'functions/api': /^shared\//,
  'functions/outbox': /^shared\//,
  'functions/scheduled': /^shared\//,
  'functions/sandbox': /^shared\//,
  'functions/slack': /^shared\//,
  infra: /^((shared|functions)\/|package\.json$)/,
  'infra/local': /^(shared|functions)\//,
  test: /./,
}

describe('imports', () => {
  test('are found at all', () => {
    expect(imports.length).toBeGreaterThan(200)
  })

  test('go one way between rooms', () => {
    const wrong = imports.filter(({ from, to }) => {
      const [room, other] = [roomOf(from), roomOf(to)]
      return room !== other && !mayImport[room]?.test(other)
    })
    expect(wrong).toEqual([])
  })

  test('make no circle inside a room, types apart', () => {
    const graph = new Map<string, string[]>()
    for (const { from, to, typeOnly } of imports) if (!typeOnly) graph.set(from, [...(graph.get(from) ?? []), to])
    const circles: string[] = []
    const visit = (file: string, path: readonly string[]) => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
      else if (!done.has(file)) {
        for (const next of graph.get(file) ?? []) visit(next, [...path, file])
        done.add(file)
      }
    }
    const done = new Set<string>()
    for (const file of graph.keys()) visit(file, [])
    expect(circles).toEqual([])
  })
})

describe('clock, chance and environment', () => {
  test.each([
    ['Date.now', /\bDate\.now\b|\bnew Date\(\)/],
    ['randomness', /\bMath\.random\b|\brandomUUID\b|\brandomBytes\b/],
    ['the environment', /\bprocess\.env\b/],
  ])('%s is touched by shared/platform alone', (_name, pattern) => {
    const rooms = sources.filter((file) => /^(shared|functions)\//.test(file) && !file.startsWith('shared/platform/'))
    expect(rooms.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
  })
})
