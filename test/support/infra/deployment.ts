import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What a deployment must be told. */
export const needed = {
  ACCOUNT_UNITS_PER_MONTH: '50000',
  TRACKING_BASE_URL: 'https://service.example/v3',
}

export function writePlans(plans: readonly object[]): string {
  const file = join(mkdtempSync(join(tmpdir(), 'unit-guard-plans-')), 'plans.json')
  writeFileSync(file, JSON.stringify(plans))
  return file
}
