import { expect } from 'vitest'
import { plain, type Synthesized } from './stack.ts'

export interface Statement {
  readonly may: readonly string[]
  readonly on: readonly string[]
  readonly only?: object
}

const list = (value: string | readonly string[]): string[] => [value].flat()

/** The permissions of each function's role, in the order of its policy. */
export function grantsOf({ ofType }: Synthesized): Record<string, Statement[]> {
  const policies = ofType('AWS::IAM::Policy')
  return Object.fromEntries(
    ofType('AWS::IAM::Role').map((role) => {
      const own = policies.filter(({ Properties }) =>
        Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role.id),
      )
      const statements = own.flatMap(({ Properties }) => plain(Properties.PolicyDocument.Statement))
      return [
        role.id.replace(/Role[0-9A-F]{8}$/, ''),
        statements.map(({ Effect, Action, Resource, Condition, ...rest }) => {
          expect([Effect, rest]).toEqual(['Allow', {}])
          return { may: list(Action), on: list(Resource), ...(Condition && { only: Condition }) }
        }),
      ]
    }),
  )
}
