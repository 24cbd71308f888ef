import { join } from 'node:path'
import { issuerKeys } from '../../../../shared/auth/stored-keys.ts'
import type { Guard } from '../../../../shared/guard/guard.ts'
import { type GuardSettings, guardSettings } from '../../../../shared/guard/options.ts'
import { type Plan, readPlans } from '../../../../shared/guard/plans-file.ts'
import { spellingFaults, whyNotPaidBy } from '../../../../shared/guard/rules/projects.ts'
import { count, countOf, few, figuresOf, units, when, zoneOf } from '../../../../shared/guard/sentences.ts'
import { notedTroubles } from '../../../../shared/guard/troubles/noted.ts'
import { type MachineFacts, unknownFacts } from '../../../../shared/guard/troubles/table.ts'
import { leavesToNoBudget } from '../../../../shared/guard/update/early-checks.ts'
import { collisionsIn } from '../../../../shared/ledger/book/name-faults.ts'
import { createViews, type View } from '../../../../shared/ledger/book/view.ts'
import {
  type Budget,
  budgetNamed,
  type Definitions,
  rootBudget,
  windowKinds,
} from '../../../../shared/ledger/definitions/definitions.ts'
import { latestRenewal, newCalendar } from '../../../../shared/ledger/definitions/windows.ts'
import { NoDefinitions } from '../../../../shared/ledger/errors.ts'
import { accountOf, emptyFault, identityFaults, showRenewal } from '../../../../shared/ledger/identity.ts'
import { expectedLedgerOf } from '../../../../shared/ledger/ledger-parts.ts'
import type { Store } from '../../../../shared/ledger/store/store.ts'
import { type Clock, systemClock } from '../../../../shared/platform/clock.ts'
import { environment, parseSettings } from '../../../../shared/platform/settings.ts'
import { version } from '../../../../shared/platform/version.ts'
import { project as isProject } from '../../../../shared/records/common-fields.ts'
import { leavesInWords } from '../../../../shared/reports/plans/verdict.ts'
import { nearListed } from '../../../../shared/reports/unlisted.ts'
import type { ProjectLists } from '../../../../shared/tracking/project-list.ts'
import { withoutFound } from '../../data-directory.ts'
import { damageIn, remedyOfDamage } from '../../database/damage.ts'
import { machineFacts } from '../../database/machine-facts.ts'
import { reasonOf } from '../../failures.ts'
import { logFile } from '../../log/guard-log.ts'
import { directoryOf, type Environment, refuseMisspeltVariables } from '../../settings.ts'
import { commandEnvironment, whereIs } from '../../where.ts'
import { attentionOf } from '../attention.ts'
import { WrongUsage } from '../command.ts'
import { examineEvents } from '../events/doctor-events.ts'
import { type Findings, found, joined } from '../findings.ts'
import { isOnAws, openGuard, openStore } from '../open.ts'
import { findIds, unknownInWords, unownedInWords } from '../projects.ts'
import type { Run } from '../table.ts'
import { examineAlarms } from './alarms.ts'
import { tellAnswer } from './answer.ts'
import { examineIdentity } from './identity.ts'
import { examineAnswers } from './seen-answers.ts'
import { examineService } from './service.ts'
import { examineRefused, tellToken } from './token.ts'
import { troublesInWords } from './troubles.ts'

export const run: Run<'doctor'> = async ({ project, id, 'token-file': tokenFile, answer, ...ofAnswer }) => {
  for (const given of [project, id]) {
    if (given !== undefined && !isProject.safeParse(given).success)
      throw new WrongUsage(`no project is called ${given}`)
  }
  refuseMisspeltVariables(environment())
  const env = commandEnvironment()
  if (answer !== undefined) {
    const names = [project, id].filter((name) => name !== undefined)
    for (const { heading, lines } of await tellAnswer({ answer, names, ...ofAnswer }, env)) tell(heading, lines)
    return true
  }
  const [unused] = Object.keys(ofAnswer)
  if (unused !== undefined) throw new WrongUsage(`--${unused} is for --answer`)
  const settings = parseSettings(guardSettings, env)
  if (tokenFile !== undefined) {
    const keys = whereIs(env).kind === 'memory' ? null : (await openGuard()).services.guard.ledger.item(issuerKeys)
    const { isAccepted, lines } = await tellToken(tokenFile, settings, { keys })
    tell(`The token in ${tokenFile}`, lines)
    return isAccepted
  }
  const plans = readPlans(settings.PLANS)
  console.log('Looking at the service and the ledger …\n')
  const service = await examineService(settings, { project, id })
  const ledger = await examineLedger(settings, env, { plans, lists: service.lists ?? [] })
  const guard = ledger.view && (await openGuard()).services.guard
  const { urgent, paused } = guard ? await attentionOf(guard, ledger.view) : { urgent: [], paused: [] }
  const identity = await examineIdentity(settings, {
    keys: guard?.ledger.item(issuerKeys) ?? null,
    names: guard && ledger.view ? await callersOf(guard, ledger.view) : [],
    budgets: ledger.view?.definitions.budgets,
    clock: systemClock,
  })
  const refused = await examineRefused(logFileOf(settings), systemClock)
  const events = await examineEvents(settings)
  const alarms = isOnAws(env) ? await examineAlarms(environment()) : found([])
  const answers = guard && ledger.view ? await answersIn(guard, ledger.view, settings) : found([])
  const noted = guard ? (await guard.ledger.item(notedTroubles).read()).open : []
  const troubles = troublesInWords({ ...ledger, noted, now: systemClock.now() })
  const { toDo } = joined([found([], troubles), answers, ledger, identity, events, alarms])
  const first = new Set([...troubles, ...service.toDo, ...urgent, ...toDo, ...paused])
  tell('Unit Guard', [`version ${version}`])
  tell('What matters first', first.size === 0 ? ['nothing: updates can be guarded as it is'] : [...first])
  tell(`The service at ${settings.TRACKING_BASE_URL}`, service.lines)
  tell('Answers of the last seven days', answers.lines)
  tell(`The ledger: ${ledger.where}`, ledger.lines)
  tell('Who may call', [...identity.lines, ...refused.lines])
  tell('Events', events.lines)
  tell('Alarms', alarms.lines)
  return service.toDo.length + toDo.length === 0
}

