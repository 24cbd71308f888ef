import { gatewayPath } from '../../functions/api/raw-target.ts'
import { parameters } from '../../shared/tracking/operations.ts'
import { type JsonSchema, projectName } from './schemas.ts'

interface Parameter {
  readonly description: string
  readonly schema: JsonSchema
  readonly example?: string
}

const text = { type: 'string', minLength: 1 }
const subject = { type: 'string', pattern: '^[\\x21\\x22\\x24-\\x7e]{1,200}$' }
const shortName = { type: 'string', pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }

const own: Readonly<Record<string, Parameter>> = {
  '/budgets {name}': { description: 'A budget; `account` is the root of all.', schema: shortName, example: 'seo' },
  '/plans {name}': { description: 'A plan.', schema: shortName, example: 'morning' },
  '/updates {id}': { description: 'An update.', schema: text, example: 'upd_0k3v9q2m' },
  '/callers {sub}': { description: 'A caller.', schema: subject, example: 'eve' },
  '/problems {slug}': { description: 'A type of problem.', schema: text, example: 'over-budget' },
}

/** What a parameter of a path stands for. @throws Error for one that nobody has described. */
export function pathParameters(path: string, name: string): Parameter {
  const [, first = ''] = path.split('/')
  const found = `/${first}` === gatewayPath ? ofService(path, name) : own[`/${first} {${name}}`]
  if (!found) throw new Error(`the parameter {${name}} of ${path} is not described`)
  return found
}

function ofService(path: string, name: string): Parameter | undefined {
  const known = Object.entries(parameters).find(([each]) => each === name)
  const schema = path.endsWith('/run') ? projectName : text
  return known && { description: `${known[1]}; it goes on exactly as it is encoded`, schema, example: exampleOf(name) }
}

const exampleOf = (name: string): string => (name === 'name' ? 'initech' : '1003')
