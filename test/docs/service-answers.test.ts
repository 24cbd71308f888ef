import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runHere } from '../support/process/here.ts'
import { newFolder } from '../support/process/local.ts'

/** Runs the commands of a section of docs/guide.md, and compares their output with the page. */

const heading = 'My service answers otherwise'

async function stepsIn(page: string) {
  const [, section = ''] = new RegExp(`^## ${heading}\\n(.*?)^## `, 'ms').exec(await readFile(page, 'utf8')) ?? []
  const blocks = [...section.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    language,
    text,
  }))
  return blocks.flatMap(({ language, text }, at) =>
    language === 'sh' ? [{ commands: text, output: blocks[at + 1]?.text ?? '' }] : [],
  )
}

test(`the outputs in "${heading}" are those of the doctor`, async () => {
  const folder = await newFolder()
  const steps = await stepsIn('docs/guide.md')
  expect(steps).toHaveLength(3)
  for (const { commands, output } of steps) {
    const [, answer, args] =
      /^echo '(.*)' > answer\.json\nnpm run doctor -- --answer answer\.json (.*)\n$/.exec(commands) ?? []
    const file = join(folder, 'answer.json')
    await writeFile(file, `${answer}\n`)
    const { out, err } = await runHere('doctor', ['--answer', file, ...(args ?? '').split(' ')], {
      DATA_DIR: join(folder, 'nowhere'),
    })
    expect(err).toBe('')
    for (const part of output.split('…\n')) expect(out).toContain(part)
  }
})
