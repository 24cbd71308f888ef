import * as z from 'zod/mini'
import { answers } from '../../shared/api/answers/answers.ts'
import { budgetsQuery, budgetsTexts } from '../../shared/api/budgets.ts'
import { describeMembers, toJsonSchema } from '../../shared/api/json-schema.ts'
import { reason, type Texts, text } from '../../shared/api/schemas.ts'
import { updateFilterOf, updateFilterTexts } from '../../shared/api/updates.ts'
import { maxQuoteLength } from '../../shared/auth/signed-quotes.ts'
import { tags } from '../../shared/guard/tags.ts'
import type { Scope } from '../../shared/platform/words.ts'
import { budgetName, kindOf, project, query } from '../../shared/records/common-fields.ts'
import type { Kinds } from '../../shared/tracking/kinds.ts'
import type { ToolCall } from './call.ts'
import { forecast, getBudget, listBudgets, listUpdates } from './reads.ts'
import type { ToolResult } from './results.ts'
import { cancelUpdate, estimateUpdate, getUpdate, requestUpdate } from './updates.ts'

interface Hints {
  readonly readOnlyHint: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint: boolean
}

/** A description contains only fixed text, never a name or reason that a person typed. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly scopes: readonly Scope[]
  readonly hints: Hints
  readonly input: z.ZodMiniType
  readonly texts: Texts
  readonly output: z.ZodMiniType
  readonly run: (call: ToolCall, input: unknown) => Promise<ToolResult>
}

/** Gives `run` the type of the input that its schema accepts. */
const tool = <Schema extends z.ZodMiniType>(
  row: Omit<Tool, 'input' | 'run' | 'texts'> & {
    readonly input: Schema
    readonly texts?: Texts
    readonly run: (call: ToolCall, input: z.output<Schema>) => Promise<ToolResult>
  },
): Tool => ({ texts: {}, ...row, run: (call, input) => row.run(call, input as z.output<Schema>) })

const next = z.string().check(z.describe('What you should do now.'))
const updateId = z
  .string('must be the id of an update')
  .check(z.regex(/^[\x21-\x7e]{1,100}$/, 'must be the id of an update'))
const idText = { id: 'The id of the update.' }

const { next: stop, ...wholeBudget } = answers.Budget.shape
const { name, parent, status, reason: outlook, windows } = answers.Budget.shape
const figures = windows.def.element.shape
const shortBudget = z.strictObject({
  name,
  parent,
  status,
  reason: outlook,
  frozen: z.exactOptional(z.literal(true)).check(z.describe('No update may be charged to it.')),
  windows: z.array(z.strictObject({ window: figures.window, limit: figures.limit, available: figures.available })),
})

const updateAnswer = z.strictObject({ ...answers.Update.shape, next })
const timeline = z.array(z.string()).check(z.describe('Each state in words, with its time.'))

const estimateAnswer = z.strictObject({
  ...answers.Estimate.shape,
  left: z
    .array(z.strictObject({ budget: z.string(), window: z.string(), before: z.int(), after: z.int() }))
    .check(z.describe('Units left in each limited counter, before and after this update.')),
  quote: z.exactOptional(z.string().check(z.describe('For request_update. Only if you may ask and it would pass.'))),
  quoteExpiresAt: z.exactOptional(z.iso.datetime()),
  next,
})

const reads: Hints = { readOnlyHint: true, openWorldHint: false }

export const toolsOf = (kinds: Kinds): readonly Tool[] => [...readTools(kinds), ...updateTools(kinds)]

const wholeLimit = z
  .int('must be a whole number from 1 to 200')
  .check(z.gte(1, 'must be a whole number from 1 to 200'), z.lte(200, 'must be a whole number from 1 to 200'))

