import { Validations } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'

/** Findings of cdk-nag that are as they should be, for this construct and what is in it, each with its reason. */
export function acknowledge(construct: Construct, reasons: Readonly<Record<string, string>>): void {
  const rules = Object.entries(reasons).map(([id, reason]) => ({ id, reason }))
  Validations.of(construct).acknowledge(...rules)
}
