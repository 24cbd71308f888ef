import type * as z from 'zod/mini'
import type { answers } from '../api/answers/answers.ts'
import type { problemMembers } from '../api/answers/problems.ts'

// `npm run client` writes these types out, so that the client needs nothing else.

export type Answers = { [Name in keyof typeof answers]: z.output<(typeof answers)[Name]> }
type Shape<Members extends Record<string, z.ZodMiniType>> = keyof Members extends never
  ? object
  : z.output<z.ZodMiniObject<Members>>
export type ProblemMembers = { [Slug in keyof typeof problemMembers]: Shape<(typeof problemMembers)[Slug]> }
