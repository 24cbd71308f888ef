// The core is what the guard cannot do without. It imports no leaf, not even a type.

/** A leaf is a feature that can be taken out: its files and folders, and its lines in the roots. */
export const leaves: Readonly<Record<string, readonly string[]>> = {
  reports: [
    'shared/reports',
    'shared/api/reports',
    'functions/api/routes/reports',
    'shared/slack/reports',
    'infra/local/commands/attention.ts',
  ],
  events: ['shared/events', 'infra/event-targets.ts', 'infra/local/commands/events'],
  issuers: [
    'shared/auth/fetch-json.ts',
    'shared/auth/issuer-claims.ts',
    'shared/auth/issuer-keys.ts',
    'shared/auth/issuers.ts',
    'shared/auth/issuers-file.ts',
    'shared/auth/stored-keys.ts',
    'functions/dashboard/sealed-start.ts',
  ],
  dashboard: ['functions/dashboard'],
  agents: ['functions/mcp', 'shared/auth/signed-quotes.ts'],
  edge: ['infra/edge'],
  reference: ['infra/openapi', 'infra/local/commands/openapi.ts'],
  demo: ['infra/local/demo'],
  doctor: ['infra/local/commands/doctor'],
  /** Backup, restore and move, and the commands `account` and `close`. */
  'ledger commands': ['infra/local/commands/ledger', 'infra/local/database/backup.ts'],
}

/** The files of the core that put the product together. They may import leaves. */
export const roots: readonly string[] = [
  'functions/api/app.ts',
  'functions/api/extras.ts',
  'infra/bundle.ts',
  'infra/settings-files.ts',
  'infra/unit-guard-stack.ts',
  'infra/unit-guard.ts',
  'infra/local/programs.ts',
  'infra/local/server.ts',
  'infra/local/start.ts',
  'shared/background/background.ts',
  'shared/services/services.ts',
  'shared/slack/slack.ts',
]

/** The leaf of a file. `undefined`: the file is of the core. */
export const leafOf = (file: string): string | undefined =>
  Object.entries(leaves).find(([, places]) =>
    places.some((place) => file === place || file.startsWith(`${place}/`)),
  )?.[0]

/** The folders of a room, the lowest first: each imports only those before it. `.`: the files of the room itself, if they may import the folders before. */
export const folderOrder: Readonly<Record<string, readonly string[]>> = {
  'functions/dashboard': ['kit', 'components', 'pages'],
  'shared/api': ['answers', '.', 'reports'],
  'shared/guard': ['rules', 'people', 'update', 'plans', 'sweep', 'inbox', 'troubles', 'reads'],
  'shared/ledger': ['store', 'definitions', 'updates', 'book', 'views'],
  'shared/reports': ['plans', 'statements'],
  'shared/slack': ['messages', 'tell', 'receive', 'reports'],
}

interface Import {
  readonly from: string
  readonly to: string
}

/**
 * The imports within `room` that make a circle of its folders. A file of the room itself is either a common word, which
 * imports no folder, or the room's face, which no folder imports.
 */
export function foldersInCircles(
  imports: readonly Import[],
  room: string,
): readonly (Import & { readonly why: string })[] {
  const within = imports
    .filter(({ from, to }) => [from, to].every((file) => file.startsWith(`${room}/`)))
    .map((each) => ({ ...each, fromPart: partOf(each.from, room), toPart: partOf(each.to, room) }))
    .filter(({ fromPart, toPart }) => fromPart !== toPart)
  const order = folderOrder[room] ?? []
  const reach = (start: string): ReadonlySet<string> => {
    const found = new Set([start])
    for (const part of found) for (const each of within) if (each.fromPart === part) found.add(each.toPart)
    return found
  }
  const belowFiles = order.slice(0, Math.max(0, order.indexOf('.')))
  const isFaceFor = (folder: string, file: string) =>
    [...reach(file)].some((each) => !isFile(each) && (each === folder || !belowFiles.includes(each)))
  return within.flatMap(({ from, to, fromPart, toPart }) => {
    const fault = (why: string) => [{ from, to, why }]
    if (isFile(fromPart)) return []
    if (isFile(toPart)) return isFaceFor(fromPart, toPart) ? fault(`${toPart} imports folders of ${room}`) : []
    const [lower, higher] = [order.indexOf(fromPart), order.indexOf(toPart)]
    if (order.length > 0) return lower > higher && higher >= 0 ? [] : fault(`${fromPart} is below ${toPart}`)
    return reach(toPart).has(fromPart) ? fault(`${toPart} imports ${fromPart}`) : []
  })
}

/** The folder of a room that has the file, or the file's own name. */
const partOf = (file: string, room: string): string => file.slice(room.length + 1).split('/')[0] ?? ''
const isFile = (part: string): boolean => part.includes('.')
