import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'oxc-parser'
import { describe, expect, test } from 'vitest'
import { figures } from './figures.ts'
import { folderOrder, foldersInCircles, leafOf, leaves, roots } from './layers.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

const filesIn = (folder: string, recursive: boolean): string[] =>
  readdirSync(join(root, folder), { recursive, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    // test/runtime has packages of its own once its tests have run.
    .filter((file) => !file.includes('node_modules/'))

const files = ['functions', 'shared', 'infra', 'test'].flatMap((folder) => filesIn(folder, true))
const docs = [...files, ...filesIn('.', false), ...filesIn('docs', true)].filter((file) => file.endsWith('.md'))
const isTest = (file: string) => file.endsWith('.test.ts')

interface Import {
  readonly from: string
  readonly to: string
  readonly typeOnly: boolean
}

interface Source {
  readonly file: string
  readonly text: string
  readonly imports: readonly Import[]
  readonly functions: readonly { readonly name: string; readonly lines: number }[]
  readonly names: readonly string[]
  /** The comments of the file, each on one line. */
  readonly comments: readonly string[]
  /** Its literal texts, such as titles of tests and sentences for people. */
  readonly strings: readonly string[]
  /** The spreads of literals, such as `...{ a, b }`. */
  readonly literalSpreads: readonly string[]
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

/** An expression that may have a type beside it, such as `['a'] as const`. */
interface Typed {
  readonly type: string
  readonly expression?: unknown
}

/** The literal of `literal as const` and of `literal satisfies Type`. */
const withoutType = (value: Typed): Typed =>
  /^TS(As|Satisfies)Expression$/.test(value.type) ? withoutType(value.expression as Typed) : value

/** Names a function after its declaration. A function that is passed on is named after the declaration around it. */
function read(file: string): Source {
  const text = readFileSync(join(root, file), 'utf8')
  const { program, comments, module } = parseSync(file, text)
  const [names, functions] = [new Set<string>(), [] as { name: string; lines: number }[]]
  const [path, strings, literalSpreads]: [string[], string[], string[]] = [[], [], []]
  const enter = (name: string | undefined) => void path.push(name ?? path.at(-1) ?? 'default')
  const leave = () => void path.pop()
  const named = (key: object | null) => (key && 'name' in key ? String(key.name) : undefined)
  const measure = (node: Node, name = path.at(-1) ?? 'default') =>
    void functions.push({ name, lines: text.slice(node.start, node.end).split('\n').length })
  const spread = ({ start, end, argument }: Node & { readonly argument: Typed }) => {
    const written = withoutType(argument)
    if (/^(Object|Array)Expression$/.test(written.type)) literalSpreads.push(text.slice(start, end).slice(0, 40))
  }
  new Visitor({
    SpreadElement: spread,
    JSXSpreadAttribute: spread,
    Identifier: ({ name }) => void names.add(name),
    Literal: ({ value }) => void (typeof value === 'string' && strings.push(value)),
    TemplateElement: ({ value }) => void strings.push(value.raw),
    JSXText: ({ value }) => void strings.push(value.replace(/\s+/g, ' ')),
    VariableDeclarator: ({ id }) => enter(named(id)),
    'VariableDeclarator:exit': leave,
    Property: ({ key }) => enter(named(key)),
    'Property:exit': leave,
    MethodDefinition: ({ key }) => enter(named(key)),
    'MethodDefinition:exit': leave,
    PropertyDefinition: ({ key }) => enter(named(key)),
    'PropertyDefinition:exit': leave,
    FunctionDeclaration: (node) => {
      enter(named(node.id))
      measure(node)
    },
    'FunctionDeclaration:exit': leave,
    FunctionExpression: (node) => measure(node),
    ArrowFunctionExpression: (node) => measure(node),
  }).visit(program)
  const found = [
    ...module.staticImports.map(({ moduleRequest, entries }) => ({
      path: moduleRequest.value,
      typeOnly: entries.length > 0 && entries.every(({ isType }) => isType),
    })),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => ({
      path: text.slice(start + 1, end - 1),
      typeOnly: false,
    })),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, isType }) =>
        moduleRequest ? [{ path: moduleRequest.value, typeOnly: isType }] : [],
      ),
    ),
  ]
  return {
    file,
    text,
    functions,
    strings,
    literalSpreads,
    names: [...names],
    comments: comments.map(({ value }) => value.replace(/\s*\n\s*\*?\s*/g, ' ')),
    imports: found
      .filter(({ path }) => path.startsWith('.'))
      .map(({ path, typeOnly }) => ({ from: file, to: relative(root, join(root, dirname(file), path)), typeOnly })),
  }
}

