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
  'infra/app.ts',
  'infra/bundle.ts',
  'infra/settings-files.ts',
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
