import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { everyOption } from '../support/infra/deployment.ts'
import { grantsOf, type Statement } from '../support/infra/grants.ts'
import { plain, synthesize } from '../support/infra/stack.ts'
import { variants } from '../support/infra/variants.ts'

const full = synthesize(everyOption)
const withSandbox = synthesize(variants.standIn)

interface Row {
  readonly reads: string
  readonly writes: string
  readonly secrets: string
  readonly reaches: string
}

/** The table of docs/security.md, without the columns about an attacker. */
function documented(): Record<string, Row> {
  const text = readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/security.md'), 'utf8')
  const section = text.split('\n## ').find((part) => part.startsWith('If a function is taken over\n')) ?? ''
  const [, , ...rows] = section.split('\n').filter((line) => line.startsWith('|'))
  return Object.fromEntries(
    rows.map((row) => {
      const [, name = '', reads = '', writes = '', secrets = '', reaches = '', could, couldNot, ...rest] = row
        .split('|')
        .map((cell) => cell.trim())
      expect([could, couldNot].every(Boolean), `what ${name} could do and what not`).toBe(true)
      expect(rest).toEqual([''])
      return [name.match(/^`(\w+)`/)?.[1] ?? name, { reads, writes, secrets, reaches }]
    }),
  )
}

/** The names of secrets without the prefix, by their logical id. All event targets count as one. */
const secretNames: Readonly<Record<string, string>> = Object.fromEntries(
  full.ofType('AWS::SecretsManager::Secret').map(({ id, Properties }) => {
    const name: string = Properties.Name
    return [
      plain({ Ref: id }),
      name
        .replace('unit-guard/', '')
        .replace(/^events\/.+/, 'events/*')
        .replace(/^origin-.+/, 'origin'),
    ]
  }),
)

/** What the holder of a secret can reach with it. */
const reachedBy: Readonly<Record<string, string>> = {
  'service-token': 'service',
  'login-client': 'login issuer',
  slack: 'Slack',
  'events/*': 'event targets',
}
const verbs: Readonly<Record<string, string>> = {
  'dynamodb:ConditionCheckItem': 'checks',
  'dynamodb:PutItem': 'puts',
  'dynamodb:UpdateItem': 'updates',
}
const reading: Readonly<Record<string, string>> = {
  'dynamodb:BatchGetItem dynamodb:DescribeTable on LedgerTable.Arn': 'by key',
  'dynamodb:Query on LedgerTable.Arn/index/by-time LedgerTable.Arn/index/open': 'lists',
  'dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator on LedgerTable.StreamArn': 'stream',
}
const anyItem = `${Object.keys(verbs).join(' ')} on LedgerTable.Arn`
/** An attacker gains nothing from these actions beyond the log, the names of streams and the stand-in's data. */
const harmless = [
  'logs:CreateLogStream logs:PutLogEvents on Log.Arn',
  'dynamodb:ListStreams on *',
  'dynamodb:BatchGetItem dynamodb:PutItem on SandboxTable.Arn',
]
const sending: Readonly<Record<string, string>> = {
  'sqs:SendMessage on DeadLettersQueue.Arn': 'dead letters',
}

function keysOf({ only }: Statement, are: 'StringLike' | 'StringNotLike'): readonly string[] {
  const { [`ForAllValues:${are}`]: keys, Null, ...others } = Object(only)
  // Without `Null`, a request without a key would pass.
  expect([Null, others]).toEqual([{ 'dynamodb:LeadingKeys': 'false' }, {}])
  return keys['dynamodb:LeadingKeys'].map((key: string) => key.replace(/\*$/, ''))
}

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')

/** The table row for the statements of a role. @throws for a kind of grant that the table has no words for. */
function granted(statements: readonly Statement[]): Row {
  const found = { reads: [] as string[], writes: [] as string[], secrets: [] as string[], sends: [] as string[] }
  for (const statement of statements) {
    const { may, on, only } = statement
    const kind = `${may.join(' ')} on ${on.join(' ')}`
    const verb = verbs[may.join(' ')]
    if (only && verb && on.join(' ') === 'LedgerTable.Arn')
      found.writes.push(`${verb} ${code(keysOf(statement, 'StringLike'))}`)
    else if (only && kind === anyItem)
      found.writes.push(`any item but those of ${code(keysOf(statement, 'StringNotLike'))}`)
    else if (only) throw new Error(`no words for ${kind} with a condition`)
    else if (kind === anyItem) found.writes.push('any item')
    else if (reading[kind]) found.reads.push(reading[kind])
    else if (sending[kind]) found.sends.push(sending[kind])
    else if (may.join(' ') === 'secretsmanager:GetSecretValue')
      found.secrets.push(...on.map((id) => secretNames[id] ?? `unknown ${id}`))
    else if (!harmless.includes(kind)) throw new Error(`no words for ${kind}`)
  }
  const secrets = [...new Set(found.secrets)]
  const reached = [...secrets.flatMap((name) => reachedBy[name] ?? []), ...found.sends]
  const order = [...Object.values(reachedBy), ...Object.values(sending)]
  return {
    reads: found.reads.join(', ') || 'none',
    writes: found.writes.join('; ') || 'none',
    secrets: code(secrets),
    reaches: reached.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)).join(', '),
  }
}

const rowsOf = (stack: typeof full) =>
  Object.fromEntries(Object.entries(grantsOf(stack)).map(([name, statements]) => [name, granted(statements)]))

describe('a function that an attacker controls has only the permissions in docs/security.md', () => {
  test('the table of permissions has every function with exactly what it reads, writes and reaches', () => {
    const { Sandbox } = rowsOf(withSandbox)
    expect(documented()).toEqual({ ...rowsOf(full), Sandbox })
  })

  test('the table of permissions has every secret of the stack', () => {
    const named = Object.values(documented()).flatMap(({ secrets }) => secrets.split(', '))
    expect(new Set(named)).toEqual(new Set(Object.values(secretNames).map((name) => `\`${name}\``)))
  })

  test('a grant that is wider than documented has no words in the table of permissions', () => {
    const query = { may: ['dynamodb:Scan'], on: ['LedgerTable.Arn'] }
    expect(() => granted([query])).toThrow('no words for dynamodb:Scan on LedgerTable.Arn')
  })
})
