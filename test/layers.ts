/**
 * The core is what the guard cannot do without. A leaf is a feature that can be taken out: its files and folders, and its
 * lines in the roots.
 */
export const leaves: Readonly<Record<string, readonly string[]>> = {
  reports: ['shared/reports', 'shared/api/reports', 'functions/api/routes/reports', 'shared/slack/reports'],
  events: [
    ...['shared/events', 'functions/api/routes/deliveries.ts', 'infra/event-targets.ts'],
    ...['infra/local/commands/events', 'infra/local/commands/events.ts'],
  ],
  login: [
    ...['issuer-claims', 'issuer-keys', 'issuers', 'issuers-file', 'fetch-json', 'stored-keys'].map(
      (name) => `shared/auth/${name}.ts`,
    ),
    ...['functions/dashboard/sealed-start.ts', 'infra/local/commands/doctor-identity.ts'],
  ],
  dashboard: ['functions/dashboard'],
  agents: ['functions/mcp', 'shared/auth/signed-quotes.ts'],
  edge: ['infra/edge'],
  reference: ['infra/openapi', 'infra/local/commands/openapi.ts'],
  demo: ['infra/local/demo'],
  doctor: ['infra/local/commands/doctor', 'infra/local/commands/doctor.ts'],
  'backup and move': ['infra/local/commands/ledger', 'infra/local/database/backup.ts'],
}
