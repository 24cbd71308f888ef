import { expect, test } from 'vitest'
import type * as z from 'zod/mini'
import type { AnswerName, answers } from '../../shared/api/answers/answers.ts'
import type { problemMembers } from '../../shared/api/answers/problems.ts'
import type * as client from '../../shared/client/answers.ts'
import { clientShapes } from './schema-shapes.ts'

test('the types of the client are those of the schemas of answers', async () => {
  await expect(clientShapes()).toMatchFileSnapshot('../../shared/client/shapes.ts')
})

type Answered<Name extends AnswerName> = z.output<(typeof answers)[Name]>
type Same<A, B> = [A, B] extends [B, A] ? true : false

test('a strict compiler finds the types of the client equal to the schemas', () => {
  true satisfies Same<Omit<client.Update, 'problem'>, Omit<Answered<'Update'>, 'problem'>>
  true satisfies Same<client.Budget, Answered<'Budget'>>
  true satisfies Same<client.Entry, Answered<'Entry'>>
  true satisfies Same<client.Plan, Answered<'Plan'>>
  true satisfies Same<client.Audit, Answered<'Audit'>>
  true satisfies Same<client.Status, Answered<'Status'>>
  type Whole = Omit<Answered<'Estimate'>, 'problem' | 'projects'>
  type Project = Omit<Answered<'Estimate'>['projects'][number], 'problem'>
  true satisfies Same<Omit<client.Estimate, 'problem' | 'projects'>, Whole>
  true satisfies Same<Omit<client.Estimate['projects'][number], 'problem'>, Project>
  type Members = (typeof problemMembers)['over-budget']
  true satisfies Same<client.ProblemMembers['over-budget'], z.output<z.ZodMiniObject<Members>>>
  true satisfies Same<keyof client.ProblemMembers, keyof typeof problemMembers>
  // @ts-expect-error they differ
  true satisfies Same<client.Budget, Answered<'Update'>>
})
