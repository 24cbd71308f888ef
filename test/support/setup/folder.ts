import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** One folder for all that the run keeps for a moment, its child processes included: nothing of it is left behind. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'unit-guard-'))
  process.env.TMPDIR = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
