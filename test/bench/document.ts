import { readFile, writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { toRfc3339 } from '../../shared/platform/clock.ts'

/** The result of a part of the bench, by section of the document. */
export interface Found {
  readonly sections: Readonly<Record<string, string>>
}

const documentPath = fileURLToPath(new URL('../../docs/performance.md', import.meta.url))

export async function publish({ sections }: Found): Promise<void> {
  let document = await readFile(documentPath, 'utf8')
  for (const [name, text] of Object.entries(sections)) document = withSection(document, name, text)
  await writeFile(documentPath, document)
}

/** @throws Error if the document has no such section. */
export async function published(name: string): Promise<string> {
  const [, text] = sectionOf(await readFile(documentPath, 'utf8'), name)
  return text
}

function withSection(document: string, name: string, text: string): string {
  const [before, , after] = sectionOf(document, name)
  return `${before}${text}${after}`
}

function sectionOf(document: string, name: string): [before: string, text: string, after: string] {
  const [begin, end] = [`<!-- bench: ${name} -->\n\n`, `\n\n<!-- /bench -->`]
  const from = document.indexOf(begin) + begin.length
  const to = document.indexOf(end, from)
  if (from < begin.length || to < 0) throw new Error(`docs/performance.md has no section ${name}`)
  return [document.slice(0, from), document.slice(from, to), document.slice(to)]
}

/** The machine and versions that timings depend on, in one line. */
export function measuredOn(more: readonly string[] = []): string {
  const [cpu] = cpus()
  const machine = `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB`
  const day = toRfc3339(Date.now()).slice(0, 10)
  return `*${[day, machine, `Node ${process.versions.node}`, ...more].join(' · ')}*`
}
