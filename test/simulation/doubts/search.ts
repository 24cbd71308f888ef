import { figureBugs, figureScenes } from './bugs.ts'
import { FigureModel, nameOfEvent } from './model.ts'
import {
  allFigureRules,
  type Figure,
  type FigureMonth,
  type FigureRules,
  type FigureScene,
  type FigureState,
  type FigureUpdate,
  firstStates,
} from './state.ts'

type SceneName = keyof typeof figureScenes

/**
 * Searches each scene, and the broken promise for each rule that is left out. @param rule searches only without this rule, and prints the
 * steps. @returns whether all is as expected.
 */
export function checkFigures(say: (line: string) => void, rule?: string): boolean {
  const scenes = rule === undefined ? (Object.keys(figureScenes) as SceneName[]) : []
  const bugs = figureBugs.filter((bug) => rule === undefined || bug.rule === rule)
  if (bugs.length === 0) say(`There is no rule ${rule}; there are: ${figureBugs.map((bug) => bug.rule).join(', ')}.`)
  const kept = scenes.map((scene) => {
    const { states, steps, trace } = searchFigures(figureScenes[scene], allFigureRules)
    say(
      `${scene}: ${states} states, ${steps} steps: ${trace ? `BROKEN: ${trace.join(', ')}` : 'every promise is kept'}`,
    )
    return trace === null
  })
  const found = bugs.map((bug) => {
    const { states, trace } = searchFigures(figureScenes[bug.scene], { ...allFigureRules, [bug.rule]: false })
    if (rule !== undefined) for (const step of trace ?? []) say(step)
    say(`without ${bug.rule}, ${bug.scene}: ${states} states: ${trace ? 'caught' : 'SURVIVED'}: ${bug.says}`)
    return trace !== null
  })
  return bugs.length > 0 && [...kept, ...found].every(Boolean)
}

interface Searched {
  readonly states: number
  readonly steps: number
  /** A shortest way to a broken promise. `null`: every state keeps them. */
  readonly trace: readonly string[] | null
}

function searchFigures(scene: FigureScene, rules: FigureRules): Searched {
  let [states, steps] = [0, 0]
  for (const first of firstStates(scene)) {
    const searched = searchFrom(new FigureModel(scene, rules), first)
    states += searched.states
    steps += searched.steps
    if (searched.trace) return { states, steps, trace: searched.trace }
  }
  return { states, steps, trace: null }
}

type Way = { readonly step: string; readonly from: Way } | null

/** Every reachable state, the nearest first, until a promise is broken. */
function searchFrom(model: FigureModel, first: FigureState): Searched {
  const seen = new Set([nameOf(first)])
  let steps = 0
  let edge: (readonly [FigureState, Way])[] = [[first, null]]
  while (edge.length > 0) {
    const further: typeof edge = []
    for (const [state, way] of edge) {
      for (const event of model.eventsOf(state)) {
        const after = model.after(state, event)
        if (!after) continue
        steps++
        const name = nameOf(after)
        if (seen.has(name)) continue
        seen.add(name)
        const step = { step: nameOfEvent(event), from: way }
        const broken = model.broken(after)
        if (broken !== null) return { states: seen.size, steps, trace: [truth(first), ...stepsOf(step), broken] }
        further.push([after, step])
      }
    }
    edge = further
  }
  return { states: seen.size, steps, trace: null }
}

/** Equal states have equal names. The order of the updates makes no difference to what can follow. */
const nameOf = ({ tick, updates, outs, months }: FigureState): string =>
  `${tick} ${updates.map(textOf).sort()} ${outs} ${months.map(nameOfMonth)}`

const textOf = (part: FigureUpdate | Figure): string => Object.values(part).join()

const nameOfMonth = ({ outside, downAt, figure }: FigureMonth): string =>
  `${outside} ${downAt} ${figure && textOf(figure)}`

const truth = ({ updates }: FigureState): string =>
  `the vendor counts ${updates.map(({ cost, shownAt }) => `${cost} from tick ${shownAt} on`).join(' and ')}`

function stepsOf(way: Way): string[] {
  const steps: string[] = []
  for (let last = way; last; last = last.from) steps.unshift(last.step)
  return steps
}
