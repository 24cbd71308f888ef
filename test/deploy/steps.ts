import { setTimeout as sleep } from 'node:timers/promises'

export async function step<T>(name: string, act: () => Promise<T>): Promise<T> {
  const from = performance.now()
  try {
    const result = await act()
    say(`ok   ${name} (${Math.round(performance.now() - from)} ms)`)
    return result
  } catch (error) {
    say(`FAIL ${name}`)
    throw error
  }
}

export async function until(isDone: () => Promise<boolean>, patienceMs = 150_000): Promise<void> {
  const giveUpAt = Date.now() + patienceMs
  while (!(await isDone())) {
    if (Date.now() > giveUpAt) throw new Error(`not done within ${patienceMs} ms`)
    await sleep(500)
  }
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
