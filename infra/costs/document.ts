import { readFileSync, writeFileSync } from 'node:fs'

const path = new URL('../../docs/costs.md', import.meta.url)

export function writeSections(sections: Readonly<Record<string, string>>): void {
  let document = readFileSync(path, 'utf8')
  for (const [name, text] of Object.entries(sections)) {
    const [before, , after] = around(document, name)
    document = `${before}${text}${after}`
  }
  writeFileSync(path, document)
}

/** @throws Error when the document has no such section. */
export const writtenSection = (name: string): string => around(readFileSync(path, 'utf8'), name)[1]

function around(document: string, name: string): [before: string, text: string, after: string] {
  const [begin, end] = [`<!-- costs: ${name} -->\n\n`, '\n\n<!-- /costs -->']
  const from = document.indexOf(begin) + begin.length
  const to = document.indexOf(end, from)
  if (from < begin.length || to < 0) throw new Error(`docs/costs.md has no section ${name}`)
  return [document.slice(0, from), document.slice(from, to), document.slice(to)]
}
