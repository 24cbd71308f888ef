import type { Child } from 'hono/jsx'

/** What people fill in: a label for each, a note where one is needed, and names that are unique on a page. */

interface FieldProps {
  /** The form that it belongs to: a page has several, with the same fields. */
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

/** Several of a few. The empty one that always goes along says that none of them is ticked, where none is. */
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

export const ReasonField = ({
  of,
  value,
  required = true,
}: {
  of: string
  value?: string | undefined
  required?: boolean
}) => (
  <TextField
    {...{ of, value, required }}
    name="reason"
    label={required ? 'Reason' : 'Reason (may be left out)'}
    longest={500}
    whole
  />
)

export const Hidden = ({ of }: { of: Readonly<Record<string, string>> }) => (
  <>
    {Object.entries(of).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
  </>
)

/** Enter in a field presses the first button, whatever a user meant to press: before buttons that differ, none. */
export const NoneByEnter = () => <button type="submit" disabled hidden />

/** Why nothing was done yet, above a form that keeps what was filled in. */
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
