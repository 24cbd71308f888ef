export interface ProblemType {
  /** 4xx and 5xx mean that nothing was spent, unless the detail says otherwise. */
  readonly status: number
  readonly title: string
  readonly meaning: string
  /** What was counted, and whether anything was sent to the service. */
  readonly counted: string
  readonly toDo: string
}

export const nothing = 'Nothing: no unit was held or spent, and the service was not asked to run anything.'
export const recorded = 'No units. A refused update is recorded: the same idempotency key has this answer for ever.'
export const changed = 'Nothing was changed, and no units were moved.'
