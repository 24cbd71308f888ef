import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Found, measuredOn } from '../document.ts'

/** @throws Error when it fails. */
export async function benchSuite(): Promise<Found> {
  const from = performance.now()
  const child = spawn('npm', ['test', '--', '--reporter=json'], { stdio: ['ignore', 'pipe', 'ignore'] })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error('the suite fails: npm test says why')
  const seconds = Math.round((performance.now() - from) / 1000)
  const tests = /"numPassedTests":(\d+)/.exec(said)?.[1]
  return { sections: { suite: `\`npm test\`: ${tests} tests in ${seconds} s.\n\n${measuredOn()}` } }
}
