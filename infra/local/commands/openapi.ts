import { defineCommand } from './command.ts'

const usage = `Prints the OpenAPI document of the API, such as to generate a client from it.

  npm run --silent openapi > openapi.json`

export const command = defineCommand({
  usage,
  async run() {
    const { openApiDocument } = await import('../../openapi/document.ts')
    process.stdout.write(`${JSON.stringify(openApiDocument(), null, 2)}\n`)
    return true
  },
})
