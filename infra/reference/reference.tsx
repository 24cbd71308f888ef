import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DocsPage } from './docs-page.tsx'
import { docsStyles } from './docs-styles.ts'
import { openApiDocument } from './document.ts'
import { ProblemPage } from './problem-page.tsx'
import { slugs } from './schemas.ts'

/** Everything that is to be read about the API, by the name that it is asked for under (functions/api/reference). */
export function makeReference(): ReadonlyMap<string, string> {
  const document = openApiDocument()
  return new Map([
    ['openapi.json', JSON.stringify(document)],
    ['docs.html', toPage(<DocsPage schemas={document.components.schemas} />)],
    ['docs.css', docsStyles],
    ...slugs.map((slug) => [`problems/${slug}.html`, toPage(<ProblemPage slug={slug} />)] as const),
  ])
}

const toPage = (page: { toString(): string }): string => `<!doctype html>${page.toString()}`

/** Puts it beside the code of a function, where that looks for it. */
export async function writeReference(folder: string): Promise<void> {
  for (const [name, text] of makeReference()) {
    const file = join(folder, 'reference', name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}
