/** What `npm start` says about itself. */

export function tellParts(parts: { service: string; ledger: string; secrets: string; log: string }): void {
  console.log('Unit Guard on this machine')
  for (const [name, what] of Object.entries(parts)) console.log(`  ${name.padEnd(8)} ${what}`)
  console.log()
}

export function tellWhatToTry(envFile: string, { hasSandbox }: { hasSandbox: boolean }): void {
  const source = envFile.includes('/') ? envFile : `./${envFile}`
  const get = (path: string) => `curl -sH "Authorization: Bearer $UNIT_GUARD_TOKEN" "$UNIT_GUARD_URL${path}"`
  console.log('Try next, in another terminal:')
  console.log(`  source ${source}`)
  console.log(`  ${get('/budgets')}`)
  if (hasSandbox) console.log(`  ${get('/estimates?kind=ranking&project=initech')}`)
  console.log(`  npm run doctor${hasSandbox ? '' : ' -- --project <name>'}`)
  console.log()
}
