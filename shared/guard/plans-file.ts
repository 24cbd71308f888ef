import * as z from 'zod/mini'
import { allFaults, type Fault, textFaults } from '../platform/faults.ts'
import { isObject, type Json, parseStrictJson, placeIn } from '../platform/json.ts'
import { readSettingsFile, WrongFile } from '../platform/settings-file.ts'
import { maxUnits } from '../platform/words.ts'
import { budgetName, kindOf, planName, project, query, units } from '../records/common-fields.ts'
import { type Kinds, productKinds } from '../tracking/kinds.ts'
import { parseSchedule, type Schedule } from './schedule.ts'
import { tags } from './tags.ts'

/** A stack of CloudFormation may have 500 resources; a plan needs two. */
const maxPlans = 200
const maxProjects = 500
const maxFaults = 100

/** @param text a list of plans, or `{"plans": [...]}`. @throws WrongFile with all faults. */
export function parsePlans(text: string, kinds: Kinds = productKinds): readonly Plan[] {
  const read = parseStrictJson(text)
  if (!read.ok) throw new WrongFile(`the plans are not valid, unambiguous JSON: ${read.reason}${placeIn(text)}`)
  const file = Array.isArray(read.value) ? { plans: read.value } : read.value
  const parsed = plansFileOf(kinds).safeParse(file)
  const faults = allFaults([...textFaults(file), ...namesTwice(file)], parsed.error?.issues)
    .map((fault) => ({ ...fault, ...placeOf(fault) }))
    .sort((a, b) => a.index - b.index)
  if (parsed.success && faults.length === 0) return parsed.data.plans
  const shown = faults.slice(0, maxFaults).map((fault) => sentenceOf(fault, file))
  const more = faults.length > maxFaults ? `; and ${faults.length - maxFaults} more` : ''
  throw new WrongFile(`these plans are wrong: ${shown.join('; ')}${more}`)
}

const schedule = z.pipe(
  z.string('must be a string such as "cron(0 5 * * ? *)"'),
  z.transform((text, context): Schedule => {
    const parsed = parseSchedule(text)
    if (parsed.kind === 'schedule') return parsed.schedule
    context.issues.push({ code: 'custom', message: parsed.message, input: text })
    return z.NEVER
  }),
)

const sizeOfProjects = `must have 1 to ${maxProjects} projects`

/** Limited, because every update's record stores the whole list. */
const maxLeaveBudgets = 50
const takesLeave = `must be a whole number of units from 0 to ${maxUnits}, or one for each budget, as in {"account": 2000}`

const leave = z.union(
  [
    units,
    z.record(budgetName, units).check(
      z.refine((byBudget) => {
        const { length } = Object.keys(byBudget)
        return length > 0 && length <= maxLeaveBudgets
      }, `must have 1 to ${maxLeaveBudgets} budgets`),
    ),
  ],
  takesLeave,
)

const planOf = (kinds: Kinds) =>
  z.strictObject({
    name: planName,
    kind: kindOf(kinds),
    projects: z.array(project, 'must be a list of project names').check(
      z.minLength(1, sizeOfProjects),
      z.maxLength(maxProjects, sizeOfProjects),
      z.refine((names) => new Set(names).size === names.length, 'names a project twice'),
    ),
    /** Absent: each project's owner pays. */
    budget: z.exactOptional(budgetName),
    schedule,
    /** `fit` updates the projects that fit, `refuse` judges each project alone, `ask` asks a person. */
    whenShort: z._default(z.enum(['fit', 'refuse', 'ask'], 'must be fit, refuse or ask'), 'fit'),
    query: z.exactOptional(query),
    /** Whether the plan may charge its budget for projects of descendant budgets. */
    mayChargeAncestors: z._default(z.boolean('must be true or false'), false),
    leave: z.exactOptional(leave),
    tags: z.exactOptional(tags),
    /** A disabled plan cannot be run at all. */
    enabled: z._default(z.boolean('must be true or false'), true),
  })

export type Plan = Readonly<z.output<ReturnType<typeof planOf>>>

const plansFileOf = (kinds: Kinds) =>
  z.strictObject({
    plans: z
      .array(planOf(kinds), 'must be a list of plans')
      .check(z.maxLength(maxPlans, `must have at most ${maxPlans} plans`)),
  })

/** Finds repeated names, because the schema does not look at names if a plan is wrong. */
function namesTwice(file: Json): Fault[] {
  const names = plansIn(file).map(nameOf)
  return names.flatMap((name, index) => {
    const first = names.indexOf(name)
    if (name === undefined || first === index) return []
    return [{ path: `plans.${index}.name`, message: `is the name of plan ${first + 1} too` }]
  })
}

type Place = { readonly index: number; readonly field: string }

/** The file itself has index -1. */
function placeOf({ path }: Fault): Place {
  const [, index, field = ''] = /^plans\.(\d+)(?:\.(.+))?$/s.exec(path) ?? []
  return index === undefined ? { index: -1, field: path } : { index: Number(index), field }
}

/** `plan 2 (morning), projects.0: must be the name of a project` */
function sentenceOf({ index, field, message }: Fault & Place, file: Json): string {
  const name = planName.safeParse(nameOf(plansIn(file)[index])).data
  const plan = index < 0 ? '' : `plan ${index + 1}${name === undefined ? '' : ` (${name})`}`
  const place = [plan, field].filter((part) => part !== '').join(', ')
  return place === '' ? message : `${place}: ${message}`
}

const plansIn = (file: Json): readonly Json[] => (isObject(file) && Array.isArray(file.plans) ? file.plans : [])

const nameOf = (plan: Json | undefined): string | undefined =>
  isObject(plan) && typeof plan.name === 'string' ? plan.name : undefined

/** Messages show only the file's base name. */
export const readPlans = (path: string | undefined, kinds: Kinds = productKinds): readonly Plan[] =>
  path === undefined ? [] : readSettingsFile(path, 'plans file', (text) => parsePlans(text, kinds))
