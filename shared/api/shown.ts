import type * as z from 'zod/mini'
import type { AnswerName, answers } from './answers/answers.ts'

type ReadOnly<Shape> = Shape extends readonly (infer Row)[]
  ? readonly ReadOnly<Row>[]
  : Shape extends object
    ? { readonly [Name in keyof Shape]: ReadOnly<Shape[Name]> }
    : Shape

/** What an answer shows, as its schema describes it. */
export type Shown<Name extends AnswerName> = ReadOnly<z.output<(typeof answers)[Name]>>

type Optional = Record<never, never>

/** Only optional members may be `undefined`. */
type Members<Shape> = {
  [Name in keyof Shape]: Optional extends Pick<Shape, Name> ? Shape[Name] | undefined : Shape[Name]
}

/** Leaves out members that are `undefined`. The compiler refuses members that the shape does not have. */
export const defined = <Shape extends object>(members: Members<NoInfer<Shape>>): Shape =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Shape
