import * as z from 'zod/mini'
import { readNumber } from '../../platform/typed-number.ts'
import { maxUnits, toUnits, type Units } from '../../platform/words.ts'
import { type ModalAction, modalActions } from '../blocks.ts'
import { maxReasonLength, reasonFault } from '../command-words.ts'
import type { PressedAction, SlackMessage } from '../slack-events.ts'
import { clean, cut } from '../text.ts'

/** Stored in the form. Slack returns it with the submission. */
const openerSchema = z.object({
  action: z.enum(modalActions),
  value: z.string().check(z.minLength(1), z.maxLength(100)),
  shown: z.optional(z.number()),
  responseUrl: z.string().check(z.maxLength(500)),
  message: z.optional(z.object({ channel: z.string(), ts: z.string() })),
  isHome: z.optional(z.literal(true)),
})

export interface Opener {
  readonly action: ModalAction
  /** The id of the update, or the budget of a grant with the alert's window and its end. */
  readonly value: string
  readonly shown?: Units
  readonly responseUrl: string
  readonly message?: SlackMessage
  readonly isHome?: true
}

/** Submitting a form counts as the action `press`. */
export const forms = {
  'approve-up-to': { title: 'Approve up to…', submit: 'Approve', press: 'approve' },
  'reject-because': { title: 'Reject the update', submit: 'Reject', press: 'reject' },
  'grant-units': { title: 'Grant units', submit: 'Grant', press: 'grant' },
  'units-given-back': { title: 'Units were given back', submit: 'Book', press: 'given-back' },
} as const satisfies Record<ModalAction, { title: string; submit: string; press: PressedAction }>

/** A grant is for the window of its alert, and only until that window ends. Buttons of older messages lack both. */
export function grantIn(value: string) {
  const [, window = 'month', until, budget = value] = /^(day|month):(\d{1,15}):(.+)$/.exec(value) ?? []
  return window === 'day'
    ? ({ budget, window, when: 'today', until: Number(until) } as const)
    : ({ budget, window: 'month', when: 'this month', until: Number(until ?? Number.POSITIVE_INFINITY) } as const)
}

export type ModalView = ReturnType<typeof modalFor>

/** @see https://docs.slack.dev/surfaces/modals */
export function modalFor(opener: Opener) {
  const { action, shown } = opener
  const { title, submit } = forms[action]
  const hint = unitsHint(opener)
  const initial = action === 'approve-up-to' && shown !== undefined ? { initial_value: String(shown) } : {}
  const units = {
    type: 'input',
    block_id: 'units',
    label: plain('Units'),
    hint: plain(hint),
    element: { type: 'number_input', action_id: 'units', is_decimal_allowed: false, min_value: '1', ...initial },
  }
  const reason = {
    type: 'input',
    block_id: 'reason',
    label: plain('Reason'),
    optional: action === 'reject-because',
    hint: plain('It is kept with the record.'),
    element: { type: 'plain_text_input', action_id: 'reason', multiline: false, max_length: maxReasonLength },
  }
  return {
    type: 'modal',
    callback_id: action,
    private_metadata: JSON.stringify(opener),
    title: plain(title),
    submit: plain(submit),
    close: plain('Cancel'),
    blocks: [...(action === 'reject-because' ? [] : [units]), ...(action === 'approve-up-to' ? [] : [reason])],
  }
}

function unitsHint({ action, shown, value }: Opener): string {
  if (action === 'units-given-back') return 'The charge of the update becomes lower by these units.'
  if (action !== 'grant-units')
    return `At least the estimate shown, ${shown ?? 0}. If it costs more when it starts, it needs another approval.`
  const { budget, when } = grantIn(value)
  return `${cut(clean(budget), 63)} gets these units once, ${when}.`
}

const plain = (text: string) => ({ type: 'plain_text', text, emoji: false }) as const

const inputValue = z.object({ value: z.optional(z.nullable(z.string())) })

/** @see https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload */
export const submissionSchema = z.object({
  type: z.literal('view_submission'),
  user: z.object({ id: z.string() }),
  view: z.object({
    id: z.string().check(z.minLength(1), z.maxLength(100)),
    private_metadata: z.string(),
    state: z.object({
      values: z.object({
        units: z.optional(z.object({ units: inputValue })),
        reason: z.optional(z.object({ reason: inputValue })),
      }),
    }),
  }),
})

export type FormRead =
  | { readonly kind: 'faults'; readonly faults: Readonly<Record<string, string>> }
  | { readonly kind: 'read'; readonly opener: Opener; readonly units?: Units; readonly reason?: string }

/** `null`: the form is not from this app. */
export function readForm({ view }: z.output<typeof submissionSchema>): FormRead | null {
  const parsed = openerSchema.safeParse(fromJson(view.private_metadata))
  if (!parsed.success) return null
  const opener = parsed.data as Opener
  const { action, shown } = opener
  const unitsText = view.state.values.units?.units.value ?? ''
  const reason = (view.state.values.reason?.reason.value ?? '').trim()
  const faults: Record<string, string> = {}
  const typed = readNumber(unitsText) ?? 0
  const units = typed <= maxUnits ? typed : 0
  if (action !== 'reject-because') {
    if (units === 0) faults.units = `must be a whole number of units, at least 1${typedText(unitsText)}`
    else if (action === 'approve-up-to' && units < (shown ?? 0))
      faults.units = `must be at least the estimate shown, ${shown}`
  }
  const mayBeEmpty = action === 'reject-because' && reason === ''
  const reasonProblem = action === 'approve-up-to' || mayBeEmpty ? null : reasonFault(reason)
  if (reasonProblem !== null) faults.reason = reasonProblem
  if (Object.keys(faults).length > 0) return { kind: 'faults', faults }
  return {
    kind: 'read',
    opener,
    ...(action !== 'reject-because' && { units: toUnits(units) }),
    ...(reason !== '' && { reason }),
  }
}

const typedText = (text: string): string => (text === '' ? '' : `, and not “${cut(clean(text), 40)}”`)

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
