import type { Child } from 'hono/jsx'
import type { FieldFaults } from '../flash.ts'
import { linked, Sign } from './parts.tsx'

export interface FieldProps {
  /** Makes the ids of fields unique on a page with several forms. */
  readonly formId: string
  readonly name: string
  readonly label: Child
  readonly value?: string | undefined
  readonly note?: Child
  readonly isRequired?: boolean
  readonly isWhole?: boolean
  /** The faults of the whole form. The first field with a fault gets the focus. */
  readonly faults?: FieldFaults | undefined
}

const idOf = ({ formId, name }: Pick<FieldProps, 'formId' | 'name'>) => `${formId}-${name}`

interface TextFieldProps extends FieldProps {
  readonly isNumber?: boolean
  readonly isDecimal?: boolean
  readonly maxLength?: number
  readonly listId?: string
  readonly type?: 'text' | 'date'
}

export const TextField = (field: TextFieldProps) => (
  <LabelledField field={field}>
    <input
      id={idOf(field)}
      name={field.name}
      type={field.type ?? 'text'}
      value={field.value ?? ''}
      autocomplete="off"
      {...inputAttributes(field)}
      {...(field.isNumber && { inputmode: 'numeric' as const })}
      {...(field.isDecimal && { inputmode: 'decimal' as const })}
      {...(field.maxLength !== undefined && { maxlength: field.maxLength })}
      {...(field.listId !== undefined && { list: field.listId })}
    />
  </LabelledField>
)

export const LinesField = (field: FieldProps) => (
  <LabelledField field={field}>
    <textarea id={idOf(field)} name={field.name} rows={3} spellcheck={false} {...inputAttributes(field)}>
      {field.value ?? ''}
    </textarea>
  </LabelledField>
)

export type Choices = readonly (readonly [value: string, text: string, note?: string])[]

export const ChoiceField = (field: FieldProps & { options: Choices }) => (
  <LabelledField field={field}>
    <select id={idOf(field)} name={field.name} {...inputAttributes(field)}>
      {field.options.map(([value, text]) => (
        <option value={value} selected={value === field.value}>
          {text}
        </option>
      ))}
    </select>
  </LabelledField>
)

/** The hidden empty value lets the server distinguish a field without ticks from an absent field. */
export const TicksField = ({
  options,
  value,
  ...field
}: Omit<FieldProps, 'value'> & {
  value: readonly string[]
  options: Choices
}) => (
  <fieldset class={field.isWhole ? 'ticks whole' : 'ticks'}>
    <legend>{field.label}</legend>
    <input type="hidden" name={field.name} value="" />
    {options.map(([each, text, note]) => (
      <p class="tick">
        <input
          type="checkbox"
          name={field.name}
          value={each}
          id={`${idOf(field)}-${each}`}
          checked={value.includes(each)}
        />
        <label for={`${idOf(field)}-${each}`}>
          {text} <span class="note">{note}</span>
        </label>
      </p>
    ))}
  </fieldset>
)

type ReasonProps = Pick<FieldProps, 'formId' | 'value' | 'faults'> & { label?: string; isOptional?: boolean }

export const ReasonField = ({ isOptional, label, ...field }: ReasonProps) => (
  <TextField
    {...field}
    isRequired={!isOptional}
    name="reason"
    label={label ?? (isOptional ? 'Reason (optional)' : 'Reason')}
    maxLength={500}
    isWhole
  />
)

export const TagsField = (field: Pick<FieldProps, 'formId' | 'value' | 'faults'>) => (
  <LinesField {...field} name="tags" label="Tags (optional)" note="One per line, such as client=acme." isWhole />
)

export type HiddenValues = Readonly<Record<string, string | readonly string[] | undefined>>

export const HiddenFields = ({ values }: { values: HiddenValues }) => (
  <>
    {Object.entries(values).flatMap(([name, value]) =>
      [value ?? []].flat().map((each) => <input type="hidden" name={name} value={each} />),
    )}
  </>
)

/** Enter presses the first button of a form. This hidden first button is disabled, so Enter does nothing. */
export const IgnoreEnter = () => <button type="submit" disabled hidden />

interface SaidProps {
  readonly done?: readonly string[]
  readonly failed: readonly string[]
  readonly role: 'status' | 'alert'
}

export const Said = ({ done = [], failed, role }: SaidProps) =>
  done.length + failed.length === 0 ? null : (
    <div role={role} class="outcome">
      {done.map((sentence) => (
        <p class="done">
          <Sign name="check" /> {linked(sentence)}
        </p>
      ))}
      {failed.map((sentence) => (
        <p class="failed">
          <Sign name="cross" /> {linked(sentence)}
        </p>
      ))}
    </div>
  )

export const Faults = ({ faults }: { faults: readonly string[] }) => <Said failed={faults} role="alert" />

export function inputAttributes(field: Omit<FieldProps, 'label'>) {
  const fault = faultOf(field)
  const described = [fault === undefined ? null : 'fault', field.note === undefined ? null : 'note'].filter(Boolean)
  return {
    ...(described.length > 0 && { 'aria-describedby': described.map((part) => `${idOf(field)}-${part}`).join(' ') }),
    ...(fault !== undefined && { 'aria-invalid': 'true' as const }),
    ...(fault !== undefined && Object.keys(field.faults ?? {})[0] === field.name && { autofocus: true }),
    ...(field.isRequired && { required: true }),
  }
}

const faultOf = ({ faults = {}, name }: Pick<FieldProps, 'faults' | 'name'>): string | undefined =>
  Object.hasOwn(faults, name) ? faults[name] : undefined

export function FieldFault(field: Pick<FieldProps, 'formId' | 'name' | 'faults'>) {
  const fault = faultOf(field)
  return fault === undefined ? null : (
    <p class="fault" id={`${idOf(field)}-fault`}>
      <Sign name="cross" /> {fault}
    </p>
  )
}

function LabelledField({ field, children }: { field: FieldProps; children: Child }) {
  return (
    <div class={field.isWhole ? 'field whole' : 'field'}>
      <label for={idOf(field)}>{field.label}</label>
      {children}
      <FieldFault {...field} />
      {field.note === undefined ? null : (
        <p class="note" id={`${idOf(field)}-note`}>
          {field.note}
        </p>
      )}
    </div>
  )
}

export const noOrYes = [
  ['no', 'no'],
  ['yes', 'yes'],
] as const
