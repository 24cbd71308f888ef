import type { Child } from 'hono/jsx'
import type * as z from 'zod/mini'
import { Refusal } from '../../../shared/api/refusal.ts'
import type { Scope } from '../../../shared/platform/words.ts'
import type { Flash } from '../flash.ts'
import { faultsIn, inputOf, notDone, readFields } from '../forms.ts'
import { HiddenFields, type HiddenValues, ReasonField } from './fields.tsx'
import { FormToken, type Frame } from './layout.tsx'
import type { Visit } from './session.tsx'

/** `to` is the page that shows the outcome. */
interface Outcome extends Pick<Flash, 'done' | 'failed'> {
  readonly to?: string
}

interface Action<Schema extends z.ZodMiniType> {
  readonly scopes?: readonly Scope[]
  readonly schema: Schema
  /** Fields with several values. */
  readonly lists?: readonly string[]
  /** Fields that show their input and faults again if nothing was done. */
  readonly keeps?: readonly string[]
  /** Hidden fields, and fields that the form alone names, which are kept with the input of `keeps`. */
  readonly carries?: readonly string[]
  isCarried?(name: string): boolean
  back(visit: Visit): string
  /** A returned string says what was done. @throws Refusal that says why nothing was done */
  act(visit: Visit, input: z.output<Schema>): Promise<string | Outcome | Response>
}

/** Handles a form: acts, then redirects to the form's page and shows the outcome there. */
export const action =
  <Schema extends z.ZodMiniType>({
    scopes,
    schema,
    lists = [],
    keeps = [],
    carries = [],
    isCarried,
    back,
    act,
  }: Action<Schema>) =>
  async (visit: Visit): Promise<Response> => {
    if (scopes) visit.mustHave(...scopes)
    const { form, redirect } = visit
    const more = isCarried ? [...form.keys()].filter(isCarried) : []
    const input = inputOf(form, ...keeps, ...carries, ...more)
    try {
      const outcome = await act(visit, readFields(form, schema, lists))
      if (outcome instanceof Response) return outcome
      const { to, ...said } = typeof outcome === 'string' ? { done: [outcome], failed: [] } : { ...outcome }
      return await redirect(said.done.length > 0 ? said : { ...said, input }, to ?? back(visit))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const faults = faultsIn(error, keeps)
      const failed = [faults ? notDone : error.problem.detail]
      return redirect({ done: [], failed, input, ...(faults && { faults }) }, back(visit))
    }
  }

/** Gives a field the input and the faults of the last attempt. */
export const fieldsOf =
  ({ flash }: Pick<Frame, 'flash'>, formId: string) =>
  (name: string) => ({ formId, name, value: flash?.input?.[name], faults: flash?.faults })

interface ButtonProps {
  readonly text: Child
  /** If a form has several buttons, `name` and `value` identify the pressed button. */
  readonly name?: string
  readonly value?: string
  readonly tone?: 'primary' | 'danger' | undefined
}

export const Buttons = ({ of, cancel }: { of: readonly ButtonProps[]; cancel?: string | undefined }) => (
  <p class="buttons">
    {of.map(({ text, tone, ...which }) => (
      <button type="submit" {...which} class={tone}>
        {text}
      </button>
    ))}
    {cancel === undefined ? null : <a href={cancel}>Cancel</a>}
  </p>
)

interface ActionFormProps {
  readonly frame: Frame
  readonly id: string
  readonly action: string
  readonly hidden?: HiddenValues
  readonly reason?: 'required' | 'optional' | undefined
  readonly buttons: readonly ButtonProps[]
  readonly cancel?: string
  readonly note?: Child
  readonly children?: Child
}

export const ActionForm = (form: ActionFormProps) => (
  <form method="post" action={form.action}>
    <FormToken frame={form.frame} />
    <HiddenFields values={form.hidden ?? {}} />
    {form.children || form.reason ? (
      <div class="fields">
        {form.children}
        {form.reason ? (
          <ReasonField {...fieldsOf(form.frame, form.id)('reason')} isOptional={form.reason === 'optional'} />
        ) : null}
      </div>
    ) : null}
    {form.note === undefined ? null : <p class="note">{form.note}</p>}
    <Buttons of={form.buttons} cancel={form.cancel} />
  </form>
)

interface ConfirmProps {
  readonly action: string
  readonly frame: Frame
  readonly hidden: HiddenValues
  readonly confirmLabel: string
  readonly back: string
}

export const ConfirmForm = ({ confirmLabel, back, ...form }: ConfirmProps) => (
  <ActionForm
    {...form}
    id="confirm"
    cancel={back}
    buttons={[
      { text: confirmLabel, name: 'step', value: 'confirm', tone: 'primary' },
      { text: 'Back to the form', name: 'step', value: 'edit' },
    ]}
  />
)