const sources = files.filter((file) => /\.(ts|tsx|js)$/.test(file)).map(read)
const imports = sources.flatMap((source) => source.imports)

/** The room of a file: `shared/guard`, `functions/api`, `infra/local`, `test`. */
function roomOf(file: string): string {
  const [top = '', next = ''] = file.split('/')
  if (top === 'shared' || top === 'functions') return `${top}/${next}`
  return top === 'infra' && next === 'local' ? 'infra/local' : top
}

const mayImport: Record<string, RegExp> = {
  // The version of Unit Guard.
  'shared/platform': /^package\.json$/,
  'shared/tracking': /^shared\/platform$/,
  'shared/records': /^shared\/(platform|tracking)$/,
  'shared/ledger': /^shared\/(platform|records)$/,
  'shared/auth': /^shared\/(platform|ledger)$/,
  'shared/guard': /^shared\/(platform|tracking|records|ledger|auth)$/,
  'shared/reports': /^shared\/(platform|tracking|ledger|guard)$/,
  'shared/services': /^shared\/(platform|tracking|ledger|guard|auth|reports)$/,
  'shared/events': /^shared\/(platform|ledger|guard|services|api)$/,
  'shared/slack': /^shared\/(platform|ledger|auth|guard|reports|services)$/,
  'shared/background': /^shared\/(reports|services|events|slack)$/,
  'shared/api': /^shared\/(platform|tracking|records|ledger|guard|auth|reports)$/,
  // The client is copied into other programs.
  'shared/client': /^$/,
  'functions/api': /^shared\//,
  'functions/dashboard': /^shared\//,
  'functions/mcp': /^shared\//,
  'functions/outbox': /^shared\//,
  'functions/scheduled': /^shared\//,
  'functions/sandbox': /^shared\//,
  'functions/slack': /^shared\//,
  infra: /^((shared|functions)\/|package\.json$)/,
  // One command builds the construct.
  'infra/local': /^(infra$|(shared|functions)\/)/,
  test: /./,
}

/** Slack has words for the kinds of updates, and the ledger stores their names. */
const mayName = (to: string, room: string, typeOnly: boolean): boolean =>
  to === 'shared/tracking/kinds.ts' && (room === 'shared/slack' || (room === 'shared/ledger' && typeOnly))

describe('imports', () => {
  test('the reading of files finds imports', () => {
    expect(imports.length).toBeGreaterThan(200)
  })

  test('imports go one way between rooms', () => {
    const wrong = imports.filter(({ from, to, typeOnly }) => {
      const [room, other] = [roomOf(from), roomOf(to)]
      return room !== other && !mayImport[room]?.test(other) && !mayName(to, room, typeOnly)
    })
    expect(wrong).toEqual([])
  })

  test('schemas of answers import nothing of the folder that shows answers', () => {
    const wrong = imports.filter(
      ({ from, to }) => dirname(from) === 'shared/api/answers' && dirname(to) === 'shared/api',
    )
    expect(wrong).toEqual([])
  })
})

