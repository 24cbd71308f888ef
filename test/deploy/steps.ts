import { setTimeout as sleep } from 'node:timers/promises'

const signals = ['SIGINT', 'SIGTERM'] as const
let interrupted: string | undefined
for (const signal of signals) process.once(signal, () => (interrupted = signal))

/** @throws after a signal, so that the rehearsal ends and deletes what it made. */
function goOn(): void {
  if (interrupted !== undefined) throw new Error(`interrupted by ${interrupted}`)
}

export async function step<T>(name: string, act: () => Promise<T>): Promise<T> {
  goOn()
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
    goOn()
    if (Date.now() > giveUpAt) throw new Error(`not done within ${patienceMs} ms`)
    await sleep(500)
  }
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
