import {
  type Budget,
  budgetNamed,
  callerOfPlan,
  chainOf,
  type Definitions,
  folded,
  isWithin,
  listedName,
  listingsOf,
  ownerOf,
  planOfCaller,
  rootBudget,
  unownedRuleOf,
} from '../../ledger/definitions/definitions.ts'
import { nearName } from '../../ledger/definitions/near-names.ts'
import type { Problem, UpdateRequest } from '../../ledger/updates/update.ts'
import { invalidRequest, problem } from '../problems.ts'
import { few, list, shownCaller } from '../sentences.ts'

export interface NamedPayer {
  readonly budget?: string
}

export const budgetFor = (definitions: Definitions, { budget }: NamedPayer, project: string): string =>
  budget ?? ownerOf(definitions, project)?.name ?? rootBudget

/** The names and ids that budgets list for the project. */
export const namesOfProject = (definitions: Definitions, project: string): readonly string[] =>
  listingsOf(definitions, project).flatMap(({ project: { name, id } }) => (id === undefined ? [name] : [name, id]))

type Charge = Pick<UpdateRequest, 'project' | 'budget' | 'byDefault' | 'owner' | 'caller'>

/** The owner at the time of the request. The record keeps it. */
export const ownedBy = (definitions: Definitions, project: string, isByDefault: boolean) => ({
  owner: ownerOf(definitions, project)?.name ?? null,
  ...(isByDefault && ({ byDefault: true } as const)),
})

export interface Payer {
  readonly budget: string
  readonly owner: string | null
}

export const payerOf = (definitions: Definitions, { project, budget }: Pick<Charge, 'project' | 'budget'>): Payer => ({
  budget,
  owner: ownerOf(definitions, project)?.name ?? null,
})

export function ownerPaidFor(definitions: Definitions, charge: Pick<Charge, 'project' | 'budget'>): string | null {
  const { owner } = payerOf(definitions, charge)
  return owner === charge.budget ? null : owner
}

/** The owner's rules apply. Without an owner, the payer's rules apply. */
export const ruledBy = (definitions: Definitions, { project, budget }: Pick<Charge, 'project' | 'budget'>) =>
  chainOf(definitions, ownerOf(definitions, project)?.name ?? budget)

export function ownersBelow(rules: readonly Budget[], payer: string): readonly string[] {
  const names = rules.map(({ name }) => name)
  return names.slice(0, names.indexOf(payer))
}

export function whyNotPaid(definitions: Definitions, charge: Charge, mayChargeAncestors: boolean): Problem | null {
  const { project, budget, caller } = charge
  const owner = ownerOf(definitions, project)?.name
  const moved = whyMoved(charge, owner)
  if (moved) return moved
  const wrong = wrongBudget(definitions, { budget }, [project])
  if (wrong) return wrong
  if (owner === undefined || owner === budget || mayChargeAncestors) return null
  const right =
    planOfCaller(caller) === null ? 'the scope admin or mayChargeAncestors' : 'mayChargeAncestors in the plan'
  const detail = `${shownCaller(definitions, caller)} may not charge ${budget} for ${project}, which belongs to ${owner}; that needs ${right}. Without a budget, ${owner} pays.`
  return problem('forbidden', detail, { budget })
}

function whyMoved({ project, budget, byDefault, owner: then }: Charge, owner: string | undefined): Problem | null {
  const belongs = owner === undefined ? 'belongs to no budget' : `belongs to ${owner}`
  if (byDefault && (owner ?? rootBudget) !== budget) {
    const detail = `${project} ${belongs} now, and this was to be charged to ${budget}. Ask for the update again.`
    return problem('wrong-state', detail, { budget })
  }
  if (then === undefined || then === (owner ?? null)) return null
  const belonged = then === null ? 'belonged to no budget' : `belonged to ${then}`
  const detail = `${project} ${belonged} when this was asked for, and ${belongs} now. Ask for the update again.`
  return problem('wrong-state', detail, { budget })
}

