/** What an event tells. The record that a transition wrote says the rest, so an event is built again at any time. */
export type EventReference =
  /** Each line of an update's history is a version. */
  | { readonly kind: 'update'; readonly update: string; readonly version: number }
  | { readonly kind: 'announcement'; readonly id: string }
  | { readonly kind: 'entry'; readonly id: string }
