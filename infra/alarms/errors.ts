/** Errors that need the same action raise one alarm. Errors that are not listed in this file raise `OtherErrors`. */
export const eventsOf = {
  Units: ['overrun', 'impossible-units', 'not-settled', 'not-frozen', 'late-correction', 'foreign-data'],
  Keys: ['secret-unavailable', 'token-refused', 'service-token-expires', 'issuer-unavailable', 'issuer-renamed'],
  NotTold: ['announcement-lost', 'answer-lost', 'event-dead', 'not-answered', 'not-refreshed', 'not-told'],
  FunctionErrors: [
    'failed',
    'not-admitted',
    'not-swept',
    'slack-failed',
    'outlook-not-checked',
    'troubles-not-checked',
    'trouble-not-noted',
  ],
  PlanNotDone: ['plan-not-run'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type ErrorGroup = keyof typeof eventsOf

/** Errors that raise no alarm, with the reasons. */
export const errorsWithoutAlarm = {
  'in-doubt': 'most doubts end by themselves; one that is an hour old raises InDoubt',
  'audit-not-ok': 'the metric of the same audit raises AuditNotOk',
  'slack-refused': 'announcement-lost or answer-lost follows, and names the lost message',
  'project-waits': 'the next round retries it; a plan that ends without it raises PlanNotDone',
  'occurrence-failed': 'the next sweep retries it; a plan that does not end in an hour raises PlanNotDone',
  'not-begun': 'the next sweep starts it; if the sweep cannot, not-swept or FunctionErrors follows',
  'summary-not-ok': 'the guard has counted the summary again; no answer was wrong',
  'answer-broken':
    'the service broke off its answer, or the reader left or stopped reading; the caller was cut off. FunctionErrors leaves it out',
  'change-not-noted': 'the caller has the service’s answer; there is nothing to repair',
} as const

/** Many events have one cause when the table does not answer, so their lines raise `Table` instead. */
export const causesOfTable = ['LedgerUnavailable', 'AnswerLost', 'WrongLedger'] as const
const contention = 'Contention'
/** Another line, `secret-unavailable`, already raises `Keys`. */
const ofSecret = 'SecretUnavailable'

const isOneOf = (member: string, values: readonly string[]) =>
  `(${values.map((value) => `$.${member}="${value}"`).join('||')})`
const isNoneOf = (member: string, values: readonly string[]) =>
  values.map((value) => `$.${member}!="${value}"`).join('&&')
const hasOtherCause = (than: readonly string[]) => `($.cause.name NOT EXISTS||(${isNoneOf('cause.name', than)}))`

/** Uses the wildcard `*`, because a pattern has at most 1,024 characters. */
const shortened = (values: readonly string[]) => [
  ...new Set(values.map((value) => value.replace(/^.*(?=-not-checked$|Unavailable$)/, '*'))),
]

const ignored = Object.keys(errorsWithoutAlarm)
const causesOfOthers = [...causesOfTable, contention, ofSecret]
const errorsThat = (...conditions: readonly string[]) => `{$.level="error"&&${conditions.join('&&')}}`

/** Errors of `Units` count also if contention is the cause, because units may be booked wrongly. */
const inGroup = (group: ErrorGroup) => [
  isOneOf('event', eventsOf[group]),
  hasOtherCause(group === 'Units' ? [...causesOfTable, ofSecret] : causesOfOthers),
]

const isPlanNotDone = '($.event="occurrence"&&($.state="missed"||$.state="stopped"||$.refused>0||$.unsent>0))'

const hasCauseOfTable = [isOneOf('cause.name', causesOfTable), isNoneOf('event', ignored)]

/** The filters of the log. Each name is the metric of its filter. At most one alarm counts each error line. */
export const filters = {
  UnitsLines: errorsThat(...inGroup('Units')),
  KeysLines: errorsThat(...inGroup('Keys')),
  NotToldLines: errorsThat(...inGroup('NotTold')),
  FunctionErrorsLines: errorsThat(...inGroup('FunctionErrors')),
  PlansNotDone: `{${isPlanNotDone}||(${inGroup('PlanNotDone').join('&&')})}`,
  TableLines: errorsThat(...hasCauseOfTable),
  ContentionLines: errorsThat(isOneOf('cause.name', [contention]), isOneOf('event', eventsOf.FunctionErrors)),
  /** Requests and calls that fail for these reasons raise no alarm of their own. */
  KnownLines: `{$.level="error"&&((${hasCauseOfTable.join('&&')})||${isOneOf('event', ['secret-unavailable', 'token-refused', 'issuer-unavailable'])})}`,
  /** The service broke off its answer. The call of the function fails, and this does not count as a failure. */
  BrokenLines: errorsThat(isOneOf('event', ['answer-broken'])),
  OtherErrorLines: errorsThat(
    isNoneOf('event', shortened([...Object.values(eventsOf).flat(), ...ignored])),
    hasOtherCause(shortened(causesOfOthers)),
  ),
} as const satisfies Readonly<Record<string, string>>

export type LineMetric = keyof typeof filters
