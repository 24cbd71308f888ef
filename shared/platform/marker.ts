/**
 * What is known about a ledger outside of its table: a parameter on AWS, a file in DATA_DIR on one machine. A table
 * that does not agree with it is not used.
 */
export interface Marker {
  readonly ledger: string
  /** Raised whenever another table takes over. */
  readonly epoch: number
  /** The table's id: a table that is restored under the same name has another one. */
  readonly table: string
  readonly tableName: string
}

/** Where it is on AWS, whatever becomes of the stack. */
export const ledgerParameter = '/unit-guard/ledger'

const words = /^(led_\w+) (\d{1,9}) (\S+) (\S+)$/

/** What a parameter says before a ledger was begun. */
export const noMarker = 'none'

/** `null`: no ledger was begun. `undefined`: it is not a marker. */
export function parseMarker(text: string): Marker | null | undefined {
  if (text.trim() === noMarker) return null
  const [, ledger, epoch, table, tableName] = words.exec(text.trim()) ?? []
  if (ledger === undefined || table === undefined || tableName === undefined) return undefined
  return { ledger, epoch: Number(epoch), table, tableName }
}

export const toMarkerText = ({ ledger, epoch, table, tableName }: Marker): string =>
  `${ledger} ${epoch} ${table} ${tableName}`
