import { type OperationName, operationNames, operations, parameters } from '../../shared/tracking/operations.ts'

/** docs/operations.md, from the table of operations. */
export function operationsDocument(): string {
  const sections = [...new Set(operationNames.map((name) => operations[name].section))]
  return [
    '# Operations of the /v3 gateway',
    '',
    `All ${operationNames.length} operations of the tracking service, under the paths it has itself, below \`/v3\`. There is no`,
    'other path and no other method, HEAD included. Made from `shared/tracking/operations.ts`; do not edit.',
    '',
    ...sections.flatMap((section) => [`## ${section}`, '', ...tableOf(section), '']),
    '## Path parameters',
    '',
    '| name | meaning |',
    '|---|---|',
    ...Object.entries(parameters).map(([name, meaning]) => `| \`{${name}}\` | ${meaning} |`),
    '',
    '## Scopes',
    '',
    'A guarded operation consumes units: the guard estimates, holds and sends it once. `create-project` with a',
    '`frequency` other than `ondemand` takes the scope `admin`, because the service then reserves units on its own.',
    'Query parameters that are not named here pass through unchanged.',
    '',
  ].join('\n')
}

const tableOf = (section: string): string[] => [
  '| operation | method and path | scope | query | body | purpose |',
  '|---|---|---|---|---|---|',
  ...operationNames.filter((name) => operations[name].section === section).map(rowOf),
]

function rowOf(name: OperationName): string {
  const { method, path, scope, guarded, query, body, purpose } = operations[name]
  const cells = [
    name,
    `\`${method} ${path}\``,
    guarded === null ? scope : `${scope}; guarded (${guarded})`,
    query.map((parameter) => `\`${parameter}\``).join(', '),
    body ?? '',
    purpose,
  ]
  return `| ${cells.join(' | ')} |`
}