/** Each file in a circle of imports, type-only imports included, with one such circle. */
function circlesIn(arrows: readonly { readonly from: string; readonly to: string }[]): Map<string, string> {
  const graph = new Map<string, string[]>()
  for (const { from, to } of arrows) graph.set(from, [...(graph.get(from) ?? []), to])
  const wayBack = (start: string): string | undefined => {
    const cameFrom = new Map<string, string>()
    const queue = [start]
    for (const file of queue) {
      for (const next of graph.get(file) ?? []) {
        if (next === start) {
          const way = [start]
          for (let at: string | undefined = file; at !== undefined && at !== start; at = cameFrom.get(at))
            way.unshift(at)
          return [start, ...way].join(' → ')
        }
        if (cameFrom.has(next)) continue
        cameFrom.set(next, file)
        queue.push(next)
      }
    }
    return undefined
  }
  return new Map(
    [...graph.keys()].flatMap((file): [string, string][] => {
      const circle = wayBack(file)
      return circle === undefined ? [] : [[file, circle]]
    }),
  )
}

const isProduct = (file: string) => !isIn(file, 'test')
const isIn = (file: string, folder: string) => file === folder || file.startsWith(`${folder}/`)

/** The folders of the product's code. */
const folders = [...new Set(sources.map(({ file }) => dirname(file)).filter(isProduct))]
const withinRooms = imports.filter(({ from, to }) => roomOf(from) === roomOf(to))

const maxLines = 300
/** A test compares it with the schemas. */
const generated = 'shared/client/shapes.ts'
const maxFunctionLines = 70
const maxFiles = 20

