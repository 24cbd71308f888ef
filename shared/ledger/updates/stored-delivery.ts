import { type Of, oneOf, optional, record, text } from '../store/stored.ts'

/** Final, but for `late`. While nothing is stored, data may be awaited. */
export const storedDelivery = record({
  state: oneOf(['late', 'came', 'given-back']),
  /** The new date. Absent: a person said that the data came. */
  date: optional(text),
  /** The late update of the same day that was announced for both. */
  sharedWith: optional(text),
})
export type Delivery = Of<typeof storedDelivery>
