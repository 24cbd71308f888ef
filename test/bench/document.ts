import { readFile, writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { toRfc3339 } from '../../shared/platform/clock.ts'

/** The result of a part of the bench, by section of the document. */
export interface Found {
  readonly sections: Readonly<Record<string, string>>
}

const pathOf = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url))
const documents = [pathOf('docs/performance.md'), pathOf('test/bench/results.md')]

export async function publish({ sections }: Found): Promise<void> {
  for (const [name, text] of Object.entries(sections)) {
    const { path, before, after } = await sectionOf(name)
    await writeFile(path, `${before}${text}${after}`)
  }
}

/** @throws Error if no document has such a section. */
export const published = async (name: string): Promise<string> => (await sectionOf(name)).text

async function sectionOf(name: string) {
  const [begin, end] = [`<!-- bench: ${name} -->\n\n`, `\n\n<!-- /bench -->`]
  for (const path of documents) {
    const document = await readFile(path, 'utf8')
    const from = document.indexOf(begin) + begin.length
    const to = document.indexOf(end, from)
    if (from < begin.length || to < 0) continue
    return { path, before: document.slice(0, from), text: document.slice(from, to), after: document.slice(to) }
  }
  throw new Error(`docs/performance.md and test/bench/results.md have no section ${name}`)
}

/** The machine and versions that timings depend on, in one line. */
export function measuredOn(more: readonly string[] = []): string {
  const [cpu] = cpus()
  const machine = `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB`
  const day = toRfc3339(Date.now()).slice(0, 10)
  return `*${[day, machine, `Node ${process.versions.node}`, ...more].join(' · ')}*`
}
