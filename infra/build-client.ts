import { buildClient } from './client-folder.ts'

// `npm run client [-- <folder>]`
const [folder = 'build/client'] = process.argv.slice(2)
await buildClient(folder)
process.stdout.write(`${folder}: index.js with its types, package.json, README.md\n`)
