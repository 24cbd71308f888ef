import { copyFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const bundleNames = ['api', 'dashboard', 'mcp', 'slack', 'scheduled', 'outbox', 'sandbox'] as const
export type BundleName = (typeof bundleNames)[number]

/** The files that settings name, in the working directory of the function. */
export const besideCode = {
  PLANS: 'plans.json',
  TRUSTED_ISSUERS: 'issuers.json',
  EVENT_TARGETS: 'event-targets.json',
} as const

const readers: Readonly<Record<keyof typeof besideCode, readonly BundleName[]>> = {
  PLANS: ['api', 'dashboard', 'mcp', 'scheduled', 'outbox'],
  TRUSTED_ISSUERS: ['api', 'dashboard', 'mcp', 'scheduled', 'outbox'],
  EVENT_TARGETS: ['dashboard', 'scheduled', 'outbox'],
}

/** The path of each file on the machine that deploys. */
export type SettingsFiles = { readonly [Name in keyof typeof besideCode]?: string | undefined }

/** The code of each function: its bundle, and beside it the files that its settings name. */
export class GuardCode {
  private readonly made = mkdtempSync(join(tmpdir(), 'unit-guard-code-'))
  private readonly bundles: string
  private readonly files: SettingsFiles

  constructor({ bundles, files }: { bundles: string; files: SettingsFiles }) {
    this.bundles = bundles
    this.files = files
  }

  folderOf(bundle: BundleName): string {
    const folder = join(this.bundles, bundle)
    const names = (Object.keys(besideCode) as (keyof typeof besideCode)[]).filter((name) =>
      readers[name].includes(bundle),
    )
    const given = names
      .filter((name) => this.files[name] !== undefined)
      .map((name) => [this.files[name], besideCode[name]])
    if (given.length === 0) return folder
    const copy = join(this.made, bundle)
    cpSync(folder, copy, { recursive: true })
    for (const [path = '', name = ''] of given) copyFileSync(path, join(copy, name))
    return copy
  }

  /** Must be called after the assets are staged. */
  clear(): void {
    rmSync(this.made, { recursive: true })
  }
}
