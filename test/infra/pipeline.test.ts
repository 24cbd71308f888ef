import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

const repository = resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(repository, file), 'utf8')

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

const text = read('docs/pipeline/deploy.yml')
const workflow = parse(text)
const steps: readonly Step[] = [...workflow.jobs.diff.steps, ...workflow.jobs.deploy.steps]

describe('the pipeline file', () => {
  test('the pipeline shows the difference on a pull request, and deploys one time after a merge to main', () => {
    expect(workflow.on).toEqual({ pull_request: null, push: { branches: ['main'] } })
    expect(Object.keys(workflow.jobs)).toEqual(['diff', 'deploy'])
    expect(workflow.jobs.diff.if).toBe("github.event_name == 'pull_request'")
    expect(workflow.jobs.deploy).toMatchObject({
      if: "github.event_name == 'push'",
      environment: 'production',
      concurrency: { group: 'deploy-unit-guard', 'cancel-in-progress': false },
    })
  })

  test('the pipeline’s jobs may only read the repository and request an OpenID Connect token', () => {
    expect(workflow.permissions).toEqual({})
    for (const name of ['diff', 'deploy'])
      expect(workflow.jobs[name].permissions, name).toEqual({ contents: 'read', 'id-token': 'write' })
  })

  test('the pipeline uses roles, and has no access keys or secrets', () => {
    expect(text).not.toMatch(/secrets\.|access-key|AWS_(ACCESS|SECRET)|AKIA/i)
    const roles = steps.filter((step) => step.with?.['role-to-assume']).map((step) => step.with)
    const variable = (name: string) => `\${{ vars.${name} }}`
    const region = { 'aws-region': variable('AWS_REGION') }
    expect(roles).toEqual([
      { 'role-to-assume': variable('DIFF_ROLE'), ...region },
      { 'role-to-assume': variable('DEPLOY_ROLE'), ...region },
    ])
  })

  test('the pipeline pins each action by a commit, with its version beside it', () => {
    const used = text.match(/uses: .*/g) ?? []
    expect(used).toHaveLength(6)
    expect(used.filter((line) => !/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([])
  })

  test('the pipeline installs and synthesizes before it has credentials', () => {
    for (const name of ['diff', 'deploy']) {
      const order = (workflow.jobs[name].steps as Step[]).map(({ uses, run }) => (uses ?? run ?? '').split('@')[0])
      const credentials = order.indexOf('aws-actions/configure-aws-credentials')
      const late = order.slice(credentials + 1).join('\n')
      expect(late, name).toMatch(/npx cdk (diff UnitGuard|deploy --all) --app cdk\.out /)
      expect(late, name).not.toMatch(/npm |synth/)
    }
  })

  test('the pipeline’s commands and their options exist', () => {
    const { scripts } = JSON.parse(read('package.json'))
    const cli = createRequire(createRequire(import.meta.url).resolve('aws-cdk/package.json'))
    const { globalOptions, commands } = cli('./lib/cli/cli-type-registry.json')
    const lines = steps.flatMap(({ run }) => run?.split('\n') ?? [])
    const known = lines.filter((line) => {
      const [, script] = line.match(/^npm run (\S+)$/) ?? []
      if (script !== undefined) return script in scripts
      const [, command = '', rest = ''] = line.match(/^npx cdk (\S+)(.*)/) ?? []
      const options = [...rest.matchAll(/ --([\w-]+)/g)].map(([, name = '']) => name)
      return command in commands && options.every((name) => name in { ...globalOptions, ...commands[command].options })
    })
    expect(known).toEqual([
      'npm run synth',
      'npx cdk diff UnitGuard --app cdk.out --template deployed.json 2>&1 | tee -a "$GITHUB_STEP_SUMMARY"',
      'npm run synth',
      'npx cdk deploy --all --app cdk.out --require-approval never',
    ])
    const others = new Set(lines.filter((line) => line !== '' && !known.includes(line)))
    expect([...others]).toEqual([
      'npm ci',
      'set -a; . ./deploy.env; set +a',
      'aws cloudformation get-template --stack-name UnitGuard --query TemplateBody --output json > deployed.json',
    ])
  })
})

describe('the roles of the pipeline', () => {
  const { DiffRole, DeployRole, ...others } = parse(read('docs/pipeline/roles.yml')).Resources
  const granted = ({ Properties }: typeof DiffRole) =>
    Properties.Policies.flatMap((policy: typeof DiffRole) => policy.PolicyDocument.Statement)
  const trusted = ({ Properties }: typeof DiffRole) => Properties.AssumeRolePolicyDocument.Statement

  test('a pull request may read the deployed template, and a deployment use the roles of the bootstrap', () => {
    expect(others).toEqual({})
    const arn = (rest: string) => ({ 'Fn::Sub': `arn:\${AWS::Partition}:${rest}` })
    expect(granted(DiffRole)).toEqual([
      {
        Effect: 'Allow',
        Action: 'cloudformation:GetTemplate',
        Resource: arn(`cloudformation:*:\${AWS::AccountId}:stack/UnitGuard/*`),
      },
    ])
    const bootstrap = (name: string) => arn(`iam::\${AWS::AccountId}:role/cdk-hnb659fds-${name}-role-*`)
    expect(granted(DeployRole)).toEqual([
      {
        Effect: 'Allow',
        Action: 'sts:AssumeRole',
        Resource: ['deploy', 'file-publishing', 'lookup'].map(bootstrap),
      },
    ])
  })

  test.each([
    ['a pull request', DiffRole, 'pull_request'],
    ['the environment of the deployment', DeployRole, `environment:${workflow.jobs.deploy.environment}`],
  ])('%s of this repository only uses its role', (_what, role, subject) => {
    const claim = 'token.actions.githubusercontent.com'
    expect(trusted(role)).toEqual([
      {
        Effect: 'Allow',
        Action: 'sts:AssumeRoleWithWebIdentity',
        Principal: { Federated: { Ref: 'Provider' } },
        Condition: {
          StringEquals: {
            [`${claim}:aud`]: 'sts.amazonaws.com',
            [`${claim}:sub`]: { 'Fn::Sub': `repo:\${Repository}:${subject}` },
          },
        },
      },
    ])
  })
})
