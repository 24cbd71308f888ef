import type { Guard } from '../../guard/guard.ts'
import { callerNamed } from '../../ledger/book/definitions.ts'
import type { SlackEvent } from '../slack-events.ts'
import { callerOf } from './answer.ts'

/**
 * Slack's user ids are unique only within a workspace or an organization. That of a listed user's first request is kept.
 *
 * @returns `null` if the user is the listed one, as far as the event can tell.
 */
export async function whyOtherTeam(guard: Guard, event: SlackEvent): Promise<string | null> {
  const { teams = [] } = event
  const caller = callerOf(event)
  const listed = callerNamed((await guard.ledger.view()).definitions, caller)
  if (!listed || teams.length === 0) return null
  const { slackTeam } = listed
  if (slackTeam === undefined) {
    // With several workspaces in one organization, a press may name only the organization.
    const kept = teams.find((team) => team.startsWith('E')) ?? teams[0] ?? ''
    await guard.keepSlackTeam(caller, kept)
    return null
  }
  if (teams.includes(slackTeam)) return null
  return `${caller} is listed for the Slack workspace ${slackTeam}, and this came from ${teams.join(', ')}, so nothing was done. An administrator of Unit Guard can change the workspace of ${caller}.`
}
