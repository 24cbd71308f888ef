import { randomBytes } from 'node:crypto'
import { usualPrefix } from '../../shared/platform/prefix.ts'
import { say } from './steps.ts'

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

/** Replaces a target, because no target has a public address here. */
export const bus = `${prefix}-rehearsal`
