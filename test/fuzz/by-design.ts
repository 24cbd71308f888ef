/** A failed check of the fuzzer, with its request and the answer. */
export interface Finding {
  readonly check: string
  /** `POST /updates`: the method and the path as the document writes it. */
  readonly operation: string
  readonly status: number
  /** The problem's slug, or null if the answer is not one of our problems. */
  readonly slug: string | null
  readonly detail: string
}

interface Reason {
  readonly name: string
  readonly why: string
  readonly covers: (finding: Finding) => boolean
}

const asIs = (check: string) => (finding: Finding) => finding.check === check
const isRejected = asIs('positive_data_acceptance')
const isServerError = asIs('not_a_server_error')

/** Every finding that is intended. A finding without a row here fails the run. */
export const byDesign: readonly Reason[] = [
  {
    name: 'refused with the numbers',
    why: 'A limit, freeze, pause or rule decides, not the schema.',
    covers: (finding) => isRejected(finding) && finding.status === 402 && finding.slug !== null,
  },
  {
    name: 'another revision',
    why: 'The fuzzer invents revisions.',
    covers: (finding) => isRejected(finding) && finding.slug === 'precondition-failed',
  },
  {
    name: 'a key of another request',
    why: 'The fuzzer repeats an `Idempotency-Key` with other content.',
    covers: (finding) => isRejected(finding) && finding.slug === 'key-reused',
  },
  {
    name: 'unknown names',
    why: 'A schema cannot know which budgets, windows and cursors exist.',
    covers: (finding) =>
      isRejected(finding) &&
      finding.slug === 'invalid-request' &&
      /there is no (budget|window)|nothing was ever counted in|not a cursor of this list/i.test(finding.detail),
  },
  {
    name: 'the same name twice',
    why: 'JSON Schema cannot say that one member of each object is unique.',
    covers: (finding) =>
      isRejected(finding) && finding.slug === 'invalid-request' && /names a \w+ twice/.test(finding.detail),
  },
  {
    name: 'may be read as another project',
    why: 'A comma, an encoded character or a part of dots may mean other projects, unless a budget lists exactly this name.',
    covers: (finding) =>
      isRejected(finding) &&
      finding.slug === 'invalid-request' &&
      /may be read as|names several projects|of dots alone|may decode once more|same project; name it once/.test(
        finding.detail,
      ),
  },
  {
    name: 'members that need or exclude others',
    why: 'The document describes each member alone. The answer names the other one.',
    covers: (finding) =>
      isRejected(finding) &&
      finding.slug === 'invalid-request' &&
      /: needs explain=true|: is not needed beside |: is only for byAnswers/.test(finding.detail),
  },
  {
    name: 'tags that cannot be decoded, or are named twice',
    why: 'A pattern cannot know UTF-8, the length of decoded values, or a key twice.',
    covers: (finding) =>
      isRejected(finding) &&
      finding.slug === 'invalid-request' &&
      /Unit-Guard-Tags: (each tag must be written as|the value of \S+ must have|\S+ is named twice)/.test(
        finding.detail,
      ),
  },
  {
    name: 'a plan has no run at this time',
    why: 'The plan’s schedule decides, not the schema.',
    covers: (finding) =>
      isRejected(finding) && finding.slug === 'invalid-request' && /is not scheduled at/.test(finding.detail),
  },
  {
    name: 'a team for a caller outside Slack',
    why: 'The name in the path decides whether `slackTeam` has a meaning.',
    covers: (finding) =>
      isRejected(finding) &&
      finding.slug === 'invalid-request' &&
      /can be set only for a user of Slack/.test(finding.detail),
  },
  {
    name: 'does not fit the other budgets',
    why: 'A new budget needs limits, a project has one owner, only the root has no parent, and the tree is at most 8 deep.',
    covers: (finding) =>
      isRejected(finding) &&
      finding.slug === 'invalid-request' &&
      /is new, so it needs limits|has one owner|add move=true|only account says|has no parent|but the root has a parent|are at most 8 deep/.test(
        finding.detail,
      ),
  },
  {
    name: 'the service refused',
    why: 'The fuzzer invents projects that the service does not know.',
    covers: (finding) => isServerError(finding) && finding.status === 502 && finding.slug === 'service-refused',
  },
  {
    name: 'the service’s own answer',
    why: 'The service has rules that its interface does not name.',
    covers: (finding) => isRejected(finding) && finding.slug === null && finding.operation.includes(' /v3/'),
  },
  {
    name: 'longer than the platform takes',
    why: 'The platform refuses long headers before the guard sees them.',
    covers: (finding) => finding.status === 431 && (isRejected(finding) || asIs('negative_data_rejection')(finding)),
  },
]
