import { allRules, type WorkBug, workBugs, workScenes } from './bugs.ts'
import { firstState, type Scene, type State, WorkModel } from './model.ts'
import type { Rules } from './rules.ts'

type SceneName = keyof typeof workScenes

/**
 * Searches each scene, and the broken promise for each rule that is left out. @param rule searches only without this rule, and prints the
 * steps. @returns whether all is as expected.
 */
export function checkWorks(say: (line: string) => void, rule?: string): boolean {
  const scenes = rule === undefined ? (Object.keys(workScenes) as SceneName[]) : []
  const bugs = workBugs.filter((bug) => rule === undefined || bug.rule === rule)
  if (bugs.length === 0) say(`There is no rule ${rule}; there are: ${workBugs.map((bug) => bug.rule).join(', ')}.`)
  const kept = scenes.map((scene) => checkScene(scene, say))
  const found = bugs.map((bug) => checkWorkBug(bug, say, rule !== undefined))
  return bugs.length > 0 && [...kept, ...found].every(Boolean)
}

function checkScene(scene: SceneName, say: (line: string) => void): boolean {
  const { states, trace } = searchWorks(workScenes[scene], allRules)
  say(row({ scene, rule: '', states, says: trace ? `BROKEN: ${trace.join(', ')}` : 'every promise is kept' }))
  return trace === null
}

/** The shortest way to a broken promise without one rule. */
function checkWorkBug({ rule, scene, says }: WorkBug, say: (line: string) => void, isTold: boolean): boolean {
  const { states, trace } = searchWorks(workScenes[scene], { ...allRules, [rule]: false })
  if (isTold) for (const step of trace ?? []) say(step)
  say(row({ scene, rule, states, says: `${trace ? 'caught' : 'SURVIVED'}: ${says}` }))
  return trace !== null
}

const row = ({ scene, rule, states, says }: { scene: string; rule: string; states: number; says: string }) =>
  `${scene.padEnd(9)} ${rule.padEnd(20)} ${String(states).padStart(9)} ${says}`

interface Searched {
  readonly states: number
  /** The shortest way to a broken promise; null: every state keeps them. */
  readonly trace: readonly string[] | null
}

/** Every reachable state, the nearest first, until a promise is broken. */
function searchWorks(scene: Scene, rules: Rules): Searched {
  const model = new WorkModel(scene, rules)
  const first = firstState(scene)
  const seen = new Map<string, { readonly from: string; readonly step: string } | null>([[nameOf(first), null]])
  let edge = [first]
  while (edge.length > 0) {
    const further: State[] = []
    for (const state of edge) {
      const from = nameOf(state)
      for (const [step, after] of model.moves(state)) {
        if ('broken' in after) return { states: seen.size, trace: [...wayTo(seen, from), step, after.broken] }
        const name = nameOf(after)
        if (seen.has(name)) continue
        seen.set(name, { from, step })
        further.push(after)
      }
    }
    edge = further
  }
  return { states: seen.size, trace: null }
}

function wayTo(seen: ReadonlyMap<string, { from: string; step: string } | null>, name: string): string[] {
  const way: string[] = []
  for (let last = seen.get(name); last; last = seen.get(last.from)) way.unshift(last.step)
  return way
}

/** Equal states have equal names. A step changes little of a state, and so little of its name. */
const nameOf = ({ tick, changes, listing, items, updates }: State): string =>
  `${tick} ${changes} ${listing} ${Object.keys(items)
    .sort()
    .map((key) => key + textOf(items[key]))} ${updates.map(textOf)}`

const texts = new WeakMap<object, string>()

function textOf(part: object = {}): string {
  const known = texts.get(part)
  if (known !== undefined) return known
  const text = JSON.stringify(Object.values(part))
  texts.set(part, text)
  return text
}
