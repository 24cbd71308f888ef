import { buildClient } from './client-folder.ts'
import { command } from './command.ts'

const usage = `Builds the client for programs: a folder with one module and its types, to be copied or published.

  npm run client [-- <folder>]

  <folder>  one that is new, empty, or of an earlier build; build/client without it`

await command(
  usage,
  {},
  async (_flags, folder = 'build/client') => {
    await buildClient(folder)
    process.stdout.write(`${folder}: index.js with its types, package.json, README.md\n`)
    return true
  },
  ['[folder]'],
)
