import type { Run } from './table.ts'

export const run: Run<'openapi'> = async () => {
  const { openApiDocument } = await import('../../openapi/document.ts')
  process.stdout.write(`${JSON.stringify(openApiDocument(), null, 2)}\n`)
  return true
}
