import type { Guard } from '../../guard/guard.ts'
import { type Caller, callerNamed } from '../../ledger/definitions/definitions.ts'
import type { SlackEvent } from '../slack-events.ts'
import { callerOf } from '../tell/answer.ts'

/**
 * Slack's user ids are unique only within a workspace or an organization. That of a listed user's first request is kept.
 *
 * @returns `null` if the user is the listed one, as far as the event can tell.
 */
export async function whyOtherTeam(guard: Guard, event: SlackEvent): Promise<string | null> {
  const { teams = [] } = event
  const [first] = teams
  const caller = callerOf(event)
  const listed = await listedNow(guard, caller)
  if (!listed || first === undefined) return null
  // With several workspaces in one organization, a press may name only the organization.
  const wanted = teams.find((team) => team.startsWith('E')) ?? first
  const slackTeam = listed.slackTeam ?? (await keptTeam(guard, caller, wanted))
  if (slackTeam === undefined || teams.includes(slackTeam)) return null
  return `${caller} is listed for the Slack workspace ${slackTeam}, and this came from ${teams.join(', ')}, so nothing was done. An administrator of Unit Guard can change the workspace of ${caller}.`
}

/** Reads it again, because a request from another workspace may have been faster. `undefined`: it could not be kept. */
async function keptTeam(guard: Guard, caller: string, team: string): Promise<string | undefined> {
  await guard.keepSlackTeam(caller, team)
  return (await listedNow(guard, caller))?.slackTeam
}

const listedNow = async ({ ledger }: Guard, caller: string): Promise<Caller | undefined> =>
  callerNamed((await ledger.view()).definitions, caller)
