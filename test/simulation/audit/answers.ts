import type { Answered } from '../handlers.ts'
import type { Asked } from '../workloads/actions.ts'
import type { World } from '../world.ts'
import { Broken } from './stored.ts'

/** A process that was refused has run nothing, and no answer is an unexpected error. */
export function lookAtAnswer({ runs }: World, process: string, { status, text }: Answered): void {
  if (status >= 500 && status !== 503 && status !== 502) throw new Broken(`${process} is answered ${status}: ${text}`)
  // A request whose key is in progress is not refused: this very process may have run a part of it.
  if (status < 400 || status >= 500 || (status === 409 && text.includes('/problems/in-progress'))) return
  if (runs.some((run) => run.process === process)) throw new Broken(`${process} is refused with ${status}, and ran`)
}

/** Long after, each request has the answer that it had before. */
export function lookAtReplays(before: ReadonlyMap<Asked, string>, now: ReadonlyMap<Asked, string>): void {
  for (const [request, answer] of before) {
    // An entry that was refused is not recorded: nothing was booked, and the key may try again.
    if (request.path !== '/updates' && !answer.startsWith('20')) continue
    if (now.get(request) !== answer)
      throw new Broken(`${request.caller} gets another answer for ${request.key}: ${answer} and ${now.get(request)}`)
  }
}

/** A key stands for one request: everything else that is sent with it is refused. */
export function lookAtKeys(answers: ReadonlyMap<Asked, string>): void {
  const taken = new Set<string>()
  for (const [{ caller, path, key }, answer] of answers) {
    if (!/^20[012]/.test(answer)) continue
    const name = [caller, path, key].join(' ')
    if (taken.has(name)) throw new Broken(`two requests are answered under the key ${name}`)
    taken.add(name)
  }
}

/** Telling people moves no units, whatever fails meanwhile. */
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
