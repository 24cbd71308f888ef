import { budgetNamed, type Definitions, rootBudget } from '../../ledger/definitions/definitions.ts'
import { latestRenewal } from '../../ledger/definitions/windows.ts'
import type { DiskFault } from '../../ledger/errors.ts'
import { sandboxService } from '../../ledger/identity.ts'
import { dayMs, hourMs, minuteMs } from '../../platform/clock.ts'
import { countOf, diskSentences, when } from '../sentences.ts'
import type { NotedTrouble } from './noted.ts'

/** Facts that only a machine with the ledger in a file knows. */
export interface MachineFacts {
  readonly sweptAt: number | null
  readonly backedUpAt: number | null
  /** The latest attempt that made no good backup. */
  readonly backupFailedAt: number | null
  /** The number of changes that no process could handle. */
  readonly setAside: number | null
  /** Why a few bytes could not be written beside the ledger. `null`: they were written, or the ledger is not in a file. */
  readonly disk: DiskFault | null
}

export const unknownFacts: MachineFacts = {
  sweptAt: null,
  backedUpAt: null,
  backupFailedAt: null,
  setAside: null,
  disk: null,
}

export interface TroubleFacts {
  readonly now: number
  /** When the process that sweeps, or this one, began. */
  readonly startedAt: number
  readonly machine: MachineFacts
  /** `null`: they cannot be read. */
  readonly definitions: Definitions | null
  readonly noted: readonly NotedTrouble[]
  /** How far this clock is from the service's clock, if that is too far. */
  readonly clockIsOff: boolean
  /** Absent: no one has looked. */
  readonly hasSecrets?: boolean
}

/** What a row sees. `since` is absent if only the first look at it can say when it began. */
interface Seen {
  readonly since?: number
  readonly about?: string
  readonly sentence: string
}

interface Row {
  look(facts: TroubleFacts): readonly Seen[]
  readonly remedy: string
  /** This process cannot do its work, so `GET /ready` answers 503. */
  readonly stops?: true
  /** Also for callers who read only some budgets, because its sentence names no budget and no plan. */
  readonly isForAllReaders?: true
}

/** Longer than the five minutes between two sweeps on AWS. */
const sweepLateMs = 10 * minuteMs
/** A daily backup may take some time. */
const backupLateMs = dayMs + 2 * hourMs

const seenIf = (isThere: boolean, seen: Seen): readonly Seen[] => (isThere ? [seen] : [])

const noted = (slug: string, sentence: (trouble: NotedTrouble, zone: string) => string): Row['look'] => {
  return (facts) =>
    facts.noted
      .filter((trouble) => trouble.slug === slug)
      .map((trouble) => ({ ...trouble, sentence: sentence(trouble, zoneIn(facts)) }))
}

const zoneIn = ({ definitions }: TroubleFacts): string =>
  definitions ? latestRenewal(definitions.calendar).zone : 'UTC'

const backUp = 'Run npm run backup -- <file>, and see why the timer did not.'