/** Only the owner or its ancestor may pay. */
export function wrongBudget(
  definitions: Definitions,
  { budget }: NamedPayer,
  projects: readonly string[],
): Problem | null {
  if (budget === undefined) return null
  if (!budgetNamed(definitions, budget))
    return invalidRequest([{ path: 'budget', message: `There is no budget ${budget}.` }])
  const errors = projects.flatMap((project) => {
    const owner = ownerOf(definitions, project)
    if (!owner || isWithin(definitions, owner.name, budget)) return []
    const message = `${project} belongs to ${owner.name}, so it is charged there or to a parent of it, not to ${budget}.`
    return [{ path: 'budget', message }]
  })
  return errors.length > 0 ? invalidRequest(errors) : null
}

export const covers = (definitions: Definitions, budgets: '*' | readonly string[], budget: string): boolean =>
  budgets === '*' || chainOf(definitions, budget).some(({ name }) => budgets.includes(name))

interface ProjectName {
  readonly project: string
  readonly segment?: string | undefined
}

/**
 * Refuses names that a service may read as another project or as several, because the wrong limits would apply.
 * @param separator between projects in one segment.
 */
export function spellingFaults(
  definitions: Pick<Definitions, 'budgets'>,
  request: readonly ProjectName[],
  separator?: string,
) {
  const first = new Map<string, string>()
  return request.flatMap((spelled, position) => {
    const { project } = spelled
    const work = folded(listedName(definitions, project))
    const before = first.get(work)
    first.set(work, before ?? project)
    const message =
      unclearNameReason(definitions, spelled, separator) ?? (before === undefined ? null : namedTwice(before, project))
    const path = request.length === 1 ? 'project' : `projects.${position}`
    return message === null ? [] : [{ path, message }]
  })
}

const namedTwice = (before: string, project: string): string =>
  before === project ? `${project} is named twice.` : `${before} and ${project} are the same project; name it once.`

function unclearNameReason(
  definitions: Pick<Definitions, 'budgets'>,
  { project, segment }: ProjectName,
  separator?: string,
): string | null {
  const [listing, other] = listingsOf(definitions, project)
  if (listing && other) {
    const [one, two] = [listing, other].map((each) => `${each.project.name} of ${each.budget.name}`)
    return `${project} stands for ${one} and for ${two}; an administrator has to remove one of them from its budget.`
  }
  const plain = decoded(project).normalize('NFKC')
  if (plain.split(/[/\\]/).some(isDotSegment))
    return `${project} has an empty part, or one of dots alone, which changes the path; name the project itself.`
  if (separator !== undefined && plain.includes(separator)) return `${project} names several projects; ${nameEach}.`
  const odd = oddness({ project, plain, segment })
  if (!odd) return nearNameReason(definitions, project)
  // A listed name is clear, unless another reading of the name is listed.
  const isListed = listing && [listing.project.name, listing.project.id].includes(project)
  const isClear = odd.readings.every((reading) => listingsOf(definitions, reading).length === 0)
  return isListed && isClear ? null : odd.message
}

/** Refuses a name that no budget lists if it may be read as another project. */
export function nearNameReason(definitions: Pick<Definitions, 'budgets'>, project: string): string | null {
  const near = nearName(definitions, project)
  if (!near) return null
  const { reading, listing } = near
  const read = reading === null ? 'another number' : reading
  const [whose, instead] = listing
    ? [`, a project of ${listing.budget.name}`, 'Write it as listed']
    : ['', 'Write the number itself, without signs or leading zeros']
  return `${project} may be read as ${read}${whose}. ${instead}; if it is a project of its own, list it in a budget.`
}

const nameEach = 'name each of them by itself'

/** Some servers cut off what follows a `;`. */
const isDotSegment = (part: string): boolean => ['', '.', '..'].includes(part.split(';')[0]?.trim() ?? '')