/** `null` on AWS, where the log is not a file. */
const logFileOf = ({ SECRETS_ENDPOINT: here }: GuardSettings): string | null =>
  here === undefined ? null : join(directoryOf(withoutFound(environment())), logFile)

const answersIn = ({ ledger }: Guard, { definitions }: View, settings: GuardSettings): Promise<Findings> =>
  examineAnswers(settings, { ledger, definitions, now: systemClock.now() })

const maxUpdates = 300

/** The callers that are listed or were seen lately. */
async function callersOf({ ledger }: Guard, { definitions }: View): Promise<readonly string[]> {
  const { rows } = await ledger.updates({}, maxUpdates)
  return [...new Set([...Object.keys(definitions.callers ?? {}), ...rows.map(({ caller }) => caller)])]
}

function tell(heading: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log([heading, ...lines.map((line) => `  ${line}`), ''].join('\n'))
}

interface Seen {
  readonly plans: readonly Plan[]
  readonly lists: ProjectLists
  readonly isOnAws: boolean
  readonly separator: string | undefined
}

interface LedgerFindings extends Findings {
  /** Present if the guard accepts this ledger. */
  readonly view?: View
  /** Absent: nothing of the ledger could be read. */
  readonly machine?: MachineFacts
}

type Settings = Parameters<typeof expectedLedgerOf>[0]

async function examineLedger(
  settings: GuardSettings,
  env: Environment,
  seen: Pick<Seen, 'plans' | 'lists'>,
): Promise<LedgerFindings & { readonly where: string }> {
  if (whereIs(env).kind === 'memory') {
    return { where: 'in the memory of npm start', ...found('no other process can read it; GET /budgets shows it') }
  }
  const { store, where, file } = await openStore(env)
  const how = { isOnAws: isOnAws(env), separator: settings.PROJECT_SEPARATOR }
  try {
    const damaged = file ? await damageIn(file) : []
    const { lines, toDo, ...seenNow } = await examineStore(settings, store, systemClock, { ...seen, ...how })
    const machine = file ? await machineFacts(file, directoryOf(env)) : unknownFacts
    if (damaged.length > 0)
      return { where, machine, lines: [...lines, ...damaged], toDo: [restoreIt(damaged), ...toDo] }
    return { ...seenNow, where, machine, lines, toDo }
  } catch (error) {
    const toDo = 'see that the ledger answers; until then every update is answered 503'
    return { where, ...found(`cannot be read: ${reasonOf(error)}`, toDo) }
  }
}

const restoreIt = (damaged: readonly string[]): string =>
  `${countOf(damaged.length, 'part of the ledger is', 'parts of the ledger are')} damaged (see below), and what needs it is answered 503. ${remedyOfDamage}`