function readTools(kinds: Kinds): readonly Tool[] {
  const { limit: _limit, ...criteria } = updateFilterOf(kinds).shape
  return [
    tool({
      name: 'list_budgets',
      title: 'List budgets',
      scopes: ['read'],
      hints: reads,
      description:
        'Lists every budget that you may read: its limits, what is left of them, and whether it will last. get_budget shows one in full.',
      input: z.strictObject({ sort: budgetsQuery.shape.sort }),
      texts: budgetsTexts,
      output: z.strictObject({ budgets: z.array(shortBudget) }),
      run: listBudgets,
    }),
    tool({
      name: 'get_budget',
      title: 'Get a budget',
      scopes: ['read'],
      hints: reads,
      description:
        'Shows one budget: its limits, projects and rules, what is left, whether it will last, and what stops it next.',
      input: z.strictObject({ name: budgetName }),
      texts: { name: 'The name of the budget.' },
      output: z.strictObject({ ...wholeBudget, nextStop: stop }),
      run: getBudget,
    }),
    tool({
      name: 'list_updates',
      title: 'List updates',
      scopes: ['read'],
      hints: reads,
      description: 'Lists updates, newest first, with their states and what they cost.',
      input: z.strictObject({ ...criteria, limit: z.exactOptional(wholeLimit) }),
      texts: { ...updateFilterTexts, limit: 'How many rows at most: 1 to 200, 20 without it.' },
      output: z.strictObject({ updates: answers.UpdateList.shape.updates, cursor: answers.UpdateList.shape.next }),
      run: listUpdates,
    }),
    tool({
      name: 'forecast',
      title: 'Forecast',
      scopes: ['read'],
      hints: reads,
      description: 'Shows what scheduled plans will still take from each budget, and when its units run out.',
      input: z.strictObject({}),
      output: answers.Forecast,
      run: forecast,
    }),
    tool({
      name: 'get_update',
      title: 'Get an update',
      scopes: ['read'],
      hints: reads,
      description:
        'Shows one update: its state, what it was charged, and its times. With waitSeconds it waits that long for an update that is under way.',
      input: z.strictObject({
        id: updateId,
        waitSeconds: z.exactOptional(
          z
            .int('must be a whole number from 0 to 20')
            .check(z.gte(0, 'must be a whole number from 0 to 20'), z.lte(20, 'must be a whole number from 0 to 20')),
        ),
      }),
      texts: { ...idText, waitSeconds: 'How many seconds to wait for its end: 0 to 20.' },
      output: z.strictObject({ ...updateAnswer.shape, timeline }),
      run: getUpdate,
    }),
  ]
}

function updateTools(kinds: Kinds): readonly Tool[] {
  return [
    tool({
      name: 'estimate_update',
      title: 'Estimate an update',
      scopes: ['read'],
      hints: { readOnlyHint: true, openWorldHint: true },
      description:
        'Says what an update of a project would cost, what its budgets have left before and after, and whether it would pass or need approval. Spends nothing. If you may ask for the update, the answer has a quote for request_update. The quote lasts ten minutes and is good for one update.',
      input: z.strictObject({
        kind: kindOf(kinds),
        project,
        budget: z.exactOptional(budgetName),
        query: z.exactOptional(query),
      }),
      texts: {
        budget: 'Who would pay. Leave it out, and the owner of the project pays.',
        query: 'Parameters that are sent to the service. Leave it out if no one told you to use it.',
      },
      output: estimateAnswer,
      run: estimateUpdate,
    }),
    tool({
      name: 'request_update',
      title: 'Request an update (spends units)',
      scopes: ['run', 'propose'],
      hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
      description:
        'WILL SPEND UNITS of a paid account. Starts the one update that a quote of estimate_update is for, or asks a person to approve it. Calling it again with the same quote never runs it twice: it answers with the same update. If the price has risen above the quote, it is refused. The service may still charge more than it estimated.',
      input: z.strictObject({ quote: text(maxQuoteLength), reason, tags: z.exactOptional(tags) }),
      texts: {
        quote: 'Exactly as estimate_update gave it.',
        reason: 'Why these units should be spent, for the people who pay. The first reason for a quote is kept.',
        tags: 'Up to 5 tags for the update, such as {"client": "acme"}. Leave them out if no one told you to use them. The first tags for a quote are kept.',
      },
      output: updateAnswer,
      run: requestUpdate,
    }),
    tool({
      name: 'cancel_update',
      title: 'Cancel an update',
      scopes: ['run', 'propose'],
      hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      description: 'Cancels an update that you asked for, as long as it was not sent to the service.',
      input: z.strictObject({ id: updateId }),
      texts: idText,
      output: updateAnswer,
      run: cancelUpdate,
    }),
  ]
}

export type Listing = ReturnType<typeof listingOf>

/** Builds each schema once, because an agent's client lists the tools at every start. */
export function createListings(kinds: Kinds): (tool: Tool) => Listing {
  const listings = new Map<string, Listing>()
  return (tool) => {
    const listing = listings.get(tool.name) ?? listingOf(tool, kinds)
    listings.set(tool.name, listing)
    return listing
  }
}

const listingOf = ({ name, title, description, hints, input, texts, output }: Tool, kinds: Kinds) => ({
  name,
  title,
  description,
  annotations: { title, ...hints },
  inputSchema: describeMembers(toJsonSchema(input, 'input', kinds), texts, kinds) as { type: 'object' },
  outputSchema: toJsonSchema(output, 'output', kinds) as { type: 'object' },
})
