/** Each rule is on, except in the variant that must break a promise without it (`bugs.ts`). */
export interface Rules {
  /** An update takes the items of all names of its project. Without it, one name stands for all. */
  readonly allNames: boolean
  /** The folded form of each name counts as a name. */
  readonly foldedNames: boolean
  /** Each name as written counts, too, because an older version knows only that. */
  readonly rawNames: boolean
  readonly readsAllItems: boolean
  readonly conditionsOnAllItems: boolean
  readonly writesAllItems: boolean
  /** Closing an update writes the items of its hold. Without it, the items are derived again. */
  readonly holdKeepsItems: boolean
  /** A hold conditions on the version of each item. Without it, on the holder. */
  readonly version: boolean
  /** Closing a doubt as ran writes the run into the items. */
  readonly lateRan: boolean
  /** A correction that says that it ran writes the run into the items. */
  readonly correctedRan: boolean
  /** Writing a run leaves the holder as it is. */
  readonly holderStays: boolean
  /** An item keeps the earlier runs up to one that nothing can take back. */
  readonly earlierRuns: boolean
  /** The record of an update decides if it ran. Without it, an item's memory of the run is enough. */
  readonly judgedByRecord: boolean
  /** An update that ran is known even if it cost nothing. */
  readonly freeRuns: boolean
  readonly runningBlocks: boolean
  readonly doubtBlocks: boolean
  readonly coolDown: boolean
}
