import type { Assumed } from './assumptions.ts'
import type { Bill } from './bill.ts'
import type { Asked } from './measured.ts'
import type { Deployed } from './template.ts'

export interface Figures {
  readonly asked: (route: string) => Asked
  readonly deployed: Deployed
  readonly assumed: Assumed
}

const kbPerGb = 1024 * 1024

export const toGb = (kb: number): number => kb / kbPerGb

/** What one call, one line or one answer uses. */
export const createUsage = ({ deployed, assumed }: Figures) => ({
  call: (name: string, seconds: number): Bill => ({
    lambdaRequests: 1,
    lambdaGbSeconds: seconds * deployed.memoryGb(name),
  }),
  log: (kb: number): Bill => ({ logIngestGb: toGb(kb), logStorageGb: toGb(kb) * deployed.logMonths }),
  out: (kb: number): Bill => ({ outGb: toGb(kb) }),
  guardSeconds: assumed['guard-ms'] / 1000,
})
