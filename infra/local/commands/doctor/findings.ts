/** What one part of the examination has found out. */
export interface Findings {
  /** Each is a line below a heading. */
  readonly lines: readonly string[]
  /** What a person has to do before updates can be guarded; each is a line. */
  readonly toDo: readonly string[]
}

export const joined = (findings: readonly Findings[]): Findings => ({
  lines: findings.flatMap(({ lines }) => lines),
  toDo: findings.flatMap(({ toDo }) => toDo),
})
