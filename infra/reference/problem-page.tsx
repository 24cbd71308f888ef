import { Page } from '../../functions/api/pages/layout.tsx'
import { problems, type Slug } from '../../shared/guard/problems.ts'
import { problemTexts } from './problem-texts.ts'
import { Prose } from './prose.tsx'

/** The page of one type of problem: for whoever follows the `type` of an answer. */
export const ProblemPage = ({ slug }: { slug: Slug }) => {
  const { title, status } = problems[slug]
  const { meaning, counted, toDo } = problemTexts[slug]
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