/** The order is the order in which people should repair. */
const table = {
  disk: {
    stops: true,
    look: ({ machine: { disk } }) => (disk === null ? [] : [{ sentence: diskSentences[disk] }]),
    remedy: 'Make room on the disk of DATA_DIR, or make it writable.',
  },
  ledger: {
    stops: true,
    look: ({ definitions }) => seenIf(definitions === null, { sentence: 'The ledger cannot be read.' }),
    remedy: 'Run npm run doctor, which says why.',
  },
  secret: {
    stops: true,
    look: ({ hasSecrets = true }) => seenIf(!hasSecrets, { sentence: 'A secret cannot be read.' }),
    remedy: 'See in the log which secret is unavailable (secret-unavailable), and give it a value.',
  },
  clock: {
    stops: true,
    look: ({ clockIsOff }) =>
      seenIf(clockIsOff, { sentence: 'The clock is more than five minutes from that of the service.' }),
    remedy: 'Set the clock that is wrong, usually by NTP.',
  },
  'account-frozen': {
    isForAllReaders: true,
    look: (facts) => {
      const frozen = facts.definitions && budgetNamed(facts.definitions, rootBudget)?.frozen
      if (!frozen) return []
      const since = when(frozen.at, zoneIn(facts))
      return [{ since: frozen.at, sentence: `The account is frozen since ${since}, so no update starts.` }]
    },
    remedy: 'Read the reason on the page of account; reconcile first if a restore froze it, then unfreeze it.',
  },
  'service-token': {
    isForAllReaders: true,
    look: noted('service-token', () => 'The service refuses its token.'),
    remedy: 'Renew the token (TRACKING_TOKEN, or the secret on AWS).',
  },
  'service-unreachable': {
    isForAllReaders: true,
    look: noted('service-unreachable', () => 'The service does not answer.'),
    remedy: 'See why the service does not answer: npm run doctor asks it.',
  },
  'service-busy': {
    isForAllReaders: true,
    look: noted('service-busy', () => 'The service asks to wait (status 429).'),
    remedy: 'Wait; plans continue by themselves. If it lasts, ask the service for its limits.',
  },
  'sweep-late': {
    look: (facts) => {
      const { sweptAt } = facts.machine
      const isLate = sweptAt !== null && facts.now - Math.max(sweptAt, facts.startedAt) > sweepLateMs
      if (!isLate) return []
      return [{ since: sweptAt, sentence: `The last sweep ended ${when(sweptAt, zoneIn(facts))}.` }]
    },
    remedy: 'Run npm run sweep, and look for sweep-failed in the log.',
  },
  'backup-failed': {
    look: (facts) => {
      const { backedUpAt, backupFailedAt } = facts.machine
      if (backupFailedAt === null || backupFailedAt <= (backedUpAt ?? 0)) return []
      const sentence = `The backup of ${when(backupFailedAt, zoneIn(facts))} failed.`
      return [{ since: backupFailedAt, sentence }]
    },
    remedy: 'Run npm run backup -- <file>, which says why.',
  },
  'backup-late': { look: lateBackup, remedy: backUp },
  'set-aside': {
    look: ({ machine: { setAside } }) => {
      const changes = countOf(setAside ?? 0, 'change was', 'changes were')
      const sentence = `${changes} not passed on, so updates may wait and messages may be missing.`
      return seenIf((setAside ?? 0) > 0, { sentence })
    },
    remedy: 'Run npm run sweep.',
  },
  'slack-refuses': {
    isForAllReaders: true,
    look: noted('slack-refuses', ({ about }) => `Slack refuses messages (${about}).`),
    remedy: 'Renew the bot token or the webhook, and invite the app to its channels. It ends with the next message.',
  },
  'events-given-up': {
    look: noted('events-given-up', ({ about }) => `Events for ${about} were given up.`),
    remedy:
      'Repair the target (npm run events), then replay them (npm run events -- replay <target>). It ends with the next event.',
  },
  'option-lost': {
    look: noted('option-lost', ({ about }) => `The last deployment lost the option ${about}.`),
    remedy: 'Deploy with the option again, or name it in the option without (-c without=<option>) if that was meant.',
  },
  'plan-not-fired': {
    look: noted(
      'plan-not-fired',
      ({ about, since }, zone) => `The plan ${about} was due ${when(since, zone)} and did not start.`,
    ),
    remedy: 'Run it by hand (npm run plan), and see whether its rule or the server was off.',
  },
} as const satisfies Readonly<Record<string, Row>>

export type TroubleSlug = keyof typeof table
export const troubleSlugs = Object.keys(table) as readonly TroubleSlug[]

export interface Trouble {
  readonly slug: TroubleSlug
  /** `null`: it began before the first look. */
  readonly since: number | null
  readonly sentence: string
  readonly remedy: string
  readonly stops: boolean
  readonly isForAllReaders: boolean
}

/** What is wrong now, what stops everything first. */
export function troublesIn(facts: TroubleFacts): readonly Trouble[] {
  return troubleSlugs.flatMap((slug) => {
    const row: Row = table[slug]
    const { remedy, stops = false, isForAllReaders = false } = row
    return row
      .look(facts)
      .map(({ since = null, sentence }) => ({ slug, since, sentence, remedy, stops, isForAllReaders }))
  })
}

/** A ledger of the stand-in needs no backup. */
function lateBackup(facts: TroubleFacts): readonly Seen[] {
  const { now, machine, definitions } = facts
  // Only a ledger in a file counts what was set aside.
  if (machine.setAside === null || definitions === null) return []
  if (definitions.identity?.service === sandboxService) return []
  const since = machine.backedUpAt ?? definitions.createdAt
  if (now - since <= backupLateMs) return []
  const last =
    machine.backedUpAt === null ? 'There is no backup yet' : `The last backup is of ${when(since, zoneIn(facts))}`
  return [{ since, sentence: `${last}.` }]
}
