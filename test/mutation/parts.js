/**
 * What is mutated, and the tests that have to notice: those of the same room, or each mutant would run half of the suite.
 *
 * @type {Record<string, { mutate: string[], tests: string[] }>}
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
    mutate: ['shared/ledger/*.ts'],
    tests: ['test/ledger-*.test.ts'],
  },
  guard: {
    mutate: ['shared/guard/*.ts'],
    tests: ['test/guard-*.test.ts', 'test/guarded-update.test.ts', 'test/ledger-*.test.ts'],
  },
}

const part = process.env.MUTATION ?? 'reading'
if (!Object.hasOwn(parts, part)) throw new Error(`MUTATION takes one of ${Object.keys(parts).join(', ')}, not ${part}`)

export const chosen = parts[part]
