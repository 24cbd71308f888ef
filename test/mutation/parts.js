/** The half of the guard that no update passes: budgets, plans, figures for people. It is a part of its own for time's sake. */
const keeping = [
  ...[
    'ahead',
    'applying',
    'budgeting',
    'callers',
    'cron-fields',
    'digest',
    'entry-problems',
    'foreign-data',
    'forecast',
  ],
  ...['json-place', 'keeping', 'measuring', 'occurrences', 'picturing', 'plan', 'planning', 'plans-file', 'pricing'],
  ...['schedule', 'token-expiry', 'tries', 'watching'],
]

/** @param {readonly string[]} names @param {'include' | 'exclude'} how */
const among = (names, how) =>
  how === 'include'
    ? names.map((name) => `shared/guard/${name}.ts`)
    : ['shared/guard/*.ts', ...names.map((name) => `!shared/guard/${name}.ts`)]

/** What only a DynamoDB notices, which no mutant gets: the suite runs it on DynamoDB Local. */
const onDynamo = ['dynamo-client', 'dynamo-store', 'expression', 'open-ledger']

const apiTests = ['apply', 'budgets', 'callers', 'caller-limits', 'entries', 'plans', 'statements'].map(
  (name) => `test/api-${name}.test.ts`,
)
/** Of what the guard keeps, tells and foresees; and of the pages that show it. */
const keepingTests = [
  ...['digest', 'forecast', 'measuring', 'occurrences', 'picture', 'plans', 'schedule', 'vendor', 'watching'].map(
    (name) => `test/guard-${name}.test.ts`,
  ),
  ...['budgets', 'callers', 'plans'].map((name) => `test/pages-${name}.test.ts`),
  'test/scheduled-triggers.test.ts',
]
/** What a month's updates add up to. */
const statements = ['statements', 'tallying']
/** Of the way of an update: without a network, so that each mutant takes a moment; the fastest first. */
const wayTests = [
  ...['decide', 'barring', 'findings', 'sentences', 'names', 'on-demand'],
  ...['performing', 'asking', 'deciding', 'sweeping', 'starting', 'estimating', 'services'],
].map((name) => `test/guard-${name}.test.ts`)

/**
 * What is mutated, and the tests that have to notice: those of the same room, or each mutant would run half of the suite.
 *
 * @type {Record<string, { mutate: string[], tests: string[], setup?: string[], isLoadedOnce?: boolean }>}
 */
export const parts = {
  reading: {
    mutate: ['shared/tracking/read-*.ts', 'shared/tracking/strict-json.ts', 'shared/tracking/error-envelope.ts'],
    tests: ['test/tracking-read-*.test.ts', 'test/tracking-client.test.ts'],
  },
  signatures: {
    mutate: ['shared/slack/signature.ts'],
    tests: ['test/slack-signature.test.ts'],
  },
  tokens: {
    mutate: ['functions/api/tokens.ts'],
    tests: ['test/api-tokens.test.ts'],
  },
  ledger: {
    mutate: ['shared/ledger/*.ts', 'shared/platform/zone.ts', ...onDynamo.map((name) => `!shared/ledger/${name}.ts`)],
    tests: ['test/ledger-*.test.ts', 'test/platform-zone.test.ts'],
    isLoadedOnce: true,
  },
  guard: {
    mutate: among([...keeping, ...statements], 'exclude'),
    tests: wayTests,
    isLoadedOnce: true,
  },
  keeping: {
    mutate: among(keeping, 'include'),
    tests: [...keepingTests, ...apiTests],
    setup: ['test/mutation/loaded-late.ts'],
  },
  statements: {
    mutate: among(statements, 'include'),
    tests: ['guard-statements', 'guard-tallying', 'api-statements'].map((name) => `test/${name}.test.ts`),
    isLoadedOnce: true,
  },
}

const part = process.env.MUTATION ?? 'reading'
if (!Object.hasOwn(parts, part)) throw new Error(`MUTATION takes one of ${Object.keys(parts).join(', ')}, not ${part}`)

export const chosen = parts[part]
