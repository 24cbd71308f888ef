import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Page } from '../../functions/dashboard/kit/layout.tsx'
import { problems, type Slug } from '../../shared/guard/problem-types.ts'
import { type Kinds, productKinds } from '../../shared/tracking/kinds.ts'
import { DocsPage, Prose } from './docs-page.tsx'
import { openApiDocument } from './document.ts'
import { slugs } from './schemas.ts'

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

/** Writes the reference into the folder where a function looks for it. */
export async function writeReference(folder: string): Promise<void> {
  for (const [name, text] of makeReference()) {
    const file = join(folder, 'reference', name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

const ProblemPage = ({ slug }: { slug: Slug }) => {
  const { title, status, meaning, counted, toDo } = problems[slug]
  return (
    <Page title={title}>
      <section>
        <p>
          Problem type <code>{slug}</code>, usually answered with status {status}.
        </p>
        <h2>What it means</h2>
        <p>
          <Prose of={meaning} />
        </p>
        <h2>What was counted</h2>
        <p>
          <Prose of={counted} />
        </p>
        <h2>What to do</h2>
        <p>
          <Prose of={toDo} />
        </p>
        <p class="note">
          The member <code>detail</code> of the answer says in one sentence, with the numbers, what happened.{' '}
          <a href="/docs">The API</a>
        </p>
      </section>
    </Page>
  )
}
