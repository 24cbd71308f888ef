import { count, countOf, percent, zoneOf } from '../../guard/sentences.ts'
import { spentOnTops } from '../../ledger/book/book.ts'
import { topsOf } from '../../ledger/definitions/definitions.ts'
import type { PersonProfile, ProjectProfile } from '../../reports/profiles.ts'
import { type Block, header, type Message, message, section, sections, toAsker } from '../blocks.ts'
import { type Links, linkBlocks, personPath, projectPath } from '../messages/links.ts'
import { summaryOf } from '../messages/updates.ts'
import { bold, boldUnits } from '../messages/words.ts'
import { code, date, prose } from '../text.ts'

const maxShown = 5
export const maxSentence = 600

type Profile = Pick<ProjectProfile, 'spent' | 'waiting'>

const spentLine = ({ spent: { now, before } }: Profile): string =>
  `${boldUnits(now)} spent this month${before === null ? '' : `, ${count(before)} last month`}`

const waitingLines = ({ waiting }: Profile): readonly string[] =>
  (['awaiting-approval', 'in-doubt'] as const).flatMap((state) => {
    const number = waiting.filter((update) => update.state === state).length
    const what = state === 'in-doubt' ? 'in doubt' : 'awaiting approval'
    return number === 0 ? [] : [`${countOf(number, 'update')} ${what}`]
  })

const latestBlocks = ({ latest }: Pick<ProjectProfile, 'latest'>): readonly Block[] =>
  latest.length === 0 ? [] : sections([bold('Asked lately'), ...latest.slice(0, maxShown).map(summaryOf)])

/** `/units globex`, where globex is a project. The figures of the payer follow. */
export function projectLines(project: ProjectProfile): readonly string[] {
  const { name, owner, kinds, plans, next, view } = project
  const runs = kinds.flatMap(({ kind, last }) =>
    last ? [`Last ${kind} run: ${boldUnits(last.units)} on ${date(last.at, zoneOf(view))}`] : [],
  )
  return [
    owner === null ? `No budget lists ${code(name)}.` : `${code(name)} is a project of ${code(owner)}.`,
    [
      spentLine(project),
      ...runs,
      ...waitingLines(project),
      ...plans.map((plan) => `Plan ${code(plan.name)} updates it`),
    ]
      .map((line) => `• ${line}`)
      .join('\n'),
    ...(next === null ? [] : [prose(next.sentence, maxSentence)]),
  ]
}

export const projectMessage = (project: ProjectProfile & Links): Message =>
  message(
    `Project ${code(project.name)}: ${spentLine(project)}`,
    [
      header(prose(project.name)),
      ...projectLines(project).map((line) => section(line)),
      ...latestBlocks(project),
      ...linkBlocks(projectPath(project.name), project),
    ],
    toAsker,
  )

interface PersonShown extends PersonProfile, Links {
  /** `scopes` is `null` if the caller's token decides. */
  readonly may: readonly {
    readonly name: string
    readonly scopes: readonly string[] | null
    readonly disabled: boolean
  }[]
}

/** `/units ada`, where ada is a person. */
export function personMessage(person: PersonShown): Message {
  const { name, view, spent, projects, toDecide, next, may } = person
  const all = spentOnTops(view.book, topsOf(view.definitions))
  const most = projects.slice(0, 3).map((each) => `${code(each.name ?? 'others')} ${count(each.units)}`)
  const lines = [
    `${spentLine(person)}${spent.now > 0 ? ` (${percent(spent.now, all)} of all this month)` : ''}`,
    ...(most.length > 0 ? [`Most on ${most.join(', ')}`] : []),
    ...waitingLines(person),
    ...(toDecide.length > 0 ? [`${countOf(toDecide.length, 'update')} to decide`] : []),
    ...may.map(({ name: caller, scopes, disabled }) => {
      const what = scopes === null ? 'what the token says' : scopes.join(', ') || 'nothing'
      const stop = next.get(caller)
      const sentence = stop ? `. ${prose(stop.sentence, maxSentence)}` : ''
      return `${code(caller)} ${disabled ? 'is disabled' : `may: ${what}`}${sentence}`
    }),
  ]
  return message(
    `${prose(name)}: ${lines[0]}`,
    [
      header(prose(name)),
      ...sections(lines.map((line) => `• ${line}`)),
      ...latestBlocks(person),
      ...linkBlocks(personPath(name), person),
    ],
    toAsker,
  )
}