/** Reads the store directly, because opening an empty ledger would set it up. */
export async function examineStore(
  settings: Settings,
  store: Store,
  clock: Clock,
  { plans = [], lists = [], isOnAws = false, separator }: Partial<Seen> = {},
): Promise<LedgerFindings> {
  const account = accountOf(settings)
  try {
    const view = await createViews({ store, clock, calendar: newCalendar(account.renewal) }).look()
    const here = { table: (await store.tableId?.()) ?? null, place: store.place }
    const faults = identityFaults(view.definitions, expectedLedgerOf(settings), here).map(({ text }) => text)
    const owners = ownership(view, lists)
    return {
      ...(faults.length === 0 && { view }),
      lines: [identityOf(view), ...linesOf(view), ...faults, ...owners.lines, ...nearListed(view.definitions)],
      toDo: [
        ...frozenBudgets(view),
        ...collisions(view),
        ...refusedPlans(plans, (_, project) => spellingFaults(view.definitions, [{ project }], separator)[0]?.message),
        ...refusedPlans(plans, (plan, project) => whyNotPaidBy(view.definitions, plan, project)?.detail),
        ...owners.toDo,
        ...plans.flatMap((plan) => leavesToNoBudget(view.definitions, { ...plan, plan: plan.name })?.detail ?? []),
        ...leavesInWords(view, plans),
        ...(faults.length > 0 ? [notThisLedger] : []),
      ],
    }
  } catch (error) {
    if (!(error instanceof NoDefinitions)) throw error
    const { LEDGER_MARKER: marker } = settings
    if (marker || isOnAws) return found('it is empty', emptyFault(marker, store.place).text)
    const { unitsPerMonth, usedAtStart, renewal } = account
    const first = `${units(unitsPerMonth)} a month, ${count(usedAtStart)} of them used, the month turns ${showRenewal(renewal)}`
    return found(`it is empty; the first request makes it: ${first}`)
  }
}

const refusedPlans = (plans: readonly Plan[], whyNot: (plan: Plan, project: string) => string | undefined): string[] =>
  plans.flatMap((plan) => {
    const refused = plan.projects.flatMap((project) => {
      const detail = whyNot(plan, project)
      return detail === undefined ? [] : [{ project, detail }]
    })
    const [first] = refused
    const names = few(refused.map(({ project }) => project))
    return first ? [`correct the plan ${plan.name}, which is refused for ${names}: ${first.detail}`] : []
  })

/** Updates by an id that no budget lists are charged to `account`, even if a budget owns the project. */
function ownership({ definitions }: View, lists: Seen['lists']): Findings {
  const { missing, twice, unowned, unknown, contradicted } = findIds(Object.values(definitions.budgets), lists)
  const ids = missing.map(({ project, id }) => `${project} has ${id}`)
  return {
    lines: unowned.length > 0 ? [unownedInWords(unowned, budgetNamed(definitions, rootBudget)?.unowned)] : [],
    toDo: [
      ...(ids.length > 0 ? [`give owned projects their ids: npm run budgets -- ids (${few(ids)})`] : []),
      ...contradicted.map((sentence) => `correct an id, or leave it if it is right: ${sentence}`),
      ...twice.map((sentence) => `keep one of two listings: ${sentence}`),
      ...(unknown.length > 0 && lists.length > 0 ? [`look at budgets: ${unknownInWords(unknown)}`] : []),
    ],
  }
}

const notThisLedger =
  'repair the differences between the ledger and the settings: the guard does not start, or answers 503'

function identityOf({ definitions: { identity, calendar } }: View): string {
  const turns = `the month turns ${showRenewal(latestRenewal(calendar))}`
  return identity ? `${identity.ledger}, a ledger of ${identity.service ?? 'no known service'}; ${turns}` : turns
}

function* linesOf(view: View): Generator<string> {
  const { definitions, month } = view
  yield `${month.name} is open until ${when(month.end, zoneOf(view))}; revision ${definitions.revision} of the definitions`
  const all = rootFirst(definitions)
  const told = all.filter((budget) => budget.name === rootBudget || isTouched(view, budget))
  for (const budget of told) {
    for (const window of windowKinds) {
      const { limit, granted, available, held, inDoubt, spent } = figuresOf(view, budget, window)
      if (limit === 'unlimited' && window === 'day') continue
      const most = limit === 'unlimited' ? 'unlimited' : `${count(available)} of ${count(limit + granted)} available`
      const rest = `${count(held)} held, ${count(inDoubt)} in doubt, ${count(spent)} spent`
      yield `${budget.name}, ${window}: ${most}, ${rest}${budget.frozen ? ', FROZEN' : ''}`
    }
  }
  const others = all.length - told.length
  if (others > 0) yield `and ${countOf(others, 'budget')} without any use this month`
}

function isTouched(view: View, budget: Budget): boolean {
  const { held, inDoubt, spent } = figuresOf(view, budget, 'month')
  return held !== 0 || inDoubt !== 0 || spent !== 0 || budget.frozen !== undefined
}

const rootFirst = ({ budgets }: Definitions): Budget[] =>
  Object.values(budgets).toSorted(
    (a, b) => Number(a.parent !== null) - Number(b.parent !== null) || (a.name < b.name ? -1 : 1),
  )

const frozenBudgets = ({ definitions }: View): string[] =>
  Object.values(definitions.budgets).flatMap(({ name, frozen }) =>
    frozen ? [`unfreeze ${name} when it may spend again (frozen by ${frozen.by}: ${frozen.reason})`] : [],
  )

const collisions = ({ definitions }: View): string[] =>
  collisionsIn(definitions).map(
    (collision) => `${collision}; until a budget drops one of them, its updates are refused`,
  )
