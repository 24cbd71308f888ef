/** The half of the guard that no update passes: budgets, plans, figures for people. It is a separate part to save time. */
const keeping = [
  '{background,money,plans-file,schedule,tags}',
  'people/{apply-budgets,as-of,budgets,callers,differences,moves}',
  'inbox/{answered-doubts,close-delivery,close-month,inbox,reconcile}',
  'plans/*',
  'reports/{digest,figures,history,last-updates,next-stop,outlook,profiles,spenders,tops,unlisted,update-counts}',
  'sweep/{alerts,known-dates,late-data,runs-outside}',
]

/** @param {readonly string[]} names @param {'include' | 'exclude'} how */
const among = (names, how) =>
  how === 'include' ? names.map(fileNamed) : ['shared/guard/**/*.ts', ...names.map((name) => `!${fileNamed(name)}`)]

/** @param {string} name a file of the guard, or of the reports */
const fileNamed = (name) => (name.startsWith('reports/') ? `shared/${name}.ts` : `shared/guard/${name}.ts`)

/** Only a DynamoDB can test these, and no mutant gets one. The suite runs them on DynamoDB Local. */
const onDynamo = ['store/dynamo-store', 'store/dynamo-transaction', 'open-ledger']
/** The ledger in a file is a separate part, because its tests use real files, which are slow for each mutant of the ledger. */
const inAFile = ['store/running-time', 'store/sealed', 'store/sqlite-file', 'store/sqlite-store']
/** Other rooms prove these with real processes, identity providers, browsers and event targets. */
const provenOutside = ['identity', 'setup', 'ledger-parts', 'slack-ledger', 'views/seen-lists']

/** They are for a DynamoDB, and no mutant gets one. */
const slowRuns = ['200 simultaneous updates']
const apiTests = [
  ...['apply', 'budgets', 'entries', 'moved', 'released', 'statements', 'unowned'].map((name) => `budgets/${name}`),
  'callers/callers',
  'callers/caller-limits',
  'plans',
  ...['by-answers', 'delivery'].map((name) => `updates/${name}`),
  ...['charges', 'doubts-first', 'reconcile'].map((name) => `budgets/${name}`),
].map((name) => `test/api/${name}.test.ts`)
/** The tests of what the guard stores, announces and forecasts, and of the pages that show it. */
const keepingTests = [
  'test/guard/plans/*.test.ts',
  'test/guard/reports/!(statements|prices|stored-summary|summary).test.ts',
  ...['alerts', 'known-dates', 'late-data', 'metrics', 'undelivered', 'vendor'].map(
    (name) => `test/guard/sweep/${name}.test.ts`,
  ),
  ...['answered-doubts', 'inbox'].map((name) => `test/guard/people/${name}.test.ts`),
  ...['budgets', 'callers', 'close', 'decisions', 'plans'].map((name) => `test/dashboard/${name}.test.ts`),
  'test/scheduled/triggers.test.ts',
]
/** The sums of updates. */
const statements = ['reports/{statements,stored-summary,summary}']
/** The tests of the way of an update. The fastest come first. */
const wayTests = [
  'update/decide',
  'explain',
  'people/permissions',
  'update/settle',
  'sentences',
  'update/execute',
  'update/submit',
  'people/approvals',
  'sweep/sweep',
  'update/resume',
  'update/estimate',
  'people/approval-expiry',
  'people/inbox',
  'people/persons',
  'update/kept-token',
  'sweep/turns',
  'update/price',
  'update/payer',
  'update/one-work',
  'update/project-names',
  'update/key-taken',
  'update/short',
  'update/unowned',
  'update/batches',
  'update/restored',
  'update/time',
  'update/observe',
  'names/waiting-twice',
  'sweep/repeats',
  'names/unowned-payer',
  'sweep/fold-refusals',
  'explain',
  'plans/verdict',
  'plans/reruns',
  'faults/wrong-clock',
  'rules',
  'names/doors',
  'names/near-names',
  'names/listed-names',
  'sweep/undelivered',
  'sweep/unread-figures',
  'troubles/troubles',
  'update/balance',
].map((name) => `test/guard/${name}.test.ts`)
/** The doors where the way of an update shows what no test without a network sees. */
const doorTests = [
  ...['approvals', 'by-answers', 'estimates', 'payer', 'refusals', 'retry-after', 'tags', 'undecided'].map(
    (name) => `updates/${name}`,
  ),
  ...['budgets', 'contradicted', 'entries'].map((name) => `budgets/${name}`),
].map((name) => `test/api/${name}.test.ts`)

/**
 * The mutated files, and the tests that must fail for a mutant. They are of the same room, because other tests would take too long.
 *
 * @type {Record<string, { mutate: string[], tests: string[], setup?: string[], leavesOut?: string[], isLoadedOnce?: boolean }>}
 */
