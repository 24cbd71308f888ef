import type { Answered } from '../handlers.ts'
import type { Asked } from '../workloads/actions.ts'
import type { World } from '../world.ts'
import { Broken } from './stored.ts'

/** Checks that a refused process has run nothing, and that no answer is an unexpected error. */
export function lookAtAnswer({ runs }: World, process: string, { status, text }: Answered): void {
  if (status >= 500 && status !== 503 && status !== 502) throw new Broken(`${process} is answered ${status}: ${text}`)
  // The key of this request is in progress: this very process may have run a part of it.
  if (status < 400 || status >= 500 || (status === 409 && text.includes('/problems/in-progress'))) return
  if (runs.some((run) => run.process === process)) throw new Broken(`${process} is refused with ${status}, and ran`)
}

/** Checks that each request still gets its earlier answer long afterwards. */
export function lookAtReplays(before: ReadonlyMap<Asked, string>, now: ReadonlyMap<Asked, string>): void {
  for (const [request, answer] of before) {
    // A refused entry is not recorded: nothing was booked, and the key may be used again.
    if (request.path !== '/updates' && !answer.startsWith('20')) continue
    if (now.get(request) !== answer)
      throw new Broken(`${request.caller} gets another answer for ${request.key}: ${answer} and ${now.get(request)}`)
  }
}

/** Checks that a key stands for one request, and that another request with it is refused. */
export function lookAtKeys(answers: ReadonlyMap<Asked, string>): void {
  const taken = new Set<string>()
  for (const [{ caller, path, key }, answer] of answers) {
    if (!/^20[012]/.test(answer)) continue
    const name = [caller, path, key].join(' ')
    if (taken.has(name)) throw new Broken(`two requests are answered under the key ${name}`)
    taken.add(name)
  }
}

/** Checks that announcements move no units, whatever fails meanwhile. */
export function lookAtTeller(before: World, after: World): void {
  for (const [name, item] of after.items) {
    if (item !== before.items.get(name) && (item.pk === 'book' || item.sk === 'update'))
      throw new Broken(`telling people has changed ${item.pk}`)
  }
}

export function lookForSecrets(texts: readonly string[], secrets: readonly string[]): void {
  for (const secret of secrets) {
    const found = texts.find((text) => text.includes(secret))
    if (found !== undefined) throw new Broken(`a secret shows in ${found}`)
  }
}
