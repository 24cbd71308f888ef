import { Page } from '../../functions/dashboard/components/layout.tsx'
import { problems, type Slug } from '../../shared/guard/problems.ts'
import { problemTexts } from './problem-texts.ts'

/** For readers who follow the `type` of an answer. */
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

/** Text between backticks is code. */
export const Prose = ({ of }: { of: string }) => (
  <>{of.split('`').map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}</>
)