export const parts = {
  reading: {
    mutate: [
      'shared/tracking/read-*.ts',
      'shared/tracking/answer.ts',
      'shared/tracking/conditions.ts',
      'shared/tracking/pointer.ts',
      'shared/tracking/shape.ts',
      'shared/tracking/sign*.ts',
      'shared/platform/json.ts',
    ],
    tests: [
      'test/tracking/read-*.test.ts',
      'test/tracking/answers.test.ts',
      'test/tracking/signs.test.ts',
      'test/tracking/client.test.ts',
    ],
  },
  signatures: {
    mutate: ['shared/slack/receive/signature.ts'],
    tests: ['test/slack/signature.test.ts'],
  },
  tokens: {
    mutate: ['shared/auth/tokens.ts'],
    tests: ['test/api/callers/tokens.test.ts'],
  },
  quotes: {
    mutate: ['shared/auth/signed-quotes.ts'],
    tests: ['test/mcp/signed-quotes.test.ts'],
  },
  agents: {
    mutate: ['functions/mcp/*.ts'],
    tests: ['endpoint', 'agents', 'answers', 'issuer-tokens'].map((name) => `test/mcp/${name}.test.ts`),
  },
  issuers: {
    mutate: ['shared/auth/{issuer-claims,issuer-keys,issuers,issuers-file,fetch-json,stored-keys}.ts'],
    tests: [
      ...['issuers', 'issuers-file', 'issuer-keys'].map((name) => `test/api/callers/${name}.test.ts`),
      'test/auth/stored-keys.test.ts',
    ],
  },
  reads: {
    mutate: ['shared/guard/{reads/*,reader,people/sees}.ts', 'shared/ledger/views/seen-lists.ts'],
    tests: [
      'guard/reads/hidden-names',
      'guard/people/permissions',
      'api/reads/apart',
      'api/reads/tops',
      'dashboard/narrowed',
      'slack/narrowed',
    ].map((name) => `test/${name}.test.ts`),
  },
  ledger: {
    mutate: [
      'shared/ledger/**/*.ts',
      'shared/platform/clock.ts',
      ...[...onDynamo, ...inAFile, ...provenOutside].map((name) => `!shared/ledger/${name}.ts`),
    ],
    // requests.test.ts counts the requests to a DynamoDB. The generated sequences are slow, so they come last.
    tests: [
      'test/ledger/!(requests).test.ts',
      'test/ledger/{announcements,updates}/*.test.ts',
      'test/ledger/entries/!(figures|model).test.ts',
      'test/platform/clock.test.ts',
      // Reconciliations are proven at the API, where a figure becomes an entry.
      ...['doubts-first', 'entries', 'reconcile'].map((name) => `test/api/budgets/${name}.test.ts`),
      // Whether paid data came is a member of the record, and the sweep's to say.
      'test/guard/sweep/undelivered.test.ts',
      'test/api/updates/delivery.test.ts',
      // Rows by the day are proven by the sums that read them.
      'test/guard/reports/stored-summary.test.ts',
      'test/ledger/entries/model.test.ts',
    ],
    leavesOut: ['SQLite in a file', ...slowRuns],
    isLoadedOnce: true,
  },
  file: {
    mutate: inAFile.map((name) => `shared/ledger/${name}.ts`),
    tests: ['test/ledger/store.test.ts', 'test/local/running-time.test.ts', 'test/local/file/damage.test.ts'],
  },
  guard: {
    // Logins, servers and deployments prove how services are put together.
    mutate: among([...keeping, ...statements, 'reads/*', 'reader', 'people/sees'], 'exclude'),
    tests: [
      ...wayTests,
      'test/guard/{names,people,sweep,troubles,update}/!(shown-persons).test.ts',
      'test/guard/faults/!(contention|floods|ledger-faults).test.ts',
      'test/platform/settings.test.ts',
      ...doorTests,
    ],
    leavesOut: slowRuns,
    isLoadedOnce: true,
  },
  keeping: {
    mutate: among(keeping, 'include'),
    tests: [...keepingTests, ...apiTests],
    setup: ['test/mutation/loaded-late.ts'],
    leavesOut: slowRuns,
  },
  statements: {
    mutate: among(statements, 'include'),
    tests: [
      ...['statements', 'prices', 'stored-summary', 'summary'].map((name) => `guard/reports/${name}`),
      'api/budgets/statements',
    ].map((name) => `test/${name}.test.ts`),
    isLoadedOnce: true,
  },
}

const part = process.env.MUTATION ?? 'reading'
if (!Object.hasOwn(parts, part)) throw new Error(`MUTATION takes one of ${Object.keys(parts).join(', ')}, not ${part}`)

export const chosen = parts[part]