/** The name and the return type of each function why… of a file. */
const whyFunctions = /^(?:export )?(?:async )?(?:function|const) (why[A-Z]\w*)[\s\S]*?\)(?:: ([^{}=\n]+))? (?:\{$|=>)/gm

const fieldWords = /^(tracking|string)$/
// U9NOBODY is the id of a user in tests.
const forbiddenWords =
  /whoever|somebody|(?<!U\d)nobody|\banew\b|\bis none\b|\bthat are none\b|\bfor want of\b|\bas it were\b|\bgoes on\b|\bby then\b|\bwhat (became|becomes) of\b/i
const foreignDocuments = /\bthe contract\b|\bthe design\b|\binterface document\b|\b(contract|design)\.md\b/i
const faces = /^(functions\/(api|dashboard|mcp|slack|scheduled|outbox)|shared\/(slack|api))\//

/** Whether a file of the ledger can read or write, because it imports the store or a file that does. */
function reachesStore(file: string, seen = new Set<string>()): boolean {
  if (/^shared\/ledger\/store\/(store|dynamo-\w+|sqlite-\w+)\.ts$/.test(file)) return true
  if (seen.has(file)) return false
  seen.add(file)
  return imports.some(({ from, to, typeOnly }) => from === file && !typeOnly && reachesStore(to, seen))
}

/** The text of each file for people: its name, names, comments and texts, or the whole of a document on one line. */
const prose = [
  ...sources.map(({ file, comments, names, strings }) => ({ file, texts: [...comments, ...names, ...strings, file] })),
  ...docs.map((file) => ({ file, texts: [readFileSync(join(root, file), 'utf8').replace(/\s+/g, ' ')] })),
].filter(({ file }) => file !== 'test/tidy.test.ts')

const namedFile = /(?<![\w/])(?:shared|functions|infra|test|docs)\/[\w./-]*\w\.(?:tsx?|js|css|md)\b/g

const headingsOf = (file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

/** The dead links of a document, and the files in a text that do not exist. */
function deadReferences(file: string, text: string): string[] {
  const links = file.endsWith('.md') ? [...text.matchAll(/\]\((?![a-z]+:)([^)#\s]*)#?([^)\s]*)\)/g)] : []
  const isDead = (path: string, heading: string) => {
    const to = path === '' ? file : join(dirname(file), path)
    return !existsSync(join(root, to)) || (heading !== '' && to.endsWith('.md') && !headingsOf(to).includes(heading))
  }
  return [
    ...links.filter(([, path = '', heading = '']) => isDead(path, heading)).map(([link]) => link.slice(2, -1)),
    ...[...text.matchAll(namedFile)].map(([path]) => path).filter((path) => !existsSync(join(root, path))),
    ...(file.endsWith('.md') ? [...text.matchAll(/`([\w/-]+\.tsx?)`/g)] : [])
      .map(([, path = '']) => path)
      .filter((path) => !files.some((each) => each === path || each.endsWith(`/${path}`))),
  ]
}

/** A subject, such as a file, and its problem. */
type Finding = readonly [subject: string, problem: string]

const rules: Record<string, { readonly repair: string; find(): readonly Finding[] }> = {
  'long-file': {
    repair: `Split the file by concept: at most ${maxLines} lines, files of tests apart.`,
    find: () =>
      sources
        .map(({ file, text }) => ({ file, lines: text.trimEnd().split('\n').length }))
        .filter(({ file, lines }) => !isTest(file) && file !== generated && lines > maxLines)
        .map(({ file, lines }) => [file, `${lines} lines`]),
  },
  'long-function': {
    repair: `Cut the function: at most ${maxFunctionLines} lines. Move its steps to the top level of the file.`,
    find: () =>
      sources
        .filter(({ file }) => !isTest(file))
        .flatMap(({ file, functions }) =>
          functions
            .filter(({ lines }) => lines > maxFunctionLines)
            .map(({ name, lines }): Finding => [`${file} ${name}`, `${lines} lines`]),
        ),
  },
  'full-folder': {
    repair: `Make rooms of the folder or merge files that are one concept: at most ${maxFiles} files.`,
    find: () => {
      const counts = new Map<string, number>()
      for (const folder of files.map(dirname)) counts.set(folder, (counts.get(folder) ?? 0) + 1)
      return [...counts].filter(([, count]) => count > maxFiles).map(([folder, count]) => [folder, `${count} files`])
    },
  },
  circle: {
    repair: 'Move what both files need to a file below them, types included.',
    find: () => [...circlesIn(imports)],
  },
  'circle-of-folders': {
    repair: 'Move the file or function to the lower folder, or pass a function (order: test/layers.ts).',
    find: () =>
      folders
        .flatMap((folder) => foldersInCircles(withinRooms, folder))
        .map(({ from, to, why }) => [`${from} → ${to}`, why]),
  },
  'idle-order': {
    repair: 'Correct test/layers.ts: the folder is not there, or is not in the order.',
    find: () =>
      Object.entries(folderOrder).flatMap(([room, order]) => {
        const own = folders.filter((folder) => dirname(folder) === room).map((folder) => basename(folder))
        return [...own, ...order.filter((name) => name !== '.')]
          .filter((name) => own.includes(name) !== order.includes(name))
          .map((name): Finding => [room, name])
      }),
  },
  'core-imports-leaf': {
    repair: 'Move what both need into the core, or let a root pass a function (test/layers.ts).',
    find: () =>
      imports
        .filter(({ from, to }) => isProduct(from) && leafOf(to) !== undefined)
        .filter(({ from }) => leafOf(from) === undefined && !roots.includes(from))
        .map(({ from, to }) => [from, to]),
  },
  'idle-layer': {
    repair: 'Take the place out of test/layers.ts: it does not exist, or the root imports no leaf.',
    find: () => [
      ...Object.values(leaves)
        .flat()
        .filter((place) => !existsSync(join(root, place)))
        .map((place): Finding => [place, 'is not there']),
      ...roots
        .filter((file) => !imports.some(({ from, to }) => from === file && leafOf(to) !== undefined))
        .map((file): Finding => [file, 'imports no leaf']),
    ],
  },
  'literal-spread': {
    repair: 'Write each member on a line of its own. A spread of a literal hides lines.',
    find: () => sources.flatMap(({ file, literalSpreads }) => literalSpreads.map((spread): Finding => [file, spread])),
  },
  'gerund-name': {
    repair: 'Rename the file or folder: a noun of the field or a plain verb.',
    find: () => {
      const words = files.flatMap((file) =>
        file.split('/').flatMap((part, index, parts): [string, string][] => {
          const word = part.replace(/(\.test)?\.\w+$/, '')
          const last = word.split('-').at(-1) ?? ''
          return last.endsWith('ing') && !fieldWords.test(last) ? [[parts.slice(0, index + 1).join('/'), word]] : []
        }),
      )
      return [...new Map(words)]
    },
  },
  'limit-name': {
    repair: 'Name a limit max… or min….',
    find: () =>
      sources.flatMap(({ file, text }): Finding[] =>
        [...text.matchAll(/^(?:export )?const ((?:most|least)[A-Z]\w*) =/gm)].map(([, name = '']) => [file, name]),
      ),
  },
  'why-name': {
    repair:
      'why… is null if nothing is wrong: `Problem | null` in the guard, `… | null` elsewhere. Else name it …Reason.',
    find: () =>
      sources
        .filter(({ file }) => !file.startsWith('test/'))
        .flatMap(({ file, text }) => [...text.matchAll(whyFunctions)].map((found) => ({ file, found })))
        .filter(({ file, found: [, , type = ''] }) => {
          const ofGuard = /^(Problem \| null|Promise<Problem \| null>)$/
          return !(file.startsWith('shared/guard/') ? ofGuard : /\| null>?$/).test(type)
        })
        .map(({ file, found: [, name = ''] }): Finding => [file, name]),
  },
  'forbidden-word': {
    repair: 'Say the caller, the approver, an operator, no one; missing, is not a …; again; because there is no.',
    find: () =>
      prose.flatMap(({ file, texts }): Finding[] => {
        const found = texts.flatMap((text) => forbiddenWords.exec(text)?.[0] ?? [])
        return found.length === 0 ? [] : [[file, [...new Set(found)].join(', ')]]
      }),
  },
  'foreign-document': {
    repair: 'Cite a file of docs/ or nothing: the document is not in this repository.',
    find: () =>
      prose.flatMap(({ file, texts }): Finding[] => {
        const found = texts.flatMap((text) => foreignDocuments.exec(text)?.[0] ?? [])
        return found.length === 0 ? [] : [[file, [...new Set(found)].join(', ')]]
      }),
  },
  'dead-reference': {
    repair: 'Name a file, and a heading of it, that is there.',
    find: () =>
      [
        ...docs.map((file): Finding => [file, readFileSync(join(root, file), 'utf8')]),
        ...sources.map(({ file, comments }): Finding => [file, comments.join(' ')]),
      ].flatMap(([file, text]) => deadReferences(file, text).map((reference): Finding => [file, reference])),
  },
  'face-imports-ledger': {
    repair:
      'Call the guard instead: from the ledger, a face imports types and pure functions (a handler also opens it).',
    find: () =>
      sources
        .filter(({ file }) => faces.test(file) && !file.endsWith('/handler.ts'))
        .map(({ file, imports }) => ({
          file,
          found: imports.filter(({ to, typeOnly }) => !typeOnly && roomOf(to) === 'shared/ledger' && reachesStore(to)),
        }))
        .filter(({ found }) => found.length > 0)
        .map(({ file, found }) => [file, found.map(({ to }) => to).join(', ')]),
  },
}

describe('folders of a room', () => {
  const imported = (from: string, to: string) => ({ from: `room/${from}.ts`, to: `room/${to}.ts` })

  test.each([
    ['a circle', [imported('low/a', 'high/b'), imported('high/c', 'low/d')], ['room/low/a.ts', 'room/high/c.ts']],
    [
      'a longer circle',
      [imported('a/a', 'b/b'), imported('b/b', 'c/c'), imported('c/c', 'a/b')],
      ['room/a/a.ts', 'room/b/b.ts', 'room/c/c.ts'],
    ],
    ['a folder that imports the face', [imported('face', 'low/a'), imported('low/b', 'face')], ['room/low/b.ts']],
    [
      'a word that reaches a folder through another',
      [imported('word', 'face'), imported('face', 'low/a'), imported('low/b', 'word')],
      ['room/low/b.ts'],
    ],
    ['nothing', [imported('face', 'high/b'), imported('high/b', 'low/a'), imported('low/a', 'word')], []],
  ])('%s is found', (_name, some, found) => {
    expect(foldersInCircles(some, 'room').map(({ from }) => from)).toEqual(found)
  })

  test('a folder must not import one above it in the order', () => {
    const upward = { from: 'shared/ledger/store/store.ts', to: 'shared/ledger/views/lists.ts' }
    expect(foldersInCircles([upward], 'shared/ledger')).toEqual([{ ...upward, why: 'store is below views' }])
  })
})

describe('tidy', () => {
  test.each(Object.entries(rules))('%s has no findings', (_name, { repair, find }) => {
    const found = find().map(([subject, problem]) => `${subject}: ${problem}`)
    expect(found, repair).toEqual([])
  })
})

describe('clock, chance and environment', () => {
  test.each([
    ['Date.now', /\bDate\.now\b|\bnew Date\(\)/],
    ['randomness', /\bMath\.random\b|\brandomUUID\b|\brandomBytes\b/],
    ['the environment', /\bprocess\.env\b/],
  ])('only shared/platform uses %s', (_name, pattern) => {
    const rooms = sources.filter(
      ({ file }) => /^(shared|functions)\//.test(file) && !file.startsWith('shared/platform/'),
    )
    const found = rooms.filter(({ text }) => pattern.test(text)).map(({ file }) => file)
    // The client imports nothing, and must compare an event's time with a clock.
    expect(found.filter((file) => file !== 'shared/client/events.ts')).toEqual([])
  })
})

describe('the size of the repository', () => {
  const ceilings = JSON.parse(readFileSync('test/ceilings.json', 'utf8')) as ReturnType<typeof figures>

  test.each(Object.entries(figures()))('%s (%i) is not above its ceiling', (name, figure) => {
    expect(figure).toBeLessThanOrEqual(ceilings[name as keyof typeof ceilings])
  })
})

interface Mutation {
  readonly parts: Record<string, { readonly mutate: string[]; readonly tests: string[]; readonly setup?: string[] }>
}

describe('names of files', async () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  const config = readFileSync('test/vitest.config.ts', 'utf8')
  const [, slowest = ''] = /const slowest = \[([^\]]*)\]/.exec(config) ?? []
  const { parts }: Mutation = await import(join(root, 'test/mutation/parts.js'))
  const mutated = Object.values(parts).flatMap(({ mutate, tests, setup = [] }) => [...mutate, ...tests, ...setup])

  test.each<[list: string, names: string[]]>([
    ['the scripts of package.json', Object.values(scripts).flatMap((script) => script.match(/\S+\/\S+/g) ?? [])],
    ['the list of the slowest tests', [...slowest.matchAll(/'([^']+)'/g)].map(([, name]) => `test/${name}.test.ts`)],
    ['the parts of the mutation', mutated.map((name) => name.replace(/^!/, ''))],
  ])('%s are names of files that exist', (_list, names) => {
    expect(names).not.toEqual([])
    const isMissing = (name: string) => !existsSync(name) && !files.some((file) => filesNamed(name).test(file))
    expect(names.filter(isMissing)).toEqual([])
  })
})

/** Reads `**`, `*`, `{a,b}` and `!(a)`, as the mutation does. */
function filesNamed(pattern: string): RegExp {
  const parts = pattern.match(/\*\*\/|\*|\{[^}]*\}|!\([^)]*\)|[^*{!]+|./g) ?? []
  return new RegExp(`^${parts.map(asExpression).join('')}$`)
}

function asExpression(part: string): string {
  if (part === '**/') return '(?:.*/)?'
  if (part === '*') return '[^/]*'
  if (part.startsWith('{')) return `(?:${part.slice(1, -1).split(',').map(filesNamedWithin).join('|')})`
  if (part.startsWith('!(')) return `(?!${part.slice(2, -1)}\\b)[^/]*`
  return part.replace(/[.+?^$()[\]|\\]/g, '\\$&')
}

const filesNamedWithin = (part: string): string => filesNamed(part).source.slice(1, -1)
