import { randomBytes } from 'node:crypto'
import { usualPrefix } from '../../shared/platform/prefix.ts'
import { readOptions } from '../support/process/command-line.ts'
import { say } from './steps.ts'

const usage = `Deploys the stack with the stand-in service, uses it through URLs, a rule and Slack, and deletes it (docs/deploy.md).

  AWS_ENDPOINT_URL=<address> npm run test:deploy             # an emulator
  REHEARSE_ON=aws AWS_REGION=<region> npm run test:deploy    # AWS, with your credentials and a prefix of its own`
readOptions(usage, {})

const { REHEARSE_ON = '', AWS_ENDPOINT_URL = '' } = process.env

/** Whether the rehearsal uses AWS itself. The SDK, the CLI and the CDK then find their endpoints and credentials as always. */
export const isOnAws = REHEARSE_ON === 'aws'

/** The address of the emulator. */
export const endpoint = isOnAws ? '' : AWS_ENDPOINT_URL.replace(/\/$/, '')

export function fail(text: string): never {
  say(`unit-guard: ${text}`)
  process.exit(1)
}

if (REHEARSE_ON !== '' && !isOnAws) fail('REHEARSE_ON: must be aws, or unset for the emulator of AWS_ENDPOINT_URL')
if (!isOnAws && endpoint === '') {
  fail(
    'AWS_ENDPOINT_URL names no AWS to rehearse on, such as http://127.0.0.1:4566, and REHEARSE_ON is not aws. See docs/deploy.md, "Rehearsal".',
  )
}
if (isOnAws && !process.env.AWS_REGION) fail('AWS_REGION: must name the region of the rehearsal')

/** No other rehearsal or guard of the account has this prefix. */
export const prefix = isOnAws ? `rehearsal-${randomBytes(3).toString('hex')}` : usualPrefix

export const secondPrefix = `${prefix}-dev`
