import type { Child } from 'hono/jsx'
import type { FieldFaults } from '../flash.ts'

interface FieldProps {
  /** Makes the ids of fields unique on a page with several forms. */
  readonly formId: string
  readonly name: string
  readonly label: Child
  readonly value?: string | undefined
  readonly note?: Child
  readonly isRequired?: boolean
  readonly isWhole?: boolean
  /** Of the whole form; the first field with a fault gets the focus. */
  readonly faults?: FieldFaults | undefined
}

const idOf = ({ formId, name }: FieldProps) => `${formId}-${name}`

export const TextField = (field: FieldProps & { isNumber?: boolean; maxLength?: number; listId?: string }) => (
  <LabelledField field={field}>
    <input
      id={idOf(field)}
      name={field.name}
      type="text"
      value={field.value ?? ''}
      autocomplete="off"
      {...inputAttributes(field)}
      {...(field.isNumber && { inputmode: 'numeric' as const })}
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

export const ChoiceField = (field: FieldProps & { options: readonly (readonly [value: string, text: string])[] }) => (
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

/** Checkboxes. The hidden empty value tells a field without ticks from an absent field. */
export const TicksField = ({
  options,
  value,
  ...field
}: Omit<FieldProps, 'value'> & {
  value: readonly string[]
  options: readonly (readonly [value: string, text: string, note: string])[]
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

export const ReasonField = (field: Pick<FieldProps, 'formId' | 'value' | 'faults'> & { isOptional?: boolean }) => (
  <TextField
    formId={field.formId}
    value={field.value}
    faults={field.faults}
    isRequired={!field.isOptional}
    name="reason"
    label={field.isOptional ? 'Reason (optional)' : 'Reason'}
    maxLength={500}
    isWhole
  />
)

export const ReasonLine = (props: { id: string; label: string; value?: string | undefined; required: boolean }) => (
  <p>
    <label for={props.id}>{props.label}</label>
    <input
      id={props.id}
      name="reason"
      type="text"
      value={props.value ?? ''}
      maxlength={500}
      required={props.required}
      autocomplete="off"
    />
  </p>
)

export const HiddenFields = ({ values }: { values: Readonly<Record<string, string>> }) => (
  <>
    {Object.entries(values).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
  </>
)

/** The Enter key presses the first button of a form. This button comes first and does nothing. */
export const IgnoreEnter = () => <button type="submit" disabled hidden />

export const Faults = ({ faults }: { faults: readonly string[] }) =>
  faults.length === 0 ? null : (
    <div role="alert" class="outcome">
      {faults.map((sentence) => (
        <p class="failed">
          <span aria-hidden="true">✕</span> {sentence}
        </p>
      ))}
    </div>
  )

function inputAttributes(field: FieldProps) {
  const fault = faultOf(field)
  const described = [fault === undefined ? null : 'fault', field.note === undefined ? null : 'note'].filter(Boolean)
  return {
    ...(described.length > 0 && { 'aria-describedby': described.map((part) => `${idOf(field)}-${part}`).join(' ') }),
    ...(fault !== undefined && { 'aria-invalid': 'true' as const }),
    ...(fault !== undefined && Object.keys(field.faults ?? {})[0] === field.name && { autofocus: true }),
    ...(field.isRequired && { required: true }),
  }
}

const faultOf = ({ faults = {}, name }: FieldProps): string | undefined =>
  Object.hasOwn(faults, name) ? faults[name] : undefined

function LabelledField({ field, children }: { field: FieldProps; children: Child }) {
  const fault = faultOf(field)
  return (
    <div class={field.isWhole ? 'field whole' : 'field'}>
      <label for={idOf(field)}>{field.label}</label>
      {children}
      {fault === undefined ? null : (
        <p class="fault" id={`${idOf(field)}-fault`}>
          <span aria-hidden="true">✕</span> {fault}
        </p>
      )}
      {field.note === undefined ? null : (
        <p class="note" id={`${idOf(field)}-note`}>
          {field.note}
        </p>
      )}
    </div>
  )
}

export function editFields<Name extends string>(
  labels: Readonly<Record<Name, string>>,
  texts: Readonly<Record<Name, string>>,
  faults: FieldFaults = {},
) {
  const field = (name: Name) => ({ formId: 'edit', name, label: labels[name], value: texts[name], faults })
  return { field, numberField: (name: Name) => ({ ...field(name), isNumber: true }) }
}

export const noOrYes = [
  ['no', 'no'],
  ['yes', 'yes'],
] as const
