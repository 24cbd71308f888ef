import { openApiDocument } from './document.ts'

// `npm run --silent openapi > openapi.json`: for generating a client, without anything that runs.
process.stdout.write(`${JSON.stringify(openApiDocument(), null, 2)}\n`)
