import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Kinds, productKinds } from '../../shared/tracking/kinds.ts'
import { DocsPage } from './docs-page.tsx'
import { openApiDocument } from './document.ts'
import { ProblemPage } from './problem-page.tsx'
import { slugs } from './schemas.ts'

/** By the names under which the functions serve them. */
export function makeReference(kinds: Kinds = productKinds): ReadonlyMap<string, string> {
  const document = openApiDocument(kinds)
  return new Map([
    ['openapi.json', JSON.stringify(document)],
    ['docs.html', toPage(<DocsPage schemas={document.components.schemas} kinds={kinds} />)],
    ['docs.css', readFileSync(new URL('./docs.css', import.meta.url), 'utf8')],
    ...slugs.map((slug) => [`problems/${slug}.html`, toPage(<ProblemPage slug={slug} />)] as const),
  ])
}

const toPage = (page: { toString(): string }): string => `<!doctype html>${page.toString()}`

/** Writes it where the code of a function looks for it. */
export async function writeReference(folder: string): Promise<void> {
  for (const [name, text] of makeReference()) {
    const file = join(folder, 'reference', name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}
