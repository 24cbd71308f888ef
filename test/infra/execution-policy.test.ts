import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { everyOption } from '../support/infra/deployment.ts'
import { type Resource, synthesize } from '../support/infra/stack.ts'
import { variants } from '../support/infra/variants.ts'

interface Statement {
  readonly Sid: string
  readonly Effect: string
  readonly Action: readonly string[]
  readonly Resource: string
  readonly Condition?: object
}

const policy: { readonly Statement: readonly Statement[] } = JSON.parse(
  readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/pipeline/execution-policy.json'), 'utf8'),
)

const full = synthesize(everyOption)
const withSandbox = synthesize(variants.standIn)
const resources = [full, synthesize(variants.firstDeployment), withSandbox].flatMap((each) => each.resources)

/** The name in the template, or the one that CloudFormation generates. */
function nameOf({ id, Properties }: Resource): string {
  const { Name, RuleName, Budget } = Properties ?? {}
  const name = Name ?? RuleName ?? Budget?.BudgetName ?? `UnitGuard-${id}-1ABCDEF`
  return typeof name === 'string' ? name : name['Fn::Join'][1].map(String).join('')
}

const pattern = (text: string) => new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('\\*', '.*')}$`)

/** The statement that allows the call, if its conditions hold. */
const allowing = (action: string, arn: string) =>
  policy.Statement.find(
    ({ Action, Resource }) => Action.some((allowed) => pattern(allowed).test(action)) && pattern(Resource).test(arn),
  )

describe('the policy for a narrowed execution role', () => {
  test('the policy allows deleting the table of the stand-in, and never the ledger', () => {
    const tables = resources.filter(({ Type }) => Type === 'AWS::DynamoDB::Table').map(nameOf)
    const deletable = tables.filter((name) =>
      allowing('dynamodb:DeleteTable', `arn:aws:dynamodb:eu-central-1:123456789012:table/${name}`),
    )
    expect(new Set(deletable).size).toBe(1)
    expect(deletable[0]).toMatch(/^UnitGuard-SandboxTable/)
  })

  test('the policy allows no whole service', () => {
    const actions = policy.Statement.flatMap(({ Action }) => Action)
    expect(actions.filter((action) => action.includes('*'))).toEqual(['lambda:GetFunction*', 'dynamodb:Describe*'])
  })

  test('the policy names its resources, except for conditions and harmless reads', () => {
    const open = policy.Statement.filter(({ Resource, Condition }) => Resource === '*' && !Condition)
    expect(open.map(({ Action }) => Action)).toEqual([
      ['sns:GetSubscriptionAttributes', 'sns:SetSubscriptionAttributes', 'sns:Unsubscribe'],
      [
        'cloudwatch:DescribeAlarms',
        'lambda:GetEventSourceMapping',
        'logs:DescribeIndexPolicies',
        'logs:DescribeLogGroups',
        'logs:DescribeResourcePolicies',
        'secretsmanager:GetRandomPassword',
      ],
    ])
    const others = policy.Statement.filter(({ Resource, Condition }) => Resource !== '*' && !Condition)
    expect(others.filter(({ Resource }) => !/UnitGuard-|unit-guard|cdk-/.test(Resource))).toEqual([])
  })

  test('the policy reads no item and only the guard’s secrets, and passes roles only to Lambda', () => {
    const actions = policy.Statement.flatMap(({ Action }) => Action)
    expect(actions.filter((action) => /Item|Query|Scan|InvokeFunction/.test(action))).toEqual([])
    const reads = policy.Statement.filter(({ Action }) => Action.includes('secretsmanager:GetSecretValue'))
    expect(reads.map(({ Resource }) => Resource)).toEqual(['arn:aws:secretsmanager:*:*:secret:unit-guard/*'])
    const pass = policy.Statement.filter(({ Action }) => Action.includes('iam:PassRole'))
    const to = ['lambda.amazonaws.com']
    expect(pass).toMatchObject([{ Condition: { StringEquals: { 'iam:PassedToService': to } } }])
  })

  test('the policy fits a managed policy, which takes 6,144 characters', () => {
    expect(JSON.stringify(policy).length).toBeLessThanOrEqual(6144)
  })
})
