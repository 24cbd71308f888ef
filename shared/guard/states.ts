import { isTerminal, type State } from '../ledger/updates/update.ts'

interface StateText {
  /** The sign in messages. Pages show `drawing`, because not every font has the sign. */
  readonly sign: string
  readonly drawing: 'check' | 'cross' | 'exclamation' | 'clock' | 'play' | 'question' | 'back' | 'hourglass'
  readonly words: string
  /** What happened when the state began. */
  readonly event: string
  /** The HTTP status of a request whose update is in this state. */
  readonly status: 201 | 202 | 402 | 502
  /** Follows the id of the update, or “It”. */
  readonly means: string
  /** The next step of the caller. */
  readonly next: string
}

const pending = 'Wait until it ends. Do not ask for the same work again.'
const again = 'It may be asked for again, with a new key.'

/** Slack, pages, tools, the API’s document and the client’s README read this table. */
export const stateTexts: Readonly<Record<State, StateText>> = {
  'awaiting-approval': {
    sign: '✋',
    drawing: 'exclamation',
    status: 202,
    words: 'waits for approval',
    event: 'sent for approval',
    means: 'waits for approval by another person. Nothing is spent before that.',
    next: 'Tell a person who may approve it; asking again changes nothing.',
  },
  requested: {
    sign: '⏳',
    drawing: 'clock',
    status: 202,
    words: 'will begin in a moment',
    event: 'accepted',
    means: 'will begin in a moment. Nothing has been spent yet.',
    next: pending,
  },
  running: {
    sign: '▶️',
    drawing: 'play',
    status: 202,
    words: 'is running',
    event: 'units set aside, begun',
    means: 'is running. Its units are set aside.',
    next: pending,
  },
  'in-doubt': {
    sign: '❓',
    drawing: 'question',
    status: 202,
    words: 'in doubt',
    event: 'in doubt',
    means: 'may have run, so it stays counted and is never sent again.',
    next: 'Do not ask for the same work: a person or the service’s data will show whether it ran.',
  },
  settled: {
    sign: '✅',
    drawing: 'check',
    status: 201,
    words: 'done',
    event: 'done',
    means: 'is done, and its units are charged.',
    next: 'A further update needs a request of its own.',
  },
  released: {
    sign: '↩️',
    drawing: 'back',
    status: 502,
    words: 'did not run',
    event: 'did not run, units given back',
    means: 'did not run, and nothing was spent.',
    next: again,
  },
  refused: {
    sign: '⛔',
    drawing: 'cross',
    status: 402,
    words: 'refused',
    event: 'refused',
    means: 'was refused. Nothing was spent.',
    next: 'Change what the problem names, or ask a person; then ask with a new key.',
  },
  rejected: {
    sign: '⛔',
    drawing: 'cross',
    status: 402,
    words: 'rejected',
    event: 'rejected',
    means: 'was rejected by a person. Nothing was spent.',
    next: 'Ask that person before you ask for it again.',
  },
  cancelled: {
    sign: '⛔',
    drawing: 'cross',
    status: 402,
    words: 'cancelled',
    event: 'cancelled',
    means: 'was cancelled. Nothing was spent.',
    next: again,
  },
  expired: {
    sign: '⌛',
    drawing: 'hourglass',
    status: 402,
    words: 'expired',
    event: 'expired',
    means: 'expired: it was not approved or started in time. Nothing was spent.',
    next: again,
  },
}

export const endsWithoutRun = (state: State): boolean => isTerminal(state) && state !== 'settled'
