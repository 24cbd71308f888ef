/** What an examination found: facts, and what an operator has to do. */
export interface Findings {
  readonly lines: readonly string[]
  readonly toDo: readonly string[]
}

type Texts = string | null | readonly string[]

const textsOf = (texts: Texts): readonly string[] => (typeof texts === 'string' ? [texts] : (texts ?? []))

export const found = (lines: Texts, toDo: Texts = []): Findings => ({ lines: textsOf(lines), toDo: textsOf(toDo) })

export const joined = (findings: readonly Findings[]): Findings => ({
  lines: findings.flatMap(({ lines }) => lines),
  toDo: findings.flatMap(({ toDo }) => toDo),
})
