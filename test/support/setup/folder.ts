import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** One temporary folder for the run and its child processes, removed at the end. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'unit-guard-'))
  process.env.TMPDIR = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
