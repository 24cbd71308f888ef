import { readFileSync } from 'node:fs'

interface RealisticAnswer {
  /** The API, and the kind of page. */
  readonly from: string
  readonly body: string
  readonly truth: 'started' | 'failed'
}

/**
 * What public services answer with status 200 to a request that starts something. The list was collected without a look
 * at the reader that it judges. Each line of the file is `truth | from | body`; an empty answer has no body.
 */
export const realisticAnswers: readonly RealisticAnswer[] = readFileSync(
  new URL('realistic-answers.txt', import.meta.url),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map(answerOf)

function answerOf(line: string): RealisticAnswer {
  const found = /^(started|failed) \| (.+?) \|(?: (.+))?$/.exec(line)
  if (found === null) throw new Error(`must be "truth | from | body": ${line}`)
  const [, truth = '', from = '', body = ''] = found
  return { from, body, truth: truth === 'failed' ? 'failed' : 'started' }
}
