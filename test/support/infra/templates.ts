import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { synthesize } from './stack.ts'
import { variants } from './variants.ts'

const [into = ''] = process.argv.slice(2)
mkdirSync(into)
for (const [name, variant] of Object.entries(variants)) {
  const { folder } = synthesize(variant)
  for (const file of readdirSync(folder).filter((file) => file.endsWith('.template.json')))
    copyFileSync(join(folder, file), join(into, `${name}-${file}`))
}
