import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { behindEdge, everyOption } from '../support/infra/deployment.ts'
import { plain, type Resource, synthesize } from '../support/infra/stack.ts'

const edgeRegion = 'us-east-1'

/** A name of these types belongs to the account, not to a region. */
const ofAccount = /^AWS::(Budgets|CloudFront|IAM|Route53)::/
/** The name of an inline policy belongs to its role. */
const ofRole = 'AWS::IAM::Policy'

/** The names that the template chooses. AWS generates all others, with random characters. */
const namesIn = ({ Type, Properties }: Resource): string[] =>
  [
    ...Object.entries(Properties ?? {})
      .filter(([member]) => /Name$/.test(member))
      .map(([, value]) => plain(value)),
    ...(Properties?.Budget ? [plain(Properties.Budget.BudgetName)] : []),
    ...(Properties?.DistributionConfig?.Aliases ?? []),
  ]
    .filter((name) => typeof name === 'string')
    .map((name) => `${Type} ${name}`)

/** Each chosen name with the place where it must be unique: the account, or a region of it. */
function namesOf(region: string): string[] {
  const { context } = everyOption
  const domain = `${region}.guard.example.com`
  const { resources, edge, folder } = synthesize({
    ...everyOption,
    region,
    context: { ...context, ...behindEdge, domain },
  })
  const placed = (all: readonly Resource[], where: string) =>
    all.flatMap((resource) => {
      if (resource.Type === ofRole) return []
      const replicas: { Region: string }[] = resource.Properties?.ReplicaRegions ?? []
      const places = ofAccount.test(resource.Type) ? ['account'] : [where, ...replicas.map(({ Region }) => Region)]
      const names = namesIn(resource).map((name) => name.replaceAll('AWS::Region', where))
      return places.flatMap((place) => names.map((name) => `${place} ${name}`))
    })
  const { artifacts } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  const stacks = [`${region} stack ${artifacts.UnitGuard.properties.stackName ?? 'UnitGuard'}`]
  return [
    ...stacks,
    `${edgeRegion} stack ${artifacts.Edge.properties.stackName}`,
    ...placed(resources, region),
    ...placed(edge, edgeRegion),
  ]
}

test.each([
  ['eu-central-1', 'eu-west-1'],
  ['eu-central-1', edgeRegion],
])('guards in %s and %s of one account share no name', (one, other) => {
  const [names, others] = [namesOf(one), namesOf(other)]
  // The names that guards of two regions shared when the region was missing in them.
  for (const shared of [
    `${edgeRegion} stack UnitGuard-Edge-${one}`,
    `${edgeRegion} AWS::WAFv2::WebACL unit-guard-${one}-edge`,
    `${edgeRegion} AWS::SecretsManager::Secret unit-guard/origin-${one}`,
    `account AWS::Budgets::Budget unit-guard-${one}`,
  ])
    expect(names).toContain(shared)
  expect(names.filter((name) => others.includes(name))).toEqual([])
})
