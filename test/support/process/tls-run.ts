import { createTracking, targetOf } from '../../../shared/tracking/tracking.ts'

// A separate process, because Node reads the trusted authorities (NODE_EXTRA_CA_CERTS) only at its start.
// Runs the update of `acme` at each address, and prints the client's outcome.

const token = { read: async () => 'the-token', reread: async () => 'the-token' }
const results = []
for (const baseUrl of process.argv.slice(2)) {
  const tracking = createTracking({ baseUrl, token, timeoutMs: 20_000, pointers: { estimate: {}, run: {} } })
  const result = await tracking.run(targetOf('ranking', 'acme'), { timeoutMs: 20_000, token: 'the-token' })
  results.push({ kind: result.kind, ...('reason' in result && { reason: result.reason }) })
}
process.stdout.write(JSON.stringify(results))
