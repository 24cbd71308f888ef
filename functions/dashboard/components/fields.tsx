import type { Child } from 'hono/jsx'

interface FieldProps {
  /** The form it belongs to: a page may have several with the same fields. */
  readonly of: string
  readonly name: string
  readonly label: Child
  readonly value?: string | undefined
  readonly note?: Child
  readonly required?: boolean
  /** As wide as the form. */
  readonly whole?: boolean
}

const idOf = ({ of, name }: FieldProps) => `${of}-${name}`

export const TextField = (field: FieldProps & { units?: boolean; longest?: number }) => (
  <Labelled field={field}>
    <input
      id={idOf(field)}
      name={field.name}
      type="text"
      value={field.value ?? ''}
      autocomplete="off"
      {...described(field)}
      {...(field.units && { inputmode: 'numeric' as const })}
      {...(field.longest !== undefined && { maxlength: field.longest })}
    />
  </Labelled>
)

export const LinesField = (field: FieldProps) => (
  <Labelled field={field}>
    <textarea id={idOf(field)} name={field.name} rows={3} spellcheck={false} {...described(field)}>
      {field.value ?? ''}
    </textarea>
  </Labelled>
)

export const ChoiceField = (field: FieldProps & { options: readonly (readonly [value: string, text: string])[] }) => (
  <Labelled field={field}>
    <select id={idOf(field)} name={field.name} {...described(field)}>
      {field.options.map(([value, text]) => (
        <option value={value} selected={value === field.value}>
          {text}
        </option>
      ))}
    </select>
  </Labelled>
)

/** Checkboxes. The hidden empty value shows that the field was sent with nothing ticked. */
export const TicksField = ({
  options,
  value,
  ...field
}: Omit<FieldProps, 'value'> & {
  value: readonly string[]
  options: readonly (readonly [value: string, text: string, note: string])[]
}) => (
  <fieldset class={field.whole ? 'ticks whole' : 'ticks'}>
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

export const ReasonField = (field: { of: string; value?: string | undefined; isOptional?: boolean }) => (
  <TextField
    of={field.of}
    value={field.value}
    required={!field.isOptional}
    name="reason"
    label={field.isOptional ? 'Reason (may be left out)' : 'Reason'}
    longest={500}
    whole
  />
)

/** A reason outside a grid of fields. */
export const ReasonLine = (of: { id: string; label: string; value?: string | undefined; required: boolean }) => (
  <p>
    <label for={of.id}>{of.label}</label>
    <input
      id={of.id}
      name="reason"
      type="text"
      value={of.value ?? ''}
      maxlength={500}
      required={of.required}
      autocomplete="off"
    />
  </p>
)

export const Hidden = ({ of }: { of: Readonly<Record<string, string>> }) => (
  <>
    {Object.entries(of).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
  </>
)

/** Enter in a field presses the first button; this one, before buttons that differ, does nothing. */
export const NoneByEnter = () => <button type="submit" disabled hidden />

/** Why nothing was done, above a form that keeps its input. */
export const Wrong = ({ of }: { of: readonly string[] }) =>
  of.length === 0 ? null : (
    <div role="alert" class="outcome">
      {of.map((sentence) => (
        <p class="failed">
          <span aria-hidden="true">✕</span> {sentence}
        </p>
      ))}
    </div>
  )

const described = (field: FieldProps) => ({
  ...(field.note !== undefined && { 'aria-describedby': `${idOf(field)}-note` }),
  ...(field.required && { required: true }),
})

const Labelled = ({ field, children }: { field: FieldProps; children: Child }) => (
  <div class={field.whole ? 'field whole' : 'field'}>
    <label for={idOf(field)}>{field.label}</label>
    {children}
    {field.note === undefined ? null : (
      <p class="note" id={`${idOf(field)}-note`}>
        {field.note}
      </p>
    )}
  </div>
)

/** The props of the fields of an edit form, by name. */
export function editFields<Name extends string>(
  labels: Readonly<Record<Name, string>>,
  texts: Readonly<Record<Name, string>>,
) {
  const field = (name: Name) => ({ of: 'edit', name, label: labels[name], value: texts[name] })
  return { field, units: (name: Name) => ({ ...field(name), units: true }) }
}

export const noOrYes = [
  ['no', 'no'],
  ['yes', 'yes'],
] as const
