import { openApiDocument } from './document.ts'

// `npm run --silent openapi > openapi.json`, such as to generate a client.
process.stdout.write(`${JSON.stringify(openApiDocument(), null, 2)}\n`)