function oddness({ project, plain, segment = '' }: ProjectName & { plain: string }) {
  if (plain.includes(',')) {
    const message = `${project} may be read as several projects; ${nameEach}. If it is one project, list it in a budget under exactly this name. For several in one run through the gateway, set PROJECT_SEPARATOR.`
    return { readings: plain.split(','), message }
  }
  if (plain !== project.normalize('NFKC')) {
    const message = `${project} has a percent-encoded character that a service may decode once more; write the character itself.`
    return { readings: [plain], message }
  }
  if (segment.includes('+')) {
    const message = `A + in a path may be read as a blank; write %2B for ${project}, or %20 for a blank.`
    return { readings: [project.replaceAll('+', ' ')], message }
  }
  if (segment.includes(';')) {
    const message = `A ; in a path may be read as the end of the name; write %3B for ${project}.`
    return { readings: [project.split(';')[0] ?? ''], message }
  }
  return null
}

/** Escapes may hide in each other (`%2525`); no known service decodes more often. */
const maxDecodings = 4

function decoded(text: string): string {
  let plain = text
  for (let times = 0; times < maxDecodings; times++) plain = plain.replace(/(?:%[\da-f]{2})+/gi, decodedOnce)
  return plain
}

function decodedOnce(escapes: string): string {
  try {
    return decodeURIComponent(escapes)
  } catch {
    return Buffer.from(escapes.replaceAll('%', ''), 'hex').toString('latin1')
  }
}

/** Says in one sentence which of these projects are refused. `null`: none is refused. */
export function nearInWords(definitions: Pick<Definitions, 'budgets'>, projects: readonly string[]): string | null {
  const refused = projects.flatMap((project) => {
    const why = nearNameReason(definitions, project)
    return why === null ? [] : [{ project, why }]
  })
  const [first] = refused
  if (!first) return null
  return `Requests for ${few(refused.map(({ project }) => project))} are refused: ${first.why}`
}

type Budgets = Pick<Definitions, 'budgets'>

/** `account` may refuse projects that no budget lists, whichever budget the request names. */
export function whyNotUnowned(definitions: Definitions, project: string): Problem | null {
  if (unownedRuleOf(definitions, project) !== 'refuse') return null
  const detail = `No budget lists ${project}, and ${rootBudget} refuses such projects (unowned: refuse). Check the name, or ask an administrator to list it in a budget.`
  return problem('project-unowned', detail, { project })
}

interface PayingPlan extends NamedPayer {
  readonly name: string
  readonly mayChargeAncestors: boolean
}

export function whyNotPaidBy(definitions: Definitions, plan: PayingPlan, project: string): Problem | null {
  const charge = { project, budget: budgetFor(definitions, plan, project), caller: callerOfPlan(plan.name) }
  return whyNotPaid(definitions, charge, plan.mayChargeAncestors) ?? whyNotUnowned(definitions, project)
}

/** A clause about who pays for projects that no budget lists after a change. @param more how many further projects. */
export function unownedPayer(after: Budgets, projects: readonly string[], more = 0): string {
  const refused = projects.filter((project) => spellingFaults(after, [{ project }]).length > 0)
  const paid = projects.length - refused.length + more
  if (refused.length === 0 || isRefusing(after)) return payerFor(after, projects.length + more === 1 ? 'it' : 'them')
  const them = refused.length === 1 ? 'it' : 'them'
  if (paid === 0) return refusal(them, them)
  return `${refusal(list(refused), them)}, and ${payerFor(after, paid === 1 ? 'the other' : 'the others')}`
}

const ruleOf = (definitions: Budgets) => definitions.budgets[rootBudget]?.unowned

const isRefusing = (definitions: Budgets): boolean => ruleOf(definitions) === 'refuse'

const refusal = (what: string, them: string): string => `requests for ${what} are refused until a budget lists ${them}`

function payerFor(definitions: Budgets, them: string): string {
  if (isRefusing(definitions)) return refusal(them, them)
  return `${rootBudget} pays for ${them}${ruleOf(definitions) === 'approve' ? ' after an approval' : ''}`
}
